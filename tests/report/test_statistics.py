"""Every formula against scipy, a closed form, an enumeration or a simulation."""

from __future__ import annotations

import itertools
import math
import random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from scisolve_batch.report.statistics import (
    Cluster,
    bootstrap_interval,
    clusters_of,
    effective_trials,
    estimate,
    holm,
    mcnemar_exact,
    paired_interval,
    pass_all_k,
    pass_at_k,
    problems_needed,
    sign_flip,
    smallest_difference,
    variances,
    wilson,
)

outcome_lists = st.lists(
    st.tuples(st.sampled_from("abcdef"), st.booleans()), min_size=1, max_size=40
)


@pytest.mark.parametrize(("k", "n"), [(0, 1), (0, 20), (7, 20), (20, 20), (1, 1), (499, 1000)])
def test_wilson_is_scipys(k: int, n: int) -> None:
    from scipy.stats import binomtest

    expected = binomtest(k, n).proportion_ci(method="wilson")
    assert wilson(k, n) == pytest.approx((expected.low, expected.high), abs=1e-12)


@pytest.mark.parametrize(("k", "n"), [(-1, 3), (4, 3), (0, 0)])
def test_wilson_refuses_impossible_counts(k: int, n: int) -> None:
    with pytest.raises(ValueError, match=f"wilson: {k} successes of {n} trials"):
        wilson(k, n)


def test_mcnemar_is_scipys_binomial_test() -> None:
    from scipy.stats import binomtest

    for b, c in itertools.product(range(9), repeat=2):
        expected = binomtest(b, b + c, 0.5).pvalue if b + c else 1.0
        assert mcnemar_exact(b, c) == pytest.approx(expected, abs=1e-12)


def test_mcnemar_is_that_of_statsmodels() -> None:
    tables = pytest.importorskip("statsmodels.stats.contingency_tables")
    expected = tables.mcnemar([[40, 9], [3, 8]], exact=True).pvalue
    assert mcnemar_exact(9, 3) == pytest.approx(expected)


def test_holm_is_that_of_statsmodels() -> None:
    multi = pytest.importorskip("statsmodels.stats.multitest")
    values = [0.01, 0.04, 0.03, 0.005, 0.5, 0.03]
    assert holm(values) == pytest.approx(list(multi.multipletests(values, method="holm")[1]))


def test_holm_by_hand() -> None:
    assert holm([]) == []
    assert holm([0.01, 0.04, 0.03]) == pytest.approx([0.03, 0.06, 0.06])


def test_paired_interval_gives_newcombes_published_example() -> None:
    # Newcombe 1998, table II (f): cells 1, 1, 7, 3 of 12 pairs and (a): 36, 12, 2, 0 of 50
    low, high = paired_interval(36, 2, 12, 0)
    assert (low, high) == pytest.approx((0.0569, 0.3404), abs=5e-5)


def test_pass_at_k_is_the_mean_over_all_choices() -> None:
    for n in range(1, 7):
        for c in range(n + 1):
            runs = [True] * c + [False] * (n - c)
            for k in range(1, n + 1):
                picks = list(itertools.combinations(runs, k))
                assert pass_at_k(n, c, k) == pytest.approx(sum(map(any, picks)) / len(picks))
                assert pass_all_k(n, c, k) == pytest.approx(sum(map(all, picks)) / len(picks))


@pytest.mark.parametrize("score", [pass_at_k, pass_all_k])
def test_more_repeats_than_there_are_cannot_be_asked_for(score: object) -> None:
    with pytest.raises(ValueError, match=r"pass.4 of 3 repeats"):
        score(3, 1, 4)  # type: ignore[operator]


def test_the_effective_size_is_the_rows_without_repeats_and_the_problems_when_repeats_agree() -> (
    None
):
    assert effective_trials([Cluster(1, 1), Cluster(0, 1), Cluster(1, 1)]) == 3
    assert effective_trials([Cluster(5, 5), Cluster(0, 5), Cluster(5, 5)]) == 3
    assert effective_trials([Cluster(5, 5), Cluster(5, 5)]) == 2
    assert effective_trials([Cluster(2, 4), Cluster(2, 4)]) == 8
    # three problems of 4: p = 1/2, deviations 2, -1, -1, SE^2 = 3/2 * 6/144 = 1/16, n = 4
    assert effective_trials([Cluster(4, 4), Cluster(1, 4), Cluster(1, 4)]) == pytest.approx(4)


def test_the_cluster_error_is_that_of_statsmodels() -> None:
    api = pytest.importorskip("statsmodels.api")
    np = pytest.importorskip("numpy")
    clusters = [Cluster(4, 5), Cluster(1, 4), Cluster(3, 6), Cluster(5, 5), Cluster(2, 3)]
    y = [1.0 if i < c.successes else 0.0 for c in clusters for i in range(c.trials)]
    group = [number for number, c in enumerate(clusters) for _ in range(c.trials)]
    fit = api.OLS(np.array(y), np.ones(len(y))).fit(
        cov_type="cluster",
        cov_kwds={"groups": np.array(group), "use_correction": False},
    )
    variance = fit.bse[0] ** 2 * 5 / 4
    p = sum(y) / len(y)
    assert effective_trials(clusters) == pytest.approx(min(len(y), max(5, p * (1 - p) / variance)))


