"""The discrete Fourier transform: Parseval's identity and the convolution theorem."""

import numpy as np
from scipy import fft

rng = np.random.default_rng(3)
x, y = rng.normal(size=(2, 1000))
X, Y = fft.fft(x), fft.fft(y)

time_energy, frequency_energy = (x**2).sum(), (abs(X) ** 2).sum() / x.size
by_transform = fft.ifft(X * Y).real
directly = np.array([x @ np.roll(y[::-1], k + 1) for k in range(x.size)])

print("energy in time", time_energy, "in frequency", frequency_energy)
print("largest difference of the convolutions", abs(by_transform - directly).max())
assert abs(time_energy / frequency_energy - 1) < 1e-13
assert abs(by_transform - directly).max() < 1e-10
print("VERIFIED by an identity and a direct sum")
