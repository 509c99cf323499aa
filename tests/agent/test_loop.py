"""What a problem's loop does with everything a model can say, with sessions and models played."""

import itertools
import json

import pytest
from loop_support import CHECK, GOOD, PROBLEM, Clock, PlayedSession, play, results

from scisolve_batch.agent import prompt, tools
from scisolve_batch.errors import ModelError, SessionError
from scisolve_batch.model.base import Reply
from scisolve_batch.model.scripted import ScriptedModel, ScriptedTurn, finish, run_python, text
from scisolve_batch.records import (
    Cell,
    CellStatus,
    CertifiedValue,
    GroundingVerdict,
    Limits,
    Problem,
    SessionState,
    StopReason,
    Usage,
)


def test_a_printed_answer_is_finished_grounded_verified_and_correct():
    solution, messages, _ = play(run_python("print(x)"), GOOD)
    assert solution.stop_reason is StopReason.FINISHED
    assert solution.finished and solution.grounded and solution.verified and solution.correct
    assert [message["role"] for message in messages] == ["user", "assistant"] * 2 + ["user"]
    assert not solution.refusals


def test_an_unsupported_number_goes_back_once_named_and_is_then_recorded_as_it_is():
    wrong = finish("x = 43.5", verification=CHECK, values=[{"name": "x", "value": "43.5"}])
    solution, messages, _ = play(run_python("print(x)"), wrong, wrong)
    assert solution.finished and not solution.grounded
    assert "43.5" in solution.ungrounded
    assert len(solution.refusals) == 2 and "43.5" in solution.refusals[0]
    assert solution.correct is False
    first, second = list(results(messages).values())[-2:]
    assert first["is_error"] and "43.5" in first["content"]
    assert second["content"] == prompt.RECORDED


def test_a_refused_answer_that_is_corrected_is_accepted():
    wrong = finish("x = 43.5", verification=CHECK)
    solution, _, _ = play(run_python("print(x)"), wrong, GOOD)
    assert solution.grounded and len(solution.refusals) == 1


def test_a_wrong_digit_in_the_values_alone_is_found():
    sly = finish("x is as computed", verification=CHECK, values=[{"name": "x", "value": "43.7"}])
    solution, _, _ = play(run_python("print(x)"), sly, sly)
    assert not solution.grounded and solution.ungrounded == ("43.7",)
    assert solution.grounding.literals[-1].where == "values[x]"


def test_an_invalid_verification_is_never_verified_even_when_it_is_recorded():
    bad = finish("x = 42.5", verification={**CHECK, "evidence_cell": 7})
    solution, _, _ = play(run_python("print(x)"), bad, bad)
    assert solution.finished and solution.grounded and not solution.verified
    assert "7" in solution.verification.reason


def test_an_answer_with_no_successful_cell_is_never_grounded_even_without_numbers():
    words = finish("It converges.", verification=CHECK)
    solution, _, _ = play(words, words)
    assert solution.finished and not solution.grounded
    assert solution.grounding.verdict is GroundingVerdict.NOTHING_COMPUTED


def test_output_of_a_failed_cell_supports_nothing():
    failed = Cell(index=1, stdout="x = 42.5\n", status=CellStatus.ERROR, traceback="Boom")
    solution, _, _ = play(run_python("print(x); 1/0"), GOOD, GOOD, session=PlayedSession(failed))
    assert solution.grounding.verdict is GroundingVerdict.NOTHING_COMPUTED


@pytest.mark.parametrize("empty", ["", "  \n"])
def test_an_empty_answer_goes_back_and_is_never_grounded(empty):
    solution, _, _ = play(run_python("print(x)"), *[finish(empty, verification=CHECK)] * 2)
    assert solution.finished and not solution.grounded


def test_two_turns_in_a_row_without_a_call_end_the_work_after_one_nudge():
    solution, messages, _ = play(text("Hm."), text("Hm again."))
    assert solution.stop_reason is StopReason.NO_TOOL_CALLS
    assert [m["content"] for m in messages if m["content"] == prompt.NUDGE] == [prompt.NUDGE]


def test_silence_counts_only_in_a_row():
    solution, _, _ = play(text("Hm."), run_python("print(x)"), text("Hm."), GOOD)
    assert solution.finished


