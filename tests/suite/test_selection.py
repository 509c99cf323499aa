import pytest

from scisolve_batch.errors import UsageError
from scisolve_batch.records import Limits, Problem, SuiteRef
from scisolve_batch.suite import Suite, select

PROBLEMS = tuple(
    Problem(id=name, statement="s", domain=domain, difficulty=level, tags=tags)
    for name, domain, level, tags in [
        ("nist-a", "fit", 1, ("nist", "easy")),
        ("nist-b", "fit", 3, ("nist",)),
        ("ode-a", "ode", 4, ("stiff",)),
        ("ode-b", "ode", 5, ()),
        ("sum-a", "series", None, ("easy",)),
    ]
)
SUITE = Suite(SuiteRef(id="s", digest="d"), PROBLEMS, Limits())


def chosen(**conditions):
    return [problem.id for problem in select(SUITE, **conditions).problems]


@pytest.mark.parametrize(
    ("conditions", "ids"),
    [
        ({}, ["nist-a", "nist-b", "ode-a", "ode-b", "sum-a"]),
        ({"ids": ["nist-*"]}, ["nist-a", "nist-b"]),
        ({"ids": ["sum-a", "nist-a"]}, ["nist-a", "sum-a"]),
        ({"ids": ["!nist-*"]}, ["ode-a", "ode-b", "sum-a"]),
        ({"ids": ["nist-*", "!*-b"]}, ["nist-a"]),
        ({"domains": ["ode", "series"]}, ["ode-a", "ode-b", "sum-a"]),
        ({"tags": ["easy"]}, ["nist-a", "sum-a"]),
        ({"tags": ["!nist"]}, ["ode-a", "ode-b", "sum-a"]),
        ({"difficulty": "4-5"}, ["ode-a", "ode-b"]),
        ({"difficulty": "3"}, ["nist-b"]),
        ({"first": 2}, ["nist-a", "nist-b"]),
        ({"shard": "1/2"}, ["nist-a", "ode-a", "sum-a"]),
        ({"shard": "2/2"}, ["nist-b", "ode-b"]),
        ({"shard": "6/6"}, []),
        ({"domains": ["fit"], "tags": ["easy"], "difficulty": "1-5"}, ["nist-a"]),
    ],
)
def test_every_condition_must_be_met(conditions, ids):
    assert chosen(**conditions) == ids


@pytest.mark.parametrize(
    ("conditions", "message"),
    [
        ({"ids": ["nits-a"]}, "no problem of the suite matches `nits-a`; did you mean `nist-a`?"),
        ({"ids": ["x*"]}, "no problem of the suite matches `x*`; there are: nist-a,"),
        ({"domains": ["odes"]}, "no domain of the suite matches `odes`; did you mean `ode`?"),
        ({"tags": ["!nits"]}, "no tag of the suite matches `nits`; did you mean `nist`?"),
        ({"difficulty": "9"}, "difficulty `9`: write a level from 1 to 5, or a range like 4-5"),
        ({"difficulty": "5-4"}, "the range is empty; write 4-5"),
        ({"shard": "0/4"}, "shard `0/4`: write part/parts, from 1/4 to 4/4"),
        ({"shard": "half"}, "shard `half`: write part/parts"),
        ({"first": 0}, "first must be at least 1, not 0"),
        ({"sample": -1}, "sample must be at least 1, not -1"),
        ({"domains": ["ode"], "tags": ["nist"]}, "no problem of the suite `s` meets all the"),
    ],
)
def test_a_condition_that_names_nothing_is_refused(conditions, message):
    with pytest.raises(UsageError) as caught:
        select(SUITE, **conditions)
    assert message in str(caught.value)


def test_a_sample_depends_on_its_seed_and_on_nothing_else():
    drawn = [tuple(chosen(sample=3, seed=seed)) for seed in range(20)]
    assert drawn == [tuple(chosen(sample=3, seed=seed)) for seed in range(20)]
    assert len(set(drawn)) > 3
    reordered = Suite(SUITE.ref, PROBLEMS[::-1], Limits())
    assert {p.id for p in select(reordered, sample=3, seed=7).problems} == set(drawn[7])


def test_shards_cover_everything_once():
    parts = [chosen(shard=f"{i}/3") for i in (1, 2, 3)]
    assert sorted(name for part in parts for name in part) == sorted(
        problem.id for problem in PROBLEMS
    )


def test_choosing_keeps_the_suites_digest():
    assert select(SUITE, first=1).ref == SUITE.ref
