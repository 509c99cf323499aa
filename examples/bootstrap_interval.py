"""A confidence interval of a mean: the bootstrap against Student's t."""

import numpy as np
from scipy import stats

rng = np.random.default_rng(20260101)
sample = rng.normal(3.0, 2.0, size=400)

draws = rng.choice(sample, size=(8000, sample.size)).mean(axis=1)
bootstrap = np.percentile(draws, [2.5, 97.5])
error = sample.std(ddof=1) / np.sqrt(sample.size)
student = stats.t.interval(0.95, sample.size - 1, loc=sample.mean(), scale=error)

half = (student[1] - student[0]) / 2
gaps = abs(bootstrap - student) / half
print("bootstrap", *bootstrap)
print("Student  ", *student)
print("gaps of the ends, in half widths", *gaps)
print("standard errors", draws.std(ddof=1), error)
assert gaps.max() < 0.06
assert abs(draws.std(ddof=1) / error - 1) < 0.05
print("VERIFIED by an independent method")
