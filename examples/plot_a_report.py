"""Reading a report in pandas, with a picture: correct digits by domain.

python examples/plot_a_report.py reports/NAME picture.png
"""

import sys

import matplotlib

from scisolve_batch import load_report

matplotlib.use("Agg")
import matplotlib.pyplot as plt

report = load_report(sys.argv[1])
digits = report.values.groupby("domain")["correct_digits"].median().sort_values()
print(digits.to_string())
figure, axes = plt.subplots(figsize=(7, 0.4 * len(digits) + 1), layout="constrained")
digits.plot.barh(ax=axes)
axes.set_xlabel("correct digits (median)")
figure.savefig(sys.argv[2], dpi=120)
