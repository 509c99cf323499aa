"""Rates, intervals and tests, in plain Python, each with its source.

Repeats of one problem are one cluster: they say less than as many different problems.
Nothing here reads files or knows about runs.
"""

from __future__ import annotations

import itertools
import math
import random
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
from fractions import Fraction
from statistics import NormalDist

CONFIDENCE = 0.95
"""Confidence of every interval, unless another is asked for."""


def quantile(confidence: float = CONFIDENCE) -> float:
    """Two-sided quantile of the standard normal distribution."""
    return NormalDist().inv_cdf(0.5 + confidence / 2)


def wilson(
    successes: float, trials: float, *, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Score interval of a rate (Wilson 1927), for whole or effective counts.

    Unlike the textbook interval it has a width at 0 and at 1.

    Raises:
        ValueError: successes are not between 0 and trials, or there are no trials.
    """
    if not 0 <= successes <= trials or trials <= 0:
        raise ValueError(f"wilson: {successes} successes of {trials} trials")
    z2 = quantile(confidence) ** 2
    rate = successes / trials
    centre = rate + z2 / (2 * trials)
    spread = math.sqrt(z2 * (rate * (1 - rate) / trials + z2 / (4 * trials**2)))
    scale = 1 + z2 / trials
    low = 0.0 if successes == 0 else max(0.0, (centre - spread) / scale)
    high = 1.0 if successes == trials else min(1.0, (centre + spread) / scale)
    return low, high


@dataclass(frozen=True, slots=True)
class Cluster:
    """The repeats of one problem: how many, and how many of them succeeded."""

    successes: int
    """Successful repeats."""
    trials: int
    """All repeats."""


def effective_trials(clusters: Sequence[Cluster]) -> float:
    """Number of independent trials that say as much as these clustered ones.

    p(1-p) / SE^2 with the cluster-robust variance of a ratio (Miller 2024, arXiv 2411.00640,
    with the small-sample factor G/(G-1)), kept between the number of problems and of rows. At a
    rate of 0 or 1, where no variance can be seen, it is the number of problems.
    """
    used = [cluster for cluster in clusters if cluster.trials]
    rows = sum(cluster.trials for cluster in used)
    problems = len(used)
    if rows == problems:
        return float(rows)
    rate = sum(cluster.successes for cluster in used) / rows
    if problems < 2 or rate in {0.0, 1.0}:
        return float(problems)
    spread = sum((cluster.successes - cluster.trials * rate) ** 2 for cluster in used)
    variance = problems / (problems - 1) * spread / rows**2
    if variance == 0:
        return float(rows)
    return min(float(rows), max(float(problems), rate * (1 - rate) / variance))


@dataclass(frozen=True, slots=True)
class Estimate:
    """A rate with its interval."""

    successes: int
    """Successes."""
    trials: int
    """Rows that could have succeeded."""
    problems: int
    """Problems they belong to."""
    effective: float
    """Independent trials that would say as much."""
    rate: float | None
    """successes / trials; none without trials."""
    low: float | None
    """Lower end of the interval."""
    high: float | None
    """Upper end of the interval."""


def estimate(clusters: Sequence[Cluster], *, confidence: float = CONFIDENCE) -> Estimate:
    """The rate over clustered trials: Wilson's interval on the cluster-effective sample size."""
    used = [cluster for cluster in clusters if cluster.trials]
    rows = sum(cluster.trials for cluster in used)
    successes = sum(cluster.successes for cluster in used)
    if not rows:
        return Estimate(0, 0, 0, 0.0, None, None, None)
    effective = effective_trials(used)
    rate = successes / rows
    # a whole rate stays whole: effective * 1.0 could exceed itself by rounding
    low, high = wilson(min(effective, rate * effective), effective, confidence=confidence)
    return Estimate(successes, rows, len(used), effective, rate, low, high)


def clusters_of(outcomes: Iterable[tuple[str, bool]]) -> list[Cluster]:
    """Clusters from pairs of problem and success, in order of first appearance."""
    counts: dict[str, list[int]] = {}
    for problem, success in outcomes:
        count = counts.setdefault(problem, [0, 0])
        count[0] += success
        count[1] += 1
    return [Cluster(successes, trials) for successes, trials in counts.values()]


def pass_at_k(trials: int, successes: int, k: int) -> float:
    """Probability that at least one of k repeats succeeds, without bias.

    1 - C(n-c, k) / C(n, k) (Chen et al. 2021, arXiv 2107.03374).

    Raises:
        ValueError: k is not between 1 and the trials.
    """
    if not 1 <= k <= trials:
        raise ValueError(f"pass@{k} of {trials} repeats")
    return 1.0 - math.comb(trials - successes, k) / math.comb(trials, k)


def pass_all_k(trials: int, successes: int, k: int) -> float:
    """Probability that all of k repeats succeed: C(c, k) / C(n, k) (Yao et al. 2024, pass^k).

    Raises:
        ValueError: k is not between 1 and the trials.
    """
    if not 1 <= k <= trials:
        raise ValueError(f"pass^{k} of {trials} repeats")
    return math.comb(successes, k) / math.comb(trials, k)


def variances(clusters: Sequence[Cluster]) -> tuple[float, float] | None:
    """Variance of success within problems and between them; none without repeats.

    The one-way analysis of variance with equal weights: within is the mean of
    p(1-p) n/(n-1), between is the variance of the p minus what `within` adds to it, not below
    0. When `within` is large more repeats help, when `between` is large more problems do.
    """
    used = [cluster for cluster in clusters if cluster.trials > 1]
    if len(used) < 2:
        return None
    rates = [cluster.successes / cluster.trials for cluster in used]
    noise = [
        rate * (1 - rate) * cluster.trials / (cluster.trials - 1)
        for rate, cluster in zip(rates, used, strict=True)
    ]
    within = math.fsum(noise) / len(noise)
    share = math.fsum(x / c.trials for x, c in zip(noise, used, strict=True)) / len(noise)
    return within, max(0.0, _variance(rates) - share)


def _variance(values: Sequence[float]) -> float:
    mean = math.fsum(values) / len(values)
    return math.fsum((value - mean) ** 2 for value in values) / (len(values) - 1)


def mcnemar_exact(only_first: int, only_second: int) -> float:
    """Two-sided p of McNemar's test, exact: a fair coin on the pairs that differ.

    Dietterich 1998 recommends it for two systems on one set of questions.
    """
    differing = only_first + only_second
    if not differing:
        return 1.0
    less = min(only_first, only_second)
    tail = sum(math.comb(differing, i) for i in range(less + 1))
    return float(min(Fraction(1), Fraction(2 * tail, 1 << differing)))


def paired_interval(
    both: int, only_first: int, only_second: int, neither: int, *, confidence: float = CONFIDENCE
) -> tuple[float, float]:
    """Interval of the second rate minus the first, from paired outcomes.

    Newcombe 1998 (Statistics in Medicine 17, 2635), method 10: the two Wilson intervals,
    squared and added, with the correlation of the pairs.

    Raises:
        ValueError: there are no pairs.
    """
    pairs = both + only_first + only_second + neither
    first, second = (both + only_first) / pairs, (both + only_second) / pairs
    low1, high1 = wilson(both + only_first, pairs, confidence=confidence)
    low2, high2 = wilson(both + only_second, pairs, confidence=confidence)
    margins = (
        (both + only_first)
        * (only_second + neither)
        * (both + only_second)
        * (only_first + neither)
    )
    phi = 0.0
    if margins:
        product: float = both * neither - only_first * only_second
        if product > 0:  # the continuity correction of the method
            product = max(product - pairs / 2, 0)
        phi = product / math.sqrt(margins)
    down = _square_add(second - low2, high1 - first, phi)
    up = _square_add(high2 - second, first - low1, phi)
    difference = second - first
    return max(-1.0, difference - down), min(1.0, difference + up)


def _square_add(one: float, other: float, phi: float) -> float:
    return math.sqrt(max(0.0, one**2 - 2 * phi * one * other + other**2))


RESAMPLES = 4000
"""Resamples of every bootstrap and permutation, fewer above 500 problems; the seed is fixed."""


def _resamples(count: int) -> int:
    return max(500, min(RESAMPLES, 2_000_000 // max(1, count)))


def bootstrap_interval(
    differences: Sequence[float], *, confidence: float = CONFIDENCE, seed: int = 0
) -> tuple[float, float]:
    """Percentile interval of the mean of per-problem differences: whole problems are redrawn.

    Raises:
        ValueError: there are no differences.
    """
    if not differences:
        raise ValueError("bootstrap of no problems")
    draw = random.Random(seed)  # noqa: S311 - a resample, not a secret
    count = len(differences)
    times = _resamples(count)
    means = sorted(math.fsum(draw.choices(differences, k=count)) / count for _ in range(times))
    return _middle(means, confidence)


def _middle(ordered: Sequence[float], confidence: float) -> tuple[float, float]:
    cut = (1 - confidence) / 2
    last = len(ordered) - 1
    return ordered[round(cut * last)], ordered[round((1 - cut) * last)]


def ratio_interval(
    pairs: Sequence[tuple[float, float]], *, confidence: float = CONFIDENCE, seed: int = 0
) -> tuple[float, float, float] | None:
    """Sum of the second over sum of the first, with the bootstrap interval over problems.

    None when the first sum, or that of some resample, is not positive.
    """
    first = math.fsum(pair[0] for pair in pairs)
    if first <= 0:
        return None
    draw = random.Random(seed)  # noqa: S311 - a resample, not a secret
    count = len(pairs)
    ratios = []
    for _ in range(_resamples(count)):
        drawn = draw.choices(pairs, k=count)
        below = math.fsum(pair[0] for pair in drawn)
        if below <= 0:
            return None
        ratios.append(math.fsum(pair[1] for pair in drawn) / below)
    low, high = _middle(sorted(ratios), confidence)
    return math.fsum(pair[1] for pair in pairs) / first, low, high


def sign_flip(differences: Sequence[float], *, seed: int = 0) -> float:
    """Two-sided p that per-problem differences have mean 0: signs are flipped at random.

    All 2^n flips when there are at most 11 problems that differ, else a fixed random sample of
    them (Edgington's randomisation test for pairs).
    """
    moved = [abs(value) for value in differences if value]
    if not moved:
        return 1.0
    seen = abs(math.fsum(differences)) - 1e-12
    if len(moved) <= 11:
        flips: Iterable[Sequence[int]] = itertools.product((1, -1), repeat=len(moved))
        hits = [
            abs(math.fsum(map(math.prod, zip(moved, flip, strict=True)))) >= seen for flip in flips
        ]
        return sum(hits) / len(hits)
    draw = random.Random(seed)  # noqa: S311 - a permutation, not a secret
    count = 0
    times = _resamples(len(moved))
    for _ in range(times):
        bits = draw.getrandbits(len(moved))
        total = math.fsum(v if bits >> i & 1 else -v for i, v in enumerate(moved))
        count += abs(total) >= seen
    return (count + 1) / (times + 1)


def holm(values: Sequence[float]) -> list[float]:
    """P values adjusted for being several (Holm 1979), in the order given."""
    order = sorted(range(len(values)), key=lambda i: values[i])
    adjusted = [0.0] * len(values)
    largest = 0.0
    for rank, i in enumerate(order):
        largest = max(largest, min(1.0, (len(values) - rank) * values[i]))
        adjusted[i] = largest
    return adjusted


def problems_needed(
    differences: Sequence[float], *, confidence: float = CONFIDENCE, power: float = 0.8
) -> int | None:
    """Problems at which a difference of this size would probably be told from none.

    (z_a + z_b)^2 s^2 / d^2 (Miller 2024, section 5), s^2 the variance of the per-problem
    differences and d their mean; none when there is no difference to look for.
    """
    if len(differences) < 2:
        return None
    mean = math.fsum(differences) / len(differences)
    if abs(mean) < 1e-12:
        return None
    z = quantile(confidence) + NormalDist().inv_cdf(power)
    return max(2, math.ceil(z**2 * _variance(differences) / mean**2))


def smallest_difference(
    rate: float,
    effective: float,
    *,
    correlation: float = 0.5,
    confidence: float = CONFIDENCE,
    power: float = 0.8,
) -> float:
    """Smallest difference of two runs that would be found with this power.

    (z_a + z_b) sqrt(2 p (1-p) (1-rho) / n) for paired outcomes with correlation rho (Miller 2024,
    section 5). The rate is first drawn to one half by two successes and two failures, so that a
    perfect run does not promise to see everything.

    Raises:
        ValueError: nothing was tried.
    """
    if effective <= 0:
        raise ValueError("smallest difference of no trials")
    drawn = (rate * effective + 2) / (effective + 4)
    z = quantile(confidence) + NormalDist().inv_cdf(power)
    return min(1.0, z * math.sqrt(2 * drawn * (1 - drawn) * (1 - correlation) / effective))
