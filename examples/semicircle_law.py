"""Eigenvalues of a random symmetric matrix against Wigner's semicircle and its moments."""

import numpy as np

rng = np.random.default_rng(7)
n = 800
a = rng.normal(size=(n, n))
eigenvalues = np.linalg.eigvalsh((a + a.T) / np.sqrt(2 * n))

# The law on [-2, 2]: its distribution function, and the Catalan numbers as even moments.
x = np.clip(np.sort(eigenvalues), -2, 2)
law = 0.5 + x * np.sqrt(4 - x * x) / (4 * np.pi) + np.arcsin(x / 2) / np.pi
distance = abs(law - (np.arange(n) + 0.5) / n).max()
moments = [(eigenvalues ** (2 * k)).mean() for k in (1, 2, 3)]

print("largest distance of the distributions", distance)
print("moments 2, 4, 6:", *moments, "limits", 1, 2, 5)
print("largest eigenvalue", eigenvalues.max(), "edge", 2)
assert distance < 0.02
assert np.allclose(moments, [1, 2, 5], rtol=0.05)
assert abs(eigenvalues.max() - 2) < 0.1
print("VERIFIED by a limiting case")
