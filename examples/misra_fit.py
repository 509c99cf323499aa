"""A nonlinear fit against certified values: NIST StRD Misra1a, by two algorithms."""

from pathlib import Path

import numpy as np
from scipy.optimize import least_squares

DATA = Path(__file__).parents[1] / "suites" / "data" / "nist-misra1a.csv"
CERTIFIED = {"b1": 2.3894212918e02, "b2": 5.5015643181e-04, "rss": 1.2455138894e-01}

y, x = np.loadtxt(DATA, delimiter=",", skiprows=1, unpack=True)


def residuals(b):
    return b[0] * (1 - np.exp(-b[1] * x)) - y


fit = least_squares(residuals, [500, 1e-4], x_scale=[100, 1e-4], xtol=1e-15, ftol=1e-15, gtol=1e-15)

# Variable projection: b1 enters linearly, so only b2 is searched, by golden section.
low, high = 1e-4, 1e-3
for _ in range(200):
    inner = high - 0.6180339887498949 * (high - low), low + 0.6180339887498949 * (high - low)
    costs = []
    for b2 in inner:
        basis = 1 - np.exp(-b2 * x)
        b1 = basis @ y / (basis @ basis)
        costs.append(((b1 * basis - y) ** 2).sum())
    low, high = (low, inner[1]) if costs[0] < costs[1] else (inner[0], high)

rss = 2 * fit.cost
print("b1", fit.x[0], "certified", CERTIFIED["b1"])
print("b2", fit.x[1], "certified", CERTIFIED["b2"])
print("rss", rss, "certified", CERTIFIED["rss"])
print("variable projection finds b2 =", (low + high) / 2, "rss", min(costs))
assert np.allclose(fit.x, [CERTIFIED["b1"], CERTIFIED["b2"]], rtol=1e-7)
assert abs(rss / CERTIFIED["rss"] - 1) < 1e-9
assert abs((low + high) / 2 / CERTIFIED["b2"] - 1) < 1e-6
print("VERIFIED by an independent method and certified values")
