"""Nonlinear least squares in 40 digits: damped Gauss-Newton steps until nothing moves.

Decimals; mpmath only for models with an arctangent.
"""

from decimal import Decimal, getcontext
from glob import glob

getcontext().prec = 40


def table(number):
    (name,) = glob("*.csv")
    with open(name) as file:
        head, *lines = file.read().split()
    return [dict(zip(head.split(","), map(number, line.split(",")))) for line in lines]


def solve(M, right):
    """Gauss elimination with the largest pivots."""
    M = [[*row, b] for row, b in zip(M, right)]
    n = len(M)
    for c in range(n):
        pivot = max(range(c, n), key=lambda r: abs(M[r][c]))
        M[c], M[pivot] = M[pivot], M[c]
        for r in range(c + 1, n):
            factor = M[r][c] / M[c][c]
            M[r] = [a - factor * b for a, b in zip(M[r], M[c])]
    x = [0] * n
    for r in reversed(range(n)):
        x[r] = (M[r][n] - sum(M[r][k] * x[k] for k in range(r + 1, n))) / M[r][r]
    return x


def numbers(model):
    """The type of the numbers, and the functions a model may use."""
    if "atan" not in model:
        words = {"exp": Decimal.exp, "log": Decimal.ln, "sqrt": Decimal.sqrt}
        return Decimal, words
    import mpmath

    mpmath.mp.dps = 40
    return mpmath.mpf, {"atan": mpmath.atan, "pi": mpmath.pi}


def fit(model, *start, of="y"):
    """The least-squares fit of a model in b1, b2, ... and the columns, from a start nearby."""
    number, words = numbers(model)
    rows = table(number)
    code, observed = compile(model, "<model>", "eval"), compile(of, "<observed>", "eval")
    y = [eval(observed, words, row) for row in rows]
    n = len(start)

    def values(b):
        names = words | {f"b{k}": v for k, v in enumerate(b, 1)}
        return [eval(code, names, row) for row in rows]

    def columns(b):
        found = []
        for k in range(n):
            h = b[k] * number("1e-13")
            up, down = list(b), list(b)
            up[k], down[k] = b[k] + h, b[k] - h
            found.append([(p - q) / (2 * h) for p, q in zip(values(up), values(down))])
        return found

    b, damping = [number(str(v)) for v in start], number("1e-6")
    rest = [v - m for v, m in zip(y, values(b))]
    rss = sum(v * v for v in rest)
    for _ in range(200):
        J = columns(b)
        normal = [[sum(p * q for p, q in zip(u, v)) for v in J] for u in J]
        right = [sum(p * q for p, q in zip(u, rest)) for u in J]
        while True:
            damped = [[v * (1 + damping) if i == k else v for k, v in enumerate(row)] for i, row in enumerate(normal)]
            step = solve(damped, right)
            small = max(abs(s / v) for s, v in zip(step, b)) < number("1e-14")
            new = [v + s for v, s in zip(b, step)]
            left = [v - m for v, m in zip(y, values(new))]
            smaller = sum(v * v for v in left)
            if smaller <= rss or small:
                break
            damping = damping * 10
        b, rest, rss, damping = new, left, smaller, damping / 1000
        if small:
            break
    variance = rss / (len(y) - n)
    found = {f"b{k}": v for k, v in enumerate(b, 1)} | {"rss": rss, "residual_sd": variance ** number("0.5")}
    for k in range(n):
        inverse = solve(normal, [number(int(i == k)) for i in range(n)])
        found[f"se_b{k + 1}"] = (variance * inverse[k]) ** number("0.5")
    return found
