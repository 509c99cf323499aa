"""Values in 50 digits by mpmath, each by a formula of its own; one entry a problem."""

from mpmath import (
    airyai, airyaizero, altzeta, besselj, besseljzero, besselk, betainc, binomial, catalan,
    cos, cosh, diff, e, ellipe, ellipk, erf, erfc, exp, expm, fac, findroot, gamma, hilbert, hyp2f1,
    inf, legendre, log, log10, matrix, mp, mpc, mpf, nsum, pi, polylog, polyroots, primezeta, quad, sech,
    sin, sinh, sqrt, stieltjes, svd_r, tan, tanh, zeta, zetazero, eigsy, eighe, lambertw, clsin, loggamma,
)  # fmt: skip

mp.dps = 50


def singular(M):
    s = svd_r(matrix(M), compute_uv=False)
    return max(s) / min(s)


def tridiagonal(diagonal, off=1):
    n = len(diagonal)
    return matrix([[diagonal[i] if i == k else off if abs(i - k) == 1 else 0 for k in range(n)] for i in range(n)])


def gap(n):
    values = sorted(eigsy(tridiagonal([abs(k) for k in range(-n, n + 1)]), eigvals_only=True))
    return values[-1] - values[-2], values[-1]


def black_scholes(S, K, r, v, T):
    d1 = (log(S / K) + (r + v * v / 2) * T) / (v * sqrt(T))
    d2 = d1 - v * sqrt(T)
    N = lambda z: erfc(-z / sqrt(2)) / 2
    return {"price": S * N(d1) - K * exp(-r * T) * N(d2), "delta": N(d1)}


def geometric_asian(S, K, r, v, T, n):
    mean = log(S) + (r - v * v / 2) * T * (n + 1) / (2 * n)
    deviation = v * sqrt(T * mpf((n + 1) * (2 * n + 1)) / (6 * n * n))
    d2 = (mean - log(K)) / deviation
    N = lambda z: erfc(-z / sqrt(2)) / 2
    return {"price": exp(-r * T) * (exp(mean + deviation**2 / 2) * N(d2 + deviation) - K * N(d2))}


def wigner(j1, j2, j3, m1, m2, m3):
    """Racah's sum in integers."""
    lo = max(0, j2 - j3 - m1, j1 - j3 + m2)
    hi = min(j1 + j2 - j3, j1 - m1, j2 + m2)
    total = sum(
        (-1) ** k / mpf(int(fac(k) * fac(j1 + j2 - j3 - k) * fac(j1 - m1 - k) * fac(j2 + m2 - k)
                            * fac(j3 - j2 + m1 + k) * fac(j3 - j1 - m2 + k)))
        for k in range(lo, hi + 1)
    )
    triangle = fac(j1 + j2 - j3) * fac(j1 - j2 + j3) * fac(-j1 + j2 + j3) / fac(j1 + j2 + j3 + 1)
    norms = fac(j1 + m1) * fac(j1 - m1) * fac(j2 + m2) * fac(j2 - m2) * fac(j3 + m3) * fac(j3 - m3)
    return (-1) ** (j1 - j2 - m3) * sqrt(triangle * norms) * total


def ising(beta, size=4):
    """All configurations by a row transfer matrix, with two derivatives of the partition function."""
    rows = [[1 if b >> k & 1 else -1 for k in range(size)] for b in range(2**size)]
    inner = [sum(r[k] * r[(k + 1) % size] for k in range(size)) for r in rows]
    # Count states by energy instead of differentiating: polynomials in one bond's weight.
    states = {(a, a): {0: 1} for a in range(len(rows))}
    for _ in range(size):
        new = {}
        for (first, last), counts in states.items():
            for b, row in enumerate(rows):
                bonds = sum(p * q for p, q in zip(rows[last], row)) + inner[b]
                into = new.setdefault((first, b), {})
                for energy, ways in counts.items():
                    into[energy + bonds] = into.get(energy + bonds, 0) + ways
        states = new
    counts = {}
    for (first, last), found in states.items():
        if first == last:
            for energy, ways in found.items():
                counts[energy] = counts.get(energy, 0) + ways
    weights = {energy: ways * exp(mpf(beta) * energy) for energy, ways in counts.items()}
    Z = sum(weights.values())
    mean = sum(-energy * w for energy, w in weights.items()) / Z
    square = sum(energy**2 * w for energy, w in weights.items()) / Z
    spins = size * size
    return {"energy": mean / spins, "heat": mpf(beta) ** 2 * (square - mean**2) / spins}


