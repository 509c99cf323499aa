"""Rates, intervals and tests, in plain Python, each with its source.

Repeats of one problem are one cluster: they say less than as many different problems.
Nothing here reads files or knows about runs.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from dataclasses import dataclass
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
