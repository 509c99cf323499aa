"""A linear system that is nearly singular: the error against what the condition number allows."""

from fractions import Fraction

import numpy as np

n = 8
H = np.array([[1 / (i + j + 1) for j in range(n)] for i in range(n)])
b = H @ np.ones(n)
x = np.linalg.solve(H, b)

# The same system in exact fractions, with the right-hand side as it was really given.
rows = [[Fraction(1, i + j + 1) for j in range(n)] + [Fraction(float(b[i]))] for i in range(n)]
for i in range(n):
    rows[i] = [value / rows[i][i] for value in rows[i]]
    for k in range(n):
        if k != i:
            rows[k] = [u - rows[k][i] * v for u, v in zip(rows[k], rows[i], strict=True)]
exact = np.array([float(row[n]) for row in rows])

condition = np.linalg.cond(H)
error = np.linalg.norm(x - exact) / np.linalg.norm(exact)
residual = np.linalg.norm(H @ x - b) / np.linalg.norm(b)
print("condition number", condition)
print("relative error", error, "allowed about", condition * np.finfo(float).eps)
print("relative residual", residual)
assert residual < 1e-14
assert error < 20 * condition * np.finfo(float).eps
assert error > residual  # a small residual proves nothing here
print("VERIFIED by exact arithmetic")
