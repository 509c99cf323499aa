"""Linear least squares in exact fractions, for NIST's reference data sets and variants of them."""

from decimal import Decimal, localcontext
from fractions import Fraction
from glob import glob


def rows(keep=lambda number, row: True):
    """The rows of the one data file, as fractions."""
    (name,) = glob("*.csv")
    with open(name) as file:
        lines = file.read().split()[1:]
    table = [[Fraction(text) for text in line.split(",")] for line in lines]
    return [row for number, row in enumerate(table, 1) if keep(number, row)]


def root(value):
    """Square root of a fraction, in 60 digits."""
    with localcontext(prec=60):
        return (Decimal(value.numerator) / Decimal(value.denominator)).sqrt()


def invert(M):
    """Inverse of a matrix of fractions, by Gauss and Jordan."""
    n = len(M)
    M = [[*row, *(Fraction(int(i == j)) for j in range(n))] for i, row in enumerate(M)]
    for c in range(n):
        pivot = next(r for r in range(c, n) if M[r][c])
        M[c], M[pivot] = M[pivot], M[c]
        M[c] = [v / M[c][c] for v in M[c]]
        for r in range(n):
            if r != c and M[r][c]:
                factor = M[r][c]
                M[r] = [a - factor * b for a, b in zip(M[r], M[c])]
    return [row[n:] for row in M]


def fit(y, A, first=0):
    """Coefficients, their standard errors, residual standard deviation and R^2 about zero."""
    columns = list(zip(*A))
    inverse = invert([[sum(p * q for p, q in zip(u, v)) for v in columns] for u in columns])
    right = [sum(p * q for p, q in zip(u, y)) for u in columns]
    b = [sum(p * q for p, q in zip(row, right)) for row in inverse]
    rss = sum((v - sum(p * q for p, q in zip(b, row))) ** 2 for v, row in zip(y, A))
    variance = rss / (len(y) - len(b))
    found = {f"b{k}": value for k, value in enumerate(b, first)}
    found |= {f"se_b{k}": root(variance * inverse[k - first][k - first]) for k in range(first, first + len(b))}
    return found | {"residual_sd": root(variance), "r_squared": 1 - rss / sum(v * v for v in y)}


def polynomial(degree, keep=lambda number, row: True):
    """y = B0 + B1 x + ... of the columns y, x."""
    table = rows(keep)
    return fit([y for y, _ in table], [[x**k for k in range(degree + 1)] for _, x in table])


def plane(keep=lambda number, row: True):
    """y = B0 + B1 x1 + ... of all columns."""
    table = rows(keep)
    return fit([row[0] for row in table], [[Fraction(1), *row[1:]] for row in table])


def through_origin():
    """y = B1 x."""
    table = rows()
    return fit([y for y, _ in table], [[x] for _, x in table], first=1)
