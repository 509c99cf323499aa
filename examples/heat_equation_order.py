"""The heat equation by Crank-Nicolson: the order of convergence, predicted (2) and measured."""

from itertools import pairwise

import numpy as np
from scipy.linalg import solve_banded


def solve(cells, end=0.1):
    x = np.linspace(0, 1, cells + 1)
    u = np.sin(np.pi * x) + np.sin(3 * np.pi * x) / 2
    steps = cells  # the step is refined together with the grid
    r = end / steps * cells**2 / 2
    bands = np.array([[-r] * (cells - 1), [1 + 2 * r] * (cells - 1), [-r] * (cells - 1)])
    for _ in range(steps):
        inner = u[1:-1] + r * (u[2:] - 2 * u[1:-1] + u[:-2])
        u[1:-1] = solve_banded((1, 1), bands, inner)
    exact = np.exp(-(np.pi**2) * end) * np.sin(np.pi * x)
    exact += np.exp(-9 * np.pi**2 * end) * np.sin(3 * np.pi * x) / 2
    return abs(u - exact).max()


errors = [solve(cells) for cells in (40, 80, 160, 320)]
orders = [np.log2(a / b) for a, b in pairwise(errors)]
print("errors", *errors)
print("measured order", *orders, "predicted", 2)
assert all(abs(order - 2) < 0.05 for order in orders)
print("VERIFIED by the order of convergence and a closed form")
