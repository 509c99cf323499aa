from __future__ import annotations

from pathlib import Path

from scisolve_batch.agent.single import Agent
from scisolve_batch.executor import Template
from scisolve_batch.model import Credentials, open_model
from scisolve_batch.records import StopReason

QUESTION = "Compute the determinant of [[4, 7], [2, 6]]."
FIRST = "print('det is', 4 * 6 - 7 * 2)"
SECOND = "print('by elimination', 4 * (6 - 7 * 2 / 4))\nprint(chr(0xD83D))"
CHECK = {"kind": "independent_method", "description": "elimination", "evidence_cell": 2}


def test_a_recorded_solve_is_replayed_to_the_same_solution(server, tmp_path: Path) -> None:
    """Through the SDK, with faults on the way and a lone surrogate in a cell's output."""
    server.play(
        "529",
        server.call("run_python", code=FIRST),
        "s-cut",
        server.call("run_python", code=SECOND),
        server.call("finish_solution", answer="It is 10.", verification=CHECK, values=[]),
    )
    key = Credentials(api_key="key-of-the-solve", base_url=server.url)
    model = open_model("some-model", credentials=key, record=tmp_path, problem="det")
    with Template.start() as template, template.connect() as source:
        lived = Agent(model=model, source=source).solve(QUESTION)
        model.close()
        replay = open_model(f"replay:{tmp_path}", problem="det")
        again = Agent(model=replay, source=source).solve(QUESTION)
        replay = open_model(f"replay:{tmp_path}", problem="det")
        other = Agent(model=replay, source=source).solve("Another question.")

    assert (lived.stop_reason, lived.answer) == (StopReason.FINISHED, "It is 10.")
    assert lived.grounded
    assert lived.verified
    assert [turn.errors for turn in lived.turns] == [("overloaded",), ("stream_cut",), ()]
    assert again.answer == lived.answer
    assert again.grounding == lived.grounding
    assert [cell.stdout for cell in again.cells] == [cell.stdout for cell in lived.cells]
    assert [turn.usage for turn in again.turns] == [turn.usage for turn in lived.turns]
    assert [turn.errors for turn in again.turns] == [turn.errors for turn in lived.turns]

    assert other.stop_reason is StopReason.MODEL_ERROR
    assert other.failure is not None
    assert "messages[0].content" in other.failure.message
