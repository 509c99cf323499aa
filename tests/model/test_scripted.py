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
        ("", None, "a script is a list of turns"),
        ("run_python: print(1)", None, "a script is a list of turns"),
        ("- run_python: a\n- python: b", 2, "unknown key 'python'"),
        ("- run_python: a\n- {run_python: b, finish_solution: {}}", 2, "stand side by side"),
        ("- stop_reason: end_turn", 1, "says and calls nothing"),
        ("- just words", 1, "a turn is a mapping"),
        ("- text: 3", 1, "text is not a string"),
        ("- run_python: 3", 1, "run_python is not the code"),
        ("- finish_solution: done", 1, "finish_solution is not a mapping"),
        ("- calls: {run_python: a}", 1, "calls is not a list"),
        ("- calls:\n  - {run_python: a, finish_solution: {}}", 1, "a mapping with one key"),
        ("- {text: a, usage: {tokens: 3}}", 1, "usage is a mapping"),
        ("- {text: a, usage: {input_tokens: -3}}", 1, "not a count of tokens"),
        ("- {text: a, stop_reason: 7}", 1, "stop_reason is not a string"),
        ("- run_python: a\n- text: [", 2, "is not YAML"),
    ],
)
def test_a_wrong_script_is_named_with_its_line(
    tmp_path: Path, script: str, line: int | None, words: str
) -> None:
    path = tmp_path / "wrong.yaml"
    path.write_text(script)
    with pytest.raises(SuiteError) as caught:
        ScriptedModel.from_file(path)
    assert words in str(caught.value)
    assert str(caught.value).startswith(f"{path}:{line}:" if line else f"{path}:")


def test_a_missing_script_is_a_suite_error(tmp_path: Path) -> None:
    with pytest.raises(SuiteError, match=r"none\.yaml: cannot be read: No such file"):
        ScriptedModel.from_file(tmp_path / "none.yaml")


def test_a_turn_with_text_and_call_keeps_their_order() -> None:
    reply = ScriptedTurn(text="now", calls=(("run_python", {"code": "1"}),)).reply(3)
    assert [block["type"] for block in reply.content] == ["text", "tool_use"]