@given(outcome_lists)
def test_an_estimate_brackets_its_rate(outcomes: list[tuple[str, bool]]) -> None:
    found = estimate(clusters_of(outcomes))
    assert found.trials == len(outcomes)
    assert found.problems == len({name for name, _ in outcomes})
    assert found.problems - 1e-9 <= found.effective <= found.trials + 1e-9
    assert found.low is not None
    assert found.high is not None
    assert found.rate is not None
    assert 0 <= found.low <= found.rate <= found.high <= 1
    assert found.high - found.low > 0


def test_nothing_tried_has_no_rate() -> None:
    found = estimate([Cluster(0, 0)])
    assert (found.trials, found.rate, found.low) == (0, None, None)


def test_variances_split_noise_from_difficulty() -> None:
    assert variances([Cluster(5, 5), Cluster(0, 5)]) == (0.0, 0.5)
    within, between = variances([Cluster(1, 2), Cluster(1, 2), Cluster(1, 2)]) or (0, 1)
    assert (within, between) == (0.5, 0.0)
    assert variances([Cluster(1, 1), Cluster(0, 1)]) is None


def test_sign_flips_are_enumerated_when_there_are_few() -> None:
    assert sign_flip([]) == 1.0
    assert sign_flip([0.0, 0.0]) == 1.0
    assert sign_flip([1.0] * 5) == pytest.approx(2 / 32)
    # with outcomes of one repeat it is McNemar's exact test
    assert sign_flip([1.0] * 7 + [-1.0] * 2 + [0.0] * 5) == pytest.approx(mcnemar_exact(7, 2))


def test_sampled_sign_flips_come_near_the_exact_test() -> None:
    assert sign_flip([1.0] * 14 + [-1.0] * 6) == pytest.approx(mcnemar_exact(14, 6), abs=0.02)
    assert sign_flip([1.0] * 14 + [-1.0] * 6) == sign_flip([1.0] * 14 + [-1.0] * 6)


def test_the_bootstrap_repeats_itself_and_has_the_width_of_the_error() -> None:
    values = [0.0, 0.2, -0.4, 1.0, 0.6, 0.0, 0.2, -0.2, 0.4, 0.8] * 4
    low, high = bootstrap_interval(values)
    assert (low, high) == bootstrap_interval(values)
    mean = math.fsum(values) / len(values)
    error = math.sqrt(sum((v - mean) ** 2 for v in values) / len(values) / len(values))
    assert low == pytest.approx(mean - 1.96 * error, abs=0.02)
    assert high == pytest.approx(mean + 1.96 * error, abs=0.02)
    with pytest.raises(ValueError, match="no problems"):
        bootstrap_interval([])


def test_problems_needed_follow_millers_formula() -> None:
    values = [1.0] * 10 + [-1.0] * 2 + [0.0] * 88
    mean, variance = 0.08, (12 - 100 * 0.08**2) / 99
    expected = math.ceil((1.959964 + 0.841621) ** 2 * variance / mean**2)
    assert problems_needed(values) == expected == 141
    assert problems_needed([1.0, -1.0]) is None
    assert problems_needed([1.0]) is None


def test_the_smallest_difference_shrinks_with_more_problems() -> None:
    assert smallest_difference(0.5, 100) == pytest.approx(
        2.801585 * math.sqrt(0.25 / 100), abs=1e-6
    )
    assert smallest_difference(1.0, 50) > smallest_difference(1.0, 500) > 0
    with pytest.raises(ValueError, match="no trials"):
        smallest_difference(0.5, 0)


@pytest.mark.slow
@pytest.mark.parametrize(
    ("rate", "problems", "repeats", "least"),
    [
        (0.7, 30, 5, 0.92),
        (0.95, 15, 5, 0.90),
        (0.95, 50, 5, 0.88),
        (0.99, 50, 5, 0.93),
        (0.95, 15, 1, 0.93),
    ],
)
def test_intervals_cover_the_truth_as_often_as_they_say(
    rate: float, problems: int, repeats: int, least: float
) -> None:
    draw = random.Random(20260916)
    rounds, covered = 1500, 0
    for _ in range(rounds):
        clusters = []
        for _ in range(problems):
            chance = draw.betavariate(rate, 1 - rate)
            clusters.append(Cluster(sum(draw.random() < chance for _ in range(repeats)), repeats))
        found = estimate(clusters)
        assert found.low is not None
        assert found.high is not None
        covered += found.low <= rate <= found.high
    assert covered / rounds >= least


@pytest.mark.slow
def test_ignoring_repeats_would_cover_far_less() -> None:
    draw = random.Random(1)
    covered = 0
    for _ in range(500):
        successes = 0
        for _ in range(30):
            chance = draw.betavariate(0.7, 0.3)
            successes += sum(draw.random() < chance for _ in range(5))
        low, high = wilson(successes, 150)
        covered += low <= 0.7 <= high
    assert covered / 500 < 0.85