def acid(total, sodium, K, Kw):
    def balance(p):
        h = mpf(10) ** -p
        terms = [h**3, K[0] * h**2, K[0] * K[1] * h, K[0] * K[1] * K[2]]
        charge = total * (terms[1] + 2 * terms[2] + 3 * terms[3]) / sum(terms)
        return h + sodium - Kw / h - charge

    return balance


VALUES = {
    "airy-far-negative": lambda: {"ai": airyai(-(10**6))},
    "airy-third-zero": lambda: {"zero": airyaizero(3)},
    "airy-decaying-solution": lambda: {"y12": airyai(12) / airyai(0)},
    "algebraic-endpoint-singularity": lambda: {"integral": nsum(lambda k: 1 / (fac(k) * (k + mpf("0.02"))), [0, inf])},
    "alternating-inverse-roots": lambda: {"s": altzeta(mpf(1) / 2)},
    "antoine-boiling-point": lambda: {"temperature": mpf("1730.63") / (mpf("8.07131") - log10(400)) - mpf("233.426")},
    "bessel-j0-fifth-zero": lambda: {"zero": besseljzero(0, 5)},
    "bessel-large-argument": lambda: {"j0": besselj(0, 10**8)},
    "bessel-stieltjes-tail": lambda: {"integral": besselk(0, 1)},
    "black-scholes-call": lambda: black_scholes(mpf(100), mpf(110), mpf("0.03"), mpf("0.25"), mpf("1.5")),
    "boundary-layer-advection": lambda: {"u": (exp(mpf("497.5")) - 1) / (exp(mpf(500)) - 1)},
    "branin-minimum": lambda: {"f_min": 10 / (8 * pi)},
    "bratu-two-solutions": lambda: dict(zip(("u_lower", "u_upper"), (
        2 * log(cosh(t)) for t in (findroot(lambda t: t - cosh(t) / (2 * sqrt(2)), guess) for guess in (0.38, 2.73))))),
    "can-minimal-surface": lambda: {"radius": (330 / (2 * pi)) ** (mpf(1) / 3), "area": 6 * pi * (330 / (2 * pi)) ** (mpf(2) / 3)},
    "cancellation-exponential": lambda: {"f": nsum(lambda k: mpf(10) ** (-5 * k) / fac(k + 3), [0, inf])},
    "catalan-integral": lambda: {"integral": catalan},
    "chirp-transform": lambda: {"lines": [
        sum(cos(pi * n * n / 10) * exp(-2j * pi * k * n / 8) for n in range(8)) for k in (1, 2, 3)]},
    "clausen-pi-third": lambda: {"cl2": clsin(2, pi / 3)},
    "clopper-pearson-interval": lambda: {
        "lower": findroot(lambda p: betainc(7, 34, 0, p, regularized=True) - mpf("0.025"), 0.0734),
        "upper": findroot(lambda p: betainc(8, 33, 0, p, regularized=True) - mpf("0.975"), 0.328)},
    "colebrook-friction": lambda: {"f": findroot(
        lambda x: x + 2 * log10(mpf("0.0004") / mpf("3.7") + mpf("2.51") * x / 200000), 7.4) ** -2},
    "cosine-of-cube": lambda: {"integral": gamma(mpf(1) / 3) * sqrt(3) / 6},
    "cycle-graph-spectral-gap": lambda: {"lambda2": (1 + cos(pi / 10)) / 2, "cover": 2 * sum(range(1, 20))},
    "debye-heat-capacity": lambda: {"ratio": 3 * (quad(lambda x: x**4 * exp(x) / (exp(x) - 1) ** 2, [mpf(10) ** -40, 1, 5])) / 125},
    "dilogarithm-integral": lambda: {"integral": pi**2 / 12},
    "disk-drum-frequencies": lambda: {"l1": besseljzero(0, 1) ** 2, "l4": besseljzero(2, 1) ** 2},
    "dottie-number": lambda: {"x": findroot(lambda x: cos(x) - x, 0.74)},
    "driven-damped-oscillator": lambda: oscillator(),
    "earth-moon-lagrange-points": lambda: lagrange(),
    "ellipse-perimeter": lambda: {"perimeter": 20 * ellipe(1 - mpf(4) / 25)},
    "expected-maximum-of-ten-normals": lambda: {
        name: factor * quad(lambda z: 10 * z * exp(-z * z / 2) / sqrt(2 * pi) * (erfc(-z / sqrt(2)) / 2) ** 9, [-20, -3, 0, 2, 4, 20])
        for name, factor in (("e_max", 1), ("e_range", 2))},
    "expm-dubious-way": lambda: {"e11": expm(matrix([[-49, 24], [-64, 31]]))[0, 0], "e21": expm(matrix([[-49, 24], [-64, 31]]))[1, 0]},
    "fermi-dirac-half": lambda: {"f": -polylog(mpf(3) / 2, -exp(20)).real},
    "finite-square-well-levels": lambda: {
        "e_even": findroot(lambda k: k * tan(k) - sqrt(64 - k * k), 1.395) ** 2,
        "e_odd": findroot(lambda k: -k / tan(k) - sqrt(64 - k * k), 2.786) ** 2},
    "galton-watson-extinction": lambda: {"q": -lambertw(-mpf("1.5") * exp(-mpf("1.5"))) / mpf("1.5")},
    "gamma-complex": lambda: {"value": gamma(mpc(1, 6) / 3)},
    "gamma-one-third": lambda: {"gamma": gamma(mpf(1) / 3)},
    "gauss-legendre-20-node": lambda: gauss(20, 0.9931),
    "gaussian-integral-unit-interval": lambda: {"integral": sqrt(pi) / 2 * erf(1)},
    "geometric-asian-option": lambda: geometric_asian(mpf(100), mpf(100), mpf("0.05"), mpf("0.3"), mpf(1), 12),
    "half-line-power": lambda: {"integral": pi / mpf("2.5") / sin(pi / mpf("2.5"))},
    "heat-rod-quench": lambda: {"u": nsum(lambda k: 4 / ((2 * k + 1) * pi) * sin((2 * k + 1) * pi * mpf("0.3")) * exp(-((2 * k + 1) * pi) ** 2 * mpf("0.05")), [0, 30])},
    "henon-fixed-point": lambda: henon(),
    "hermitian-3-eigenvector": lambda: hermitian(),
    "hidden-gaussian-spike": lambda: {"integral": sqrt(pi) / 40 * (erf(20 * mpf("713.2")) + erf(20 * mpf("286.8"))) },
    "hilbert-6-condition": lambda: {"cond2": singular(hilbert(6))},
    "hilbert-12-condition": lambda: {"cond2": singular(hilbert(12))},
    "hypergeometric-2f1-oscillatory": lambda: {"f": hyp2f1(mpf("-30.5"), mpf("30.7"), mpf("0.5"), mpf("0.9"))},
    "integer-matrix-spectrum": lambda: {"spectrum": polyroots([1, -5, 21, -145, 458, -590, 1024], maxsteps=200, extraprec=200)},
    "ising-4x4-exact": lambda: ising("0.4"),
    "jordan-block-perturbation": lambda: {"rho": mpf(10) ** (mpf(-12) / 12)},
    "kac-sylvester-200": lambda: {"spectral_radius": 200, "abs_sum": sum(abs(200 - 2 * k) for k in range(201))},
    "kepler-near-parabolic": lambda: {"e_anomaly": findroot(lambda E: E - mpf("0.99999") * sin(E) - mpf("0.0001"), 0.084)},
    "lambert-both-branches": lambda: {"upper": lambertw(mpf("-0.2")).real, "lower": lambertw(mpf("-0.2"), -1).real},
    "laplacian-condition-50": lambda: {"cond2": 1 / tan(pi / 102) ** 2, "det": 51},
    "large-amplitude-pendulum": lambda: {"period": 4 * sqrt(2 / mpf("9.80665")) * ellipk(sin(75 * pi / 180) ** 2)},
    "light-deflection-schwarzschild": lambda: {"angle": 2 * quad(
        lambda v: 2 / sqrt(2 - v * v - (1 + (1 - v * v) + (1 - v * v) ** 2) / 3), [0, 1]) - pi},
    "log-gamma-difference": lambda: {"d": loggamma(mpf(10) ** 15 + mpf(1) / 2) - loggamma(mpf(10) ** 15)},
    "logarithmic-capacity-of-square": lambda: {"capacity": gamma(mpf(1) / 4) ** 2 / (4 * pi ** mpf("1.5"))},
    "logistic-growth": lambda: {"n12": 500 / (1 + 49 * exp(-mpf("3.6"))), "t_half": log(49) / mpf("0.3")},
    "lorenz-fixed-point-eigenvalues": lambda: lorenz(),
    "mccormick-minimum": lambda: {"f_min": -pi / 3 - sqrt(3) / 2},
    "mean-distance-in-cube": lambda: {"mean": (4 + 17 * sqrt(2) - 6 * sqrt(3) + 21 * log(1 + sqrt(2)) + 42 * log(2 + sqrt(3)) - 7 * pi) / 105},
    "mean-distance-in-square": lambda: {"mean": (2 + sqrt(2) + 5 * log(1 + sqrt(2))) / 15, "corner": (sqrt(2) + log(1 + sqrt(2))) / 3},
    "michaelis-menten-progress": lambda: {"s": 3 * lambertw(mpf(10) / 3 * exp((mpf(10) - 8) / 3))},
    "mittag-leffler-half": lambda: {"e": exp(36) * erfc(6)},
    "normal-tail-at-fourteen": lambda: {"p": erfc(14 / sqrt(2)) / 2},
    "numerical-derivatives": lambda: {
        name: diff(lambda x: exp(x) / (sin(x) ** 3 + cos(x) ** 3), mpf("1.5"), order) for name, order in (("d1", 1), ("d2", 2))},
    "onsager-ising-at-t2": lambda: onsager(2),
    "pascal-5-eigenvector": lambda: pascal(5),
    "ph-of-very-dilute-acid": lambda: {"ph": -log10((mpf(10) ** -8 + sqrt(mpf(10) ** -16 + 4 * mpf(10) ** -14)) / 2)},
    "phosphate-buffer-ph": lambda: {"ph": findroot(
        acid(mpf("0.05"), mpf("0.02"), [mpf("7.1e-3"), mpf("6.3e-8"), mpf("4.5e-13")], mpf("1e-14")), 2.2)},
    "poisson-deep-tail": lambda: {"p": poisson_tail(995000, 1000000)},
    "prime-zeta-2": lambda: {"s": primezeta(2)},
    "quadruple-root-polynomial": lambda: {"root": (1 + sqrt(5)) / 2},
    "quintic-all-roots": lambda: {"roots": polyroots([1, 0, 0, 0, -1, -1], maxsteps=200, extraprec=200)},
    "ramanujan-near-integer": lambda: {"difference": exp(pi * sqrt(163)) - 262537412640768744},
    "resonator-impulse-response": lambda: {"h200": mpf("0.99") ** 200 * sin(201 * pi / 7) / sin(pi / 7)},
    "riemann-zero-ten": lambda: {"t": zetazero(10).imag},
    "rosser-close-eigenvalues": lambda: {
        "small_positive": 510 - 100 * sqrt(26), "lambda_max": 10 * sqrt(10405), "near_gap": 1020 - (510 + 100 * sqrt(26))},
    "shifted-hilbert-11-condition": lambda: {"cond2": singular([[mpf(1) / (i + k + 2) for k in range(1, 12)] for i in range(1, 12)])},
    "sine-of-huge-argument": lambda: {"s": sin(mpf(10) ** 22)},
    "sir-final-size": lambda: {
        "z": 1 + lambertw(-mpf("2.5") * exp(-mpf("2.5"))) / mpf("2.5"), "peak": 1 - (1 + log(mpf("2.5"))) / mpf("2.5")},
    "spherical-bessel-recurrence": lambda: {
        "j25": sqrt(pi / 5) * besselj(mpf("25.5"), mpf("2.5")),
        "ratio": besselj(mpf("25.5"), mpf("2.5")) / besselj(mpf("24.5"), mpf("2.5"))},
    "square-lattice-sum": lambda: {"s": 4 * zeta(mpf(3) / 2) * (zeta(mpf(3) / 2, mpf(1) / 4) - zeta(mpf(3) / 2, mpf(3) / 4)) / mpf(4) ** (mpf(3) / 2)},
    "stieltjes-gamma-1": lambda: {"gamma1": stieltjes(1)},
    "stiff-relaxation-to-sine": lambda: {"y": (10**6 * sin(2) - 1000 * cos(2)) / mpf(10**6 + 1) + (1 + mpf(1000) / (10**6 + 1)) * exp(-2000)},
    "tan-x-equals-x": lambda: {"x": findroot(lambda x: sin(x) - x * cos(x), 4.4934)},
    "three-mass-normal-modes": lambda: modes(),
    "triangular-tiny-singular-value": lambda: {"sigma_min": smallest_singular(60)},
    "tridiagonal-eigenvalues-5": lambda: {"lambda_min": 2 - sqrt(3), "lambda_max": 2 + sqrt(3)},
    "unit-square-reciprocal": lambda: {"integral": zeta(2)},
    "van-der-waals-co2-volume": lambda: {"v": findroot(
        lambda V: (5000000 + mpf("0.3640") / V**2) * (V - mpf("4.267e-5")) - mpf("8.31446261815324") * 320, 4.2e-4)},
    "watson-triple-integral": lambda: {"w": watson()},
    "polya-3d-return": lambda: {"p": 1 - 1 / watson()},
    "wien-displacement-constant": lambda: wien(),
    "wigner-3j-large": lambda: {"w3j": wigner(60, 60, 60, 20, -30, 10)},
    "wilbraham-gibbs-constant": lambda: gibbs(),
    "wilkinson-17-gap": lambda: {"gap": gap(8)[0]},
    "wilkinson-21-gap": lambda: {"gap": gap(10)[0]},
    "wilkinson-21-largest": lambda: {"lambda_max": gap(10)[1]},
    "wilkinson-perturbed-polynomial": lambda: wilkinson(),
}  # fmt: skip


