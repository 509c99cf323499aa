"""Mean, standard deviation, autocorrelation and analysis of variance in exact fractions."""

from decimal import Decimal, localcontext
from fractions import Fraction
from glob import glob


def lines():
    (name,) = glob("*.csv")
    with open(name) as file:
        return file.read().split()[1:]


def root(value):
    with localcontext(prec=60):
        return (Decimal(value.numerator) / Decimal(value.denominator)).sqrt()


def summary():
    y = [Fraction(text) for text in lines()]
    mean = sum(y) / len(y)
    d = [v - mean for v in y]
    squares = sum(v * v for v in d)
    return {
        "mean": mean,
        "sd": root(squares / (len(y) - 1)),
        "autocorr_lag1": sum(a * b for a, b in zip(d, d[1:])) / squares,
    }


def anova():
    groups = {}
    for line in lines():
        treatment, y = line.split(",")
        groups.setdefault(treatment, []).append(Fraction(y))
    every = [v for group in groups.values() for v in group]
    grand = sum(every) / len(every)
    means = {name: sum(group) / len(group) for name, group in groups.items()}
    between = sum(len(group) * (means[name] - grand) ** 2 for name, group in groups.items())
    within = sum((v - means[name]) ** 2 for name, group in groups.items() for v in group)
    free = len(every) - len(groups)
    return {
        "f_statistic": between / (len(groups) - 1) / (within / free),
        "r_squared": between / (between + within),
        "residual_sd": root(within / free),
    }
