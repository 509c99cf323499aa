"""A Kepler orbit: DOP853 against the conserved energy and angular momentum, and the closed period."""

import numpy as np
from scipy.integrate import solve_ivp


def motion(_t, state):
    x, y, vx, vy = state
    cubed = (x * x + y * y) ** 1.5
    return [vx, vy, -x / cubed, -y / cubed]


e = 0.6  # eccentricity; semi-major axis 1, so the period is 2 pi
start = [1 - e, 0.0, 0.0, np.sqrt((1 + e) / (1 - e))]
orbit = solve_ivp(motion, (0, 2 * np.pi), start, method="DOP853", rtol=1e-12, atol=1e-13)
x, y, vx, vy = orbit.y

energy = (vx**2 + vy**2) / 2 - 1 / np.hypot(x, y)
momentum = x * vy - y * vx
drift = abs(energy - energy[0]).max(), abs(momentum - momentum[0]).max()
miss = np.linalg.norm(orbit.y[:, -1] - start)

print("energy", energy[0], "exact", -0.5)
print("largest drift of energy and angular momentum", *drift)
print("distance from the start after one period", miss)
assert abs(energy[0] + 0.5) < 1e-14
assert max(drift) < 1e-10
assert miss < 1e-9
print("VERIFIED by invariants and the known period")