def watson():
    """Glasser and Zucker's product of gamma functions."""
    return sqrt(6) / (32 * pi**3) * gamma(mpf(1) / 24) * gamma(mpf(5) / 24) * gamma(mpf(7) / 24) * gamma(mpf(11) / 24)


def oscillator():
    """x'' + 0.2 x' + 4 x = cos 2t: the resonant particular solution is sin(2t)/0.4."""
    a = mpf("0.1")
    w = sqrt(4 - a * a)
    A = mpf(1)
    B = (a * A - 2 / mpf("0.4")) / w
    t = mpf(10)
    return {"x": exp(-a * t) * (A * cos(w * t) + B * sin(w * t)) + sin(2 * t) / mpf("0.4")}


def lagrange(m=mpf("0.0121505856")):
    """Force balance in the rotating frame."""

    def force(x):
        return x - (1 - m) * (x + m) / abs(x + m) ** 3 - m * (x - 1 + m) / abs(x - 1 + m) ** 3

    return {"l1": findroot(force, 0.837), "l2": findroot(force, 1.156)}


def gauss(n, guess):
    x = findroot(lambda t: legendre(n, t), guess)
    slope = n * (legendre(n - 1, x) - x * legendre(n, x)) / (1 - x * x)
    return {"node": x, "weight": 2 / ((1 - x * x) * slope**2)}


