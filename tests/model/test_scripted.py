from __future__ import annotations

from pathlib import Path

import pytest

from scisolve_batch.errors import ModelError, SuiteError
from scisolve_batch.model import Reply, Request, ScriptedModel, finish, run_python, text
from scisolve_batch.model.scripted import ScriptedTurn
from scisolve_batch.records import Usage

SCRIPT = """
- text: First compute.
  run_python: |
    x = 2
    print(x)
- calls:
    - run_python: print(x + 1)
    - finish_solution: {answer: "3", values: {x: "3"}}
  usage: {input_tokens: 10, output_tokens: 4}
- text: I cannot
  stop_reason: max_tokens
- finish_solution:
    answer: "It is 3."
    verification: {kind: analytic, description: by hand, evidence_cell: 1}
"""


def play(model: ScriptedModel, question: Request, turns: int) -> list[Reply]:
    return [model.reply(question) for _ in range(turns)]


def test_a_file_is_played_turn_by_turn(tmp_path: Path, question: Request) -> None:
    path = tmp_path / "solution.yaml"
    path.write_text(SCRIPT)
    one, two, three, four = play(ScriptedModel.from_file(path), question, 4)
    assert one.text == "First compute."
    assert [call["input"] for call in one.tool_calls] == [{"code": "x = 2\nprint(x)\n"}]
    assert [call["name"] for call in two.tool_calls] == ["run_python", "finish_solution"]
    assert two.usage == Usage(input_tokens=10, output_tokens=4)
    assert (three.stop_reason, three.tool_calls) == ("max_tokens", [])
    assert four.tool_calls[0]["input"]["verification"]["evidence_cell"] == 1
    assert [r.stop_reason for r in (one, two, four)] == ["tool_use"] * 3


def test_ids_are_the_same_every_time_and_unique(tmp_path: Path, question: Request) -> None:
    path = tmp_path / "solution.yaml"
    path.write_text(SCRIPT)
    ids = [
        [call["id"] for reply in play(ScriptedModel.from_file(path), question, 4) for call in reply.tool_calls]
        for _ in range(2)
    ]  # fmt: skip
    assert ids[0] == ids[1]
    assert len(set(ids[0])) == 4


def test_the_builders_make_the_same_turns(question: Request) -> None:
    checked = {"kind": "analytic"}
    turns = [run_python("print(1)"), text("Hm."), finish("1", verification=checked, values={"a": "1"})]  # fmt: skip
    one, two, three = play(ScriptedModel(turns), question, 3)
    assert one.tool_calls[0]["input"] == {"code": "print(1)"}
    assert (two.text, two.stop_reason) == ("Hm.", "end_turn")
    assert three.tool_calls[0]["input"] == {
        "answer": "1",
        "verification": {"kind": "analytic"},
        "values": {"a": "1"},
    }
    assert finish("1").calls[0][1] == {"answer": "1"}
    short = finish("1", verification=("analytic", "by hand", 2)).calls[0][1]["verification"]
    assert short == {"kind": "analytic", "description": "by hand", "evidence_cell": 2}


def test_replies_and_failures_can_be_scripted(question: Request) -> None:
    reply = Reply(content=[], stop_reason="refusal")
    model = ScriptedModel([reply, ModelError("down", kind="overloaded")])
    assert model.reply(question) is reply
    with pytest.raises(ModelError, match="down"):
        model.reply(question)


def test_a_function_can_answer(question: Request) -> None:
    model = ScriptedModel(lambda asked: text(f"{len(asked.messages)} messages"), name="echo")
    assert model.reply(question).text == "1 messages"
    assert model.name == "echo"


def test_an_exhausted_script_names_itself_and_its_length(tmp_path: Path, question: Request) -> None:
    path = tmp_path / "short.yaml"
    path.write_text("- run_python: print(1)\n")
    model = ScriptedModel.from_file(path)
    model.reply(question)
    with pytest.raises(
        ModelError, match=r"short\.yaml has 1 turn, and reply 2 was asked"
    ) as caught:
        model.reply(question)
    assert (caught.value.kind, caught.value.retryable) == ("script_exhausted", False)
    with pytest.raises(ModelError, match="the script demo has 0 turns"):
        ScriptedModel([], name="demo").reply(question)


@pytest.mark.parametrize(
    ("script", "line", "words"),
    [
        ("run_python: print(1)", 1, "a script is a list of turns"),
        (
            "- run_python: a\n- run_pyton: b",
            2,
            "[1].run_pyton: unknown key; did you mean `run_python`?",
        ),
        ("- run_python: a\n- {exec: b}", 2, "unknown key; a turn has `text`, `run_python`"),
        ("- run_python: a\n- {run_python: b, finish_solution: {}}", 2, "stand side by side"),
        ("- stop_reason: end_turn", 1, "says and calls nothing"),
        ("- just words", 1, "a turn is a mapping"),
        ("-\n  run_python: a\n  text: 3", 3, "[0].text: must be text"),
        ("- run_python: 3", 1, "must be text, the code"),
        ("- finish_solution: done", 1, "must be a mapping with the answer"),
        ("- calls: {run_python: a}", 1, "must be a list of calls"),
        ("- calls:\n  - {run_python: a, finish_solution: {}}", 2, "a mapping with one key"),
        ("- calls:\n  - run_python: a\n  - finish_solution: 1", 3, "[0].calls[1].finish_solution"),
        ("- {text: a, usage: {tokens: 3}}", 1, "must be a mapping with `input_tokens`"),
        ("- {text: a, usage: {input_tokens: -3}}", 1, "must hold counts of tokens"),
        ("- {text: a, stop_reason: 7}", 1, "must be text, like max_tokens"),
        ("- run_python: a\n- text: a: b", 2, "stands where no key can"),
        ("- run_python: a\n  run_python: b", 2, "stands twice"),
    ],
)
def test_a_wrong_script_is_named_with_its_line(
    tmp_path: Path, script: str, line: int, words: str
) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(script)
    with pytest.raises(SuiteError) as caught:
        ScriptedModel.from_file(path)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{path}:{line}:")


def test_a_missing_script_is_a_suite_error(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"none\.yaml: no such file"):
        ScriptedModel.from_file(tmp_path / "none.yaml")


def test_a_turn_with_text_and_call_keeps_their_order() -> None:
    reply = ScriptedTurn(text="now", calls=(("run_python", {"code": "1"}),)).reply(3)
    assert [block["type"] for block in reply.content] == ["text", "tool_use"]
