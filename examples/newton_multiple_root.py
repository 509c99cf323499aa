"""Newton's method at a triple root: linear with rate 2/3 as predicted, quadratic when corrected."""

import numpy as np


def f(x):
    return (x - 1) ** 3 * np.exp(x)


def df(x):
    return (x - 1) ** 2 * np.exp(x) * (x + 2)


def iterate(multiplicity, steps, x=1.5):
    errors = []
    for _ in range(steps):
        x -= multiplicity * f(x) / df(x)
        errors.append(abs(x - 1))
    return np.array(errors)


plain, corrected = iterate(1, 25), iterate(3, 4)
rate = plain[-1] / plain[-2]
constants = corrected[1:3] / corrected[:2] ** 2
print("plain: last ratio of errors", rate, "predicted", 2 / 3)
print("corrected: errors", *corrected)
print("e_{k+1} / e_k^2", *constants)
assert abs(rate - 2 / 3) < 1e-3
assert corrected[3] < 1e-12 and plain[3] > 1e-2
assert constants.max() / constants.min() < 1.5
print("VERIFIED by predicted and measured orders")