def henon():
    x = (-mpf("0.7") + sqrt(mpf("0.49") + mpf("5.6"))) / mpf("2.8")
    b = mpf("2.8") * x
    return {"x": x, "eigenvalue": (-b - sqrt(b * b + mpf("1.2"))) / 2}


def hermitian():
    values, vectors = eighe(matrix([[2, 1j, 0], [-1j, 3, 1 + 1j], [0, 1 - 1j, 4]]))
    return {"energy": values[0], "state": [vectors[i, 0] for i in range(3)]}


def lorenz():
    """Cubic of the Jacobian at the fixed point: l^3 + (41/3) l^2 + (304/3) l + 1440."""
    roots = polyroots([1, mpf(41) / 3, mpf(8) / 3 * 38, 1440], maxsteps=200, extraprec=200)
    found = next(r for r in roots if r.imag > 1)
    return {"re": found.real, "im": found.imag}


def onsager(T):
    b = 1 / mpf(T)
    k = 2 * sinh(2 * b) / cosh(2 * b) ** 2
    energy = -1 / tanh(2 * b) * (1 + 2 / pi * (2 * tanh(2 * b) ** 2 - 1) * ellipk(k * k))
    return {"energy": energy, "magnetisation": (1 - sinh(2 * b) ** -4) ** (mpf(1) / 8)}


