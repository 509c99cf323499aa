"""Each fault of a service, to the end of the problem that meets it: its outcome, and the account."""

from __future__ import annotations

import pytest
from loop_support import PROBLEM, PlayedSession

from scisolve_batch.agent.loop import solve
from scisolve_batch.model.budget import Allowance, Cap, Ledger
from scisolve_batch.model.retry import PAID_KINDS
from scisolve_batch.records import Limits, StopReason

# What the service does, over and over: how the problem ends, and the kind of its failure.
OUTCOMES = {
    # whole replies without a call: one nudge, then the end
    **dict.fromkeys(("ok", "s-ok", "s-unknown-event", "s-unknown-block", "200-new-block"),
                    ("no_tool_calls", None)),
    # whole calls: the same again and again, with good and with bad arguments
    **dict.fromkeys(("s-tool", "s-tool-none", "s-tool-bigint"), ("stuck", None)),
    "s-tool-trunc": ("truncated", None),
    "400-long": ("context", "too_long"),
    **{name: ("model_error", kind) for kind, names in {
        "overloaded": ("529", "200-error", "s-error", "s-error-first"),
        "rate_limit": ("429", "429-ra3600", "429-ramp"),
        "spend_limit": ("429-spent", "400-spent"),
        "server": ("500", "500-noretry", "409", "502-html", "503"),
        "invalid": ("400",), "billing": ("400-credit", "402"), "auth": ("401",),
        "permission": ("403", "403-html"), "not_found": ("404",), "too_large": ("413",),
        "timeout": ("408", "hang", "s-stall"), "connection": ("drop",),
        "stream_cut": ("200-empty", "s-eof", "s-cut", "s-rst", "s-empty", "s-no-stop"),
        "bad_reply": (
            "200-html", "200-cut-json", "200-missing", "s-bad-json", "s-not-utf8", "s-wrong-index",
            "s-tool-cut-unsaid", "s-tool-invalid", "s-tool-control", "s-tool-list", "s-tool-nan",
            "s-tool-1e400",
        ),
    }.items() for name in names},
}  # fmt: skip

PASSING = {"429-ra1": 1, "529": 2, "s-eof": 1, "hang": 1, "drop": 2}
"""Faults that pass, and how often they come first."""

ELSEWHERE = {"s-drip"}
"""Ends only by real time: `test_a_reply_that_drips_for_ever_is_given_up`."""


@pytest.fixture
def work(server, live, time):
    """Solve a problem with this service; the solution, its allowance and the run's ledger."""

    def run(*plan, short=0.15):
        server.play(*plan)
        ledger = Ledger(Cap(tokens=10**9))
        allowance = Allowance(Cap(tokens=10**8), "claude-haiku-5-5")
        spent = []
        model = live(read_s=server.patience(*plan, short=short))
        solution = solve(
            PROBLEM,
            model=model,
            session=PlayedSession(*["x = 42.5\n"] * 9),
            limits=Limits(problem_s=1e7),
            allowance=allowance,
            observe=lambda event: spent.append(getattr(event, "spend", None)),
            now=time.now,
        )
        for one in filter(None, spent):
            ledger.record("p", one)
        return solution, allowance, ledger

    return run


@pytest.mark.parametrize("behaviour", OUTCOMES)
def test_each_fault_ends_in_its_outcome_and_nothing_is_unaccounted_for(behaviour, server, work):
    solution, allowance, ledger = work(behaviour)
    stop_reason, kind = OUTCOMES[behaviour]
    failure = solution.failure
    assert (str(solution.stop_reason), failure.kind if failure else None) == (stop_reason, kind)

    told = sum(turn.attempts for turn in solution.turns)
    failed = len(server.requests) - told
    assert failed >= 0 and (failed > 0) == (failure is not None)
    assert solution.usage.total == sum(turn.usage.total for turn in solution.turns)
    assert solution.answer is None and not solution.grounded
    if kind in PAID_KINDS:
        assert allowance.spent.tokens > solution.usage.total, (
            "what may have been charged is counted"
        )
    else:
        assert allowance.spent.tokens == ledger.spent.tokens == solution.usage.total


@pytest.mark.parametrize("behaviour", PASSING)
def test_a_fault_that_passes_costs_attempts_and_no_turn(behaviour, server, work):
    times = PASSING[behaviour]
    solution, allowance, ledger = work(
        *[behaviour] * times,
        server.call("run_python", code="print(x)"),
        server.call(
            "finish_solution",
            answer="x = 42.5",
            verification={"kind": "analytic", "description": "by hand", "evidence_cell": 1},
            values=[{"name": "x", "value": "42.5"}],
        ),
        short=2.0,  # the replies after it must not be taken for silence
    )
    assert solution.stop_reason is StopReason.FINISHED and solution.grounded and solution.correct
    assert [turn.attempts for turn in solution.turns] == [times + 1, 1]
    assert len(server.requests) == times + 2
    assert len(solution.cells) == 1
    assert allowance.spent == ledger.spent


def test_every_fault_that_the_service_can_play_has_an_outcome(server):
    assert OUTCOMES.keys() | PASSING.keys() | ELSEWHERE == set(server.behaviours())
