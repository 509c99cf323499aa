"""A quadratic program with bounds and one equality: SLSQP against its KKT conditions."""

import numpy as np
from scipy.optimize import minimize

H = np.array([[4.0, 1.0, 0.0], [1.0, 3.0, -1.0], [0.0, -1.0, 2.0]])
c = np.array([-3.0, -4.0, 1.0])
A, b = np.array([1.0, 1.0, 1.0]), 1.0

found = minimize(
    lambda x: x @ H @ x / 2 + c @ x,
    np.full(3, 1 / 3),
    jac=lambda x: H @ x + c,
    bounds=[(0, None)] * 3,
    constraints={"type": "eq", "fun": lambda x: A @ x - b, "jac": lambda _: A},
    method="SLSQP",
    options={"ftol": 1e-14},
).x

# Which bounds are active is read off; then KKT is one linear system.
free = found > 1e-8
n = free.sum()
system = np.block([[H[np.ix_(free, free)], A[free, None]], [A[None, free], np.zeros((1, 1))]])
solution = np.linalg.solve(system, np.append(-c[free], b))
exact = np.zeros(3)
exact[free], multiplier = solution[:n], solution[n]
bound_multipliers = H @ exact + c + multiplier * A

print("SLSQP      ", found)
print("KKT system ", exact, "multiplier", multiplier)
print("multipliers of the bounds", bound_multipliers)
assert np.allclose(found, exact, atol=1e-7)
assert abs(bound_multipliers[free]).max() < 1e-12
assert (bound_multipliers[~free] > 0).all()
print("VERIFIED by the KKT conditions")