def pascal(n):
    values, vectors = eigsy(matrix([[binomial(i + k, i) for k in range(n)] for i in range(n)]))
    return {"largest": values[n - 1], "vector": [vectors[i, n - 1] for i in range(n)]}


def poisson_tail(mean, least):
    """P(X >= n) from the terms themselves, which fall geometrically."""
    term = exp(least * log(mpf(mean)) - mean - loggamma(least + 1))
    total, k = mpf(0), least
    while term > total * mpf(10) ** -40:
        total += term
        k += 1
        term *= mpf(mean) / k
    return total


def modes():
    k = [10, 20, 30, 40]
    masses = [1, 2, 3]
    M = matrix([[(k[i] + k[i + 1] if i == q else -k[max(i, q)] if abs(i - q) == 1 else 0) / sqrt(mpf(masses[i] * masses[q]))
                 for q in range(3)] for i in range(3)])
    values = sorted(eigsy(M, eigvals_only=True))
    return {"f1": sqrt(values[0]) / (2 * pi), "f3": sqrt(values[2]) / (2 * pi)}


def smallest_singular(n):
    """Inverse iteration on U^T U; U^-1 is applied by substitution."""
    x = [mpf(1)] * n
    for _ in range(30):
        y = []
        for i in range(n):  # U^T y = x
            y.append(x[i] + sum(y[:i]))
        z = [mpf(0)] * n
        for i in reversed(range(n)):  # U z = y
            z[i] = y[i] + sum(z[i + 1 :])
        size = sqrt(sum(v * v for v in z))
        growth = size
        x = [v / size for v in z]
    return 1 / sqrt(growth)


def wien():
    x = 5 + lambertw(-5 * exp(-5))
    h, c, k = mpf("6.62607015e-34"), mpf(299792458), mpf("1.380649e-23")
    return {"x": x, "b": h * c / (k * x)}


def gibbs():
    value = 2 / pi * nsum(lambda k: (-1) ** k * pi ** (2 * k + 1) / ((2 * k + 1) * fac(2 * k + 1)), [0, inf])
    return {"peak": value, "fraction": (value - 1) / 2}


def wilkinson():
    c = [mpf(1)]
    for k in range(1, 21):
        c = [a - k * b for a, b in zip([*c, 0], [0, *c])]
    c[1] -= mpf(2) ** -23
    roots = polyroots(c, maxsteps=500, extraprec=400)
    top = max(roots, key=lambda z: z.imag)
    return {"re": top.real, "im": top.imag}