def test_an_empty_reply_is_silence_and_never_sent_back():
    solution, messages, _ = play(ScriptedTurn(), ScriptedTurn())
    assert solution.stop_reason is StopReason.NO_TOOL_CALLS
    assert all(message["content"] for message in messages)


def test_the_turns_run_out():
    turns = [run_python(f"print({n})") for n in range(9)]
    solution, _, session = play(*turns, limits=Limits(max_turns=3))
    assert solution.stop_reason is StopReason.MAX_TURNS
    assert len(session.codes) == len(solution.turns) == 3


def test_an_answer_refused_before_the_turns_ran_out_is_kept_but_not_finished():
    wrong = finish("x = 43.5", verification=CHECK)
    solution, _, _ = play(run_python("print(x)"), wrong, limits=Limits(max_turns=2))
    assert solution.stop_reason is StopReason.MAX_TURNS
    assert solution.answer == "x = 43.5" and not solution.finished and not solution.grounded


def test_the_tokens_run_out():
    costly = ScriptedTurn(
        calls=(("run_python", {"code": "print(1)"}),),
        usage=Usage(input_tokens=400, output_tokens=200),
    )
    solution, _, _ = play(*[costly] * 5, limits=Limits(max_tokens=1000))
    assert solution.stop_reason is StopReason.BUDGET
    assert solution.usage == Usage(input_tokens=800, output_tokens=400)


def test_the_seconds_run_out_and_waits_for_the_service_do_not_count():
    clock = Clock()

    def slow(request):
        clock.time += 8.0
        return Reply(
            content=[{"type": "tool_use", "id": f"t{clock.time}", "name": "run_python",
                      "input": {"code": f"print({clock.time})"}}],
            stop_reason="tool_use",
            wait_s=4.0,
        )  # fmt: skip

    solution, _, _ = play(ScriptedModel(slow), limits=Limits(problem_s=10.0), now=clock)
    assert solution.stop_reason is StopReason.TIME_LIMIT
    assert len(solution.turns) == 3  # 12 s of work in 24 s
    assert solution.wait_s == 12.0 and solution.duration_s == 24.0


def test_the_same_call_with_the_same_result_three_times_is_stuck():
    turns = [run_python("1/0"), run_python("print(2)"), run_python("1/0"), run_python("1/0")]
    booms = [
        Cell(
            index=number,
            status=CellStatus.ERROR,
            traceback=f'File "<cell {number}>", line 1\nZeroDivisionError',
        )
        for number in (1, 3, 4)
    ]
    session = PlayedSession(booms[0], "2\n", *booms[1:])
    solution, messages, _ = play(*turns, session=session)
    assert solution.stop_reason is StopReason.STUCK
    assert list(results(messages).values())[-1]["content"] == prompt.STUCK


def test_the_same_code_with_other_results_is_progress():
    turns = [run_python("step()")] * 4
    outputs = [f"{n}\n" for n in range(3)]
    solution, _, _ = play(*turns, GOOD, session=PlayedSession(*outputs, "x = 42.5\n"))
    assert solution.finished


def test_a_refusal_is_its_own_end():
    solution, _, _ = play(ScriptedTurn(text="I cannot.", stop_reason="refusal"))
    assert solution.stop_reason is StopReason.REFUSAL
    assert solution.failure.message == "I cannot."


def test_a_cut_reply_is_never_executed_and_a_second_one_ends_the_work():
    cut = ScriptedTurn(calls=(("run_python", {}),), stop_reason="max_tokens")
    solution, messages, session = play(cut, cut)
    assert solution.stop_reason is StopReason.TRUNCATED and not session.codes
    assert results(messages)["toolu_script_01_1"]["content"] == prompt.NOT_RUN_CUT


def test_after_a_cut_reply_a_whole_one_goes_on():
    cut = ScriptedTurn(text="Let me thi", stop_reason="max_tokens")
    solution, messages, _ = play(cut, run_python("print(x)"), cut, GOOD)
    assert solution.finished
    assert sum(message["content"] == prompt.CUT for message in messages) == 2


def test_a_full_context_is_its_own_end_however_the_service_says_it():
    full = ScriptedTurn(text="...", stop_reason="model_context_window_exceeded")
    assert play(full)[0].stop_reason is StopReason.CONTEXT
    error = ModelError("prompt is too long", kind="too_long")
    assert play(error)[0].stop_reason is StopReason.CONTEXT


