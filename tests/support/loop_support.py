"""Played sessions and models for tests of the loop."""

from scisolve_batch.agent import events
from scisolve_batch.agent.loop import solve
from scisolve_batch.model.scripted import ScriptedModel, finish
from scisolve_batch.records import Cell, CertifiedValue, Problem

PROBLEM = Problem(
    id="p",
    statement="What is the value?",
    values=(CertifiedValue(name="x", value="42.5", rtol=1e-6),),
)


class PlayedSession:
    """Prints what it is told to, cell by cell."""

    def __init__(self, *outputs):
        self.outputs, self.codes = list(outputs), []

    def run(self, code):
        self.codes.append(code)
        output = self.outputs.pop(0) if self.outputs else "x = 42.5\n"
        if isinstance(output, Exception):
            raise output
        if isinstance(output, Cell):
            return output.model_copy(update={"index": len(self.codes), "code": code})
        return Cell(index=len(self.codes), code=code, stdout=output)

    def close(self):
        pass


class Clock:
    def __init__(self):
        self.time = 0.0

    def __call__(self):
        return self.time


CHECK = {"kind": "analytic", "description": "by hand", "evidence_cell": 1}
GOOD = finish("x = 42.5", verification=CHECK, values=[{"name": "x", "value": "42.5"}])


def play(*turns, session=None, problem=PROBLEM, **options):
    heard = []
    session = session or PlayedSession()
    model = turns[0] if isinstance(turns[0], ScriptedModel) else ScriptedModel(turns)
    solution = solve(
        problem, model=model, session=session, grounding="flat", observe=heard.append, **options
    )
    return solution, [e.message for e in heard if isinstance(e, events.MessageAdded)], session


def results(messages):
    """All tool results of a conversation, by call id."""
    return {
        block["tool_use_id"]: block
        for message in messages
        if isinstance(message["content"], list)
        for block in message["content"]
        if block["type"] == "tool_result"
    }
