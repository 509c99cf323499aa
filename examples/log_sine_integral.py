"""The integral of ln sin over a quarter turn: adaptive quadrature against -pi/2 ln 2."""

import numpy as np
from scipy.integrate import quad

exact = -np.pi / 2 * np.log(2)
value, claimed = quad(lambda x: np.log(np.sin(x)), 0, np.pi / 2, epsabs=1e-13, epsrel=1e-13)

nodes, weights = np.polynomial.legendre.leggauss(60)
t = (nodes + 1) / 2  # x = (pi/2) t^4 takes the sting out of the singularity at 0
x = np.pi / 2 * t**4
substituted = (weights / 2 * np.log(np.sin(x)) * 2 * np.pi * t**3).sum()

print("adaptive", value, "claims an error of", claimed)
print("exact   ", exact, "true error", abs(value - exact))
print("Gauss-Legendre after substitution", substituted)
assert abs(value - exact) <= max(claimed, 1e-13)
assert abs(substituted - exact) < 1e-10
print("VERIFIED by a closed form and another rule")