def test_a_pause_goes_back_as_it_is():
    pause = ScriptedTurn(text="(searching)", stop_reason="pause_turn")
    solution, messages, _ = play(pause, run_python("print(x)"), GOOD)
    assert solution.finished
    assert [message["role"] for message in messages[:3]] == ["user", "assistant", "assistant"]


def test_a_service_that_fails_for_good_is_a_record_with_its_kind():
    solution, _, _ = play(run_python("print(x)"), ModelError("no credit", kind="billing"))
    assert solution.stop_reason is StopReason.MODEL_ERROR
    assert (solution.failure.kind, solution.failure.message) == ("billing", "no credit")
    assert len(solution.cells) == 1


def test_a_script_at_its_end_says_so():
    solution, _, _ = play(run_python("print(x)"))
    assert solution.stop_reason is StopReason.MODEL_ERROR
    assert solution.failure.kind == "script_exhausted"
    assert "1 turn" in solution.failure.message


def test_a_session_that_cannot_be_had_is_a_record_and_the_call_has_its_result():
    session = PlayedSession(SessionError("no process"))
    solution, messages, _ = play(run_python("print(x)"), GOOD, session=session)
    assert solution.stop_reason is StopReason.SESSION_LOST
    assert results(messages)["toolu_script_01_1"]["content"] == "no process"


def test_a_call_in_a_reply_that_did_not_end_with_it_is_not_run():
    odd = ScriptedTurn(calls=(("run_python", {"code": "print(1)"}),), stop_reason="end_turn")
    solution, messages, session = play(odd, run_python("print(x)"), GOOD)
    assert solution.finished and session.codes == ["print(x)"]
    assert results(messages)["toolu_script_01_1"]["content"] == prompt.NOT_RUN_ENDED


def test_all_results_of_a_turn_are_in_one_message_one_per_call():
    both = ScriptedTurn(
        calls=(
            ("run_python", {"code": "print(x)"}),
            ("finish_solution", {"answer": "x = 1.25", "verification": CHECK}),
            ("finish_solution", {"answer": "x = 42.5", "verification": CHECK}),
            ("launch", {}),
        )
    )
    solution, messages, _ = play(both, GOOD)
    blocks = messages[2]["content"]
    assert [block["tool_use_id"] for block in blocks] == [f"toolu_script_01_{n}" for n in (1, 2, 3, 4)]  # fmt: skip
    assert blocks[2]["content"] == prompt.NOT_RUN_REFUSED
    assert "no tool 'launch'" in blocks[3]["content"]
    assert solution.grounded and len(solution.refusals) == 1


def test_calls_after_an_accepted_answer_are_answered_but_not_run():
    last = ScriptedTurn(
        calls=(
            ("finish_solution", {"answer": "x = 42.5", "verification": CHECK}),
            ("run_python", {"code": "print(9)"}),
        )
    )
    solution, messages, session = play(run_python("print(x)"), last)
    assert solution.finished and session.codes == ["print(x)"]
    final = messages[-1]["content"]
    assert [block["content"] for block in final] == [prompt.ACCEPTED, prompt.NOT_RUN_REPORTED]


@pytest.mark.parametrize(
    ("arguments", "message"),
    [
        ({}, "received: nothing"),
        ({"cod": "1"}, "received: cod"),
        ({"code": 5}, "received: code"),
        ({"code": "  "}, "is empty"),
        ("nonsense", "must be an object"),
        (None, "must be an object"),
    ],
)
def test_a_call_without_code_says_what_to_send(arguments, message):
    odd = ScriptedTurn(calls=(("run_python", arguments),))
    solution, messages, session = play(odd, run_python("print(x)"), GOOD)
    assert message in results(messages)["toolu_script_01_1"]["content"]
    assert session.codes == ["print(x)"] and solution.finished


def test_arguments_that_arrive_as_their_json_text_are_read():
    call = ScriptedTurn(calls=(("run_python", json.dumps({"code": "print(x)"})),))
    end = finish(
        "x = 42.5",
        verification=None,
        values=json.dumps([{"name": "x", "value": 42.5}]),
    )
    end.calls[0][1]["verification"] = json.dumps({**CHECK, "evidence_cell": "1"})
    solution, _, _ = play(call, end)
    assert solution.verified and solution.correct
    assert solution.values[0].value == "42.5"


def test_values_may_be_a_mapping_of_names():
    read = tools.read_finish({"answer": "a", "values": {"x": "1.50", "n": 3}})
    assert [(value.name, value.value) for value in read.values] == [("x", "1.50"), ("n", "3")]


@pytest.mark.parametrize("values", [5, [5], [{"name": "x"}], "x = 5"])
def test_values_of_another_shape_are_explained(values):
    with pytest.raises(tools.ArgumentError, match="values"):
        tools.read_finish({"answer": "a", "values": values})


def test_what_a_cell_did_to_the_session_is_told():
    lost = Cell(
        index=1,
        status=CellStatus.HARD_TIMEOUT,
        state=SessionState.LOST,
        note="The cell was killed after 30 s.",
        stack="in svd",
    )
    _, messages, _ = play(run_python("svd()"), GOOD, GOOD, session=PlayedSession(lost))
    told = results(messages)["toolu_script_01_1"]
    assert told["is_error"]
    for words in ("killed after 30 s", "All variables are gone", "in svd", "(nothing printed)"):
        assert words in told["content"]


def test_output_that_is_only_white_space_never_becomes_an_empty_block():
    _, messages, _ = play(run_python("print()"), GOOD, GOOD, session=PlayedSession(" \n\n"))
    assert "(nothing printed)" in results(messages)["toolu_script_01_1"]["content"]


def test_a_lone_surrogate_never_leaves_for_the_service():
    odd = Cell(index=1, stdout="x = 42.5 \ud83d\n")
    solution, messages, session = play(
        run_python("print('\ud83d')"), GOOD, session=PlayedSession(odd)
    )
    assert solution.finished
    json.dumps(results(messages), ensure_ascii=False).encode("utf-8")
    session.codes[0].encode("utf-8")


def test_the_solver_is_shown_names_and_units_but_never_a_certified_value():
    problem = Problem(
        id="p",
        statement="How fast?",
        values=(CertifiedValue(name="v", value="3.1415926", unit="m/s", report_digits=6),),
        traps=("the careless get 2.71828",),
    )
    shown = prompt.problem_message(problem) + prompt.system_prompt(Limits())
    assert "v, in m/s, 6 significant digits" in shown
    assert "3.14159" not in shown and "2.71828" not in shown


def test_a_problems_own_limits_go_before_the_runs():
    problem = PROBLEM.model_copy(
        update={"limits": PROBLEM.limits.model_copy(update={"max_turns": 1})}
    )
    solution, _, _ = play(run_python("print(x)"), GOOD, problem=problem)
    assert solution.stop_reason is StopReason.MAX_TURNS


def test_the_conversation_only_grows():
    seen = []

    def ask(request):
        seen.append([json.dumps(message, sort_keys=True) for message in request.messages])
        return [run_python("print(x)"), text("Hm."), GOOD][len(seen) - 1]

    play(ScriptedModel(ask))
    for earlier, later in itertools.pairwise(seen):
        assert later[: len(earlier)] == earlier


def test_cell_results_hold_no_times():
    cell = Cell(index=1, stdout="x\n", wall_s=1.2345, cpu_s=6.789)
    assert "1.23" not in prompt.cell_result(cell) and "6.78" not in prompt.cell_result(cell)


def test_a_reply_that_promises_a_call_and_holds_none_is_silence():
    promise = ScriptedTurn(text="Let me run it.", stop_reason="tool_use")
    solution, messages, _ = play(promise, run_python("print(x)"), GOOD)
    assert solution.finished
    assert messages[2]["content"] == prompt.NUDGE
    assert all(message["content"] for message in messages)


def test_what_the_model_said_goes_back_as_it_was_with_nothing_added():
    def ask(request):
        seen.append(request.messages)
        return replies[len(seen) - 1]

    seen = []
    replies = [
        ScriptedTurn(text="First.", calls=(("run_python", {"code": "print(x)"}),)),
        ScriptedTurn(text="Then.", calls=(("finish_solution", {"answer": "x = 1.25", "verification": CHECK}),)),
        GOOD,
    ]  # fmt: skip
    play(ScriptedModel(ask))
    for number, reply in enumerate(replies[:2], 1):
        said = seen[-1][2 * number - 1]
        assert said == {"role": "assistant", "content": reply.reply(number).content}
