"""Failures that users of other loops reported in public, each with the tests that keep it out.

The table is read by people; the test below keeps it from naming what is not there.
"""

import re
from functools import cache
from pathlib import Path

import pytest

ROOT = Path(__file__).parents[2]
LOOP, LIVE, ASSEMBLE, WIRE, RETRY = (
    "agent/test_loop.py", "model/test_live.py", "model/test_assemble.py", "model/test_wire.py",
    "model/test_retry.py",
)  # fmt: skip

GUARDS = {
    "anthropics/anthropic-sdk-python#1918: an overload inside a stream is not retried": [
        (LIVE, "test_each_fault_has_its_kind"),  # s-error, s-error-first
    ],
    "anthropics/anthropic-sdk-python#1919: broken transport in a stream escapes as another error": [
        (LIVE, "test_each_fault_has_its_kind"),  # s-rst, s-eof
        ("model/test_faults.py", "test_exceptions_are_known_by_their_names"),
    ],
    "anthropics/anthropic-sdk-typescript#842: a connection closed without message_stop": [
        (ASSEMBLE, "test_no_beginning_of_a_stream_is_taken_for_the_whole"),
    ],
    "NousResearch/hermes-agent#32086: a dropped stream was kept as a normal stop": [
        (LIVE, "test_a_failed_stream_leaves_nothing_of_itself"),
    ],
    "earendil-works/pi#3936: thinking without its signature poisons every later request": [
        (LIVE, "test_a_failed_stream_leaves_nothing_of_itself"),
        (ASSEMBLE, "test_thinking_with_its_signature_comes_back_whole"),
    ],
    "anthropics/claude-code#1776: an interrupt leaves a call without a result": [
        (LOOP, "test_a_session_that_cannot_be_had_is_a_record_and_the_call_has_its_result"),
        ("cli/test_live_run.py", "test_a_run_that_was_stopped_goes_on_with_whole_conversations"),
    ],
    "anomalyco/opencode#5750: content added after a call in the same turn": [
        (LOOP, "test_what_the_model_said_goes_back_as_it_was_with_nothing_added"),
    ],
    "MoonshotAI/kosong#45: results of one turn in several messages": [
        (LOOP, "test_all_results_of_a_turn_are_in_one_message_one_per_call"),
    ],
    "567-labs/instructor#2485: only the last call of a turn gets a result": [
        (LOOP, "test_all_results_of_a_turn_are_in_one_message_one_per_call"),
        (LOOP, "test_calls_after_an_accepted_answer_are_answered_but_not_run"),
    ],
    "Hmbown/Codewhale#6378: a call gets two results": [
        (LOOP, "test_all_results_of_a_turn_are_in_one_message_one_per_call"),
    ],
    "open-webui/open-webui#21918: an empty text block": [
        (WIRE, "test_blank_texts_are_not_sent_beside_others"),
        (LOOP, "test_an_empty_reply_is_silence_and_never_sent_back"),
    ],
    "anthropics/claude-code#23440: a text block of white space": [
        (LOOP, "test_output_that_is_only_white_space_never_becomes_an_empty_block"),
    ],
    "anthropics/claude-code#3277: an output cut inside an emoji": [
        (LOOP, "test_a_lone_surrogate_never_leaves_for_the_service"),
        (WIRE, "test_a_cut_emoji_becomes_a_replacement_and_a_split_pair_is_joined"),
    ],
    "openclaw/openclaw#97645: compaction edits the history": [
        (LOOP, "test_the_conversation_only_grows"),
        (WIRE, "test_thinking_is_sent_back_as_it_came"),
        (LIVE, "test_the_prefix_of_every_request_keeps_its_bytes"),
    ],
    "OpenRouterTeam/typescript-agent#125: a truncated call is executed": [
        (LOOP, "test_a_cut_reply_is_never_executed_and_a_second_one_ends_the_work"),
        (LOOP, "test_after_a_cut_reply_a_whole_one_goes_on"),
    ],
    "anomalyco/opencode#28596: the same call up to 220 times": [
        (LOOP, "test_the_same_call_with_the_same_result_three_times_is_stuck"),
    ],
    "NousResearch/hermes-agent#67829: a warning does not stop the same failure": [
        (LOOP, "test_the_same_call_with_the_same_result_three_times_is_stuck"),
        (LOOP, "test_the_same_code_with_other_results_is_progress"),
    ],
    "earendil-works/pi#3671: an unbounded retry-after hangs": [
        (LIVE, "test_a_wait_of_an_hour_is_capped"),
        (LIVE, "test_no_attempt_is_started_after_the_deadline"),
    ],
    "NousResearch/hermes-agent#26311: retries inside retries": [
        (LIVE, "test_each_fault_has_its_kind"),  # counts the requests that arrived
        (RETRY, "test_every_history_of_failures_keeps_the_policy"),
    ],
    "Yeachan-Heo/oh-my-claudecode#2871: an empty end of turn after a result": [
        (LOOP, "test_an_empty_reply_is_silence_and_never_sent_back"),
        (LOOP, "test_two_turns_in_a_row_without_a_call_end_the_work_after_one_nudge"),
    ],
    "rescrv/claudius#106: a reply that stops for a call and holds none": [
        (LOOP, "test_a_reply_that_promises_a_call_and_holds_none_is_silence"),
    ],
    "anomalyco/opencode#34652: arguments arrive as JSON text": [
        (LOOP, "test_arguments_that_arrive_as_their_json_text_are_read"),
        ("grounding/test_verification.py", "test_a_known_kind_with_a_cell_that_printed_is_valid"),
    ],
    "openclaw/openclaw#141323: control characters in a call's input": [
        (LIVE, "test_each_fault_has_its_kind"),  # s-tool-control, s-bad-json
    ],
    "kortix-ai/suna#172: a full context is retried for ever": [
        (LOOP, "test_a_full_context_is_its_own_end_however_the_service_says_it"),
    ],
    "UKGovernmentBEIS/inspect_ai#739: a full context ends in an unnamed way": [
        (LOOP, "test_a_full_context_is_its_own_end_however_the_service_says_it"),
    ],
    "oguzbilgic/kern-ai#317: more than four cache marks": [
        (WIRE, "test_one_cache_mark_and_no_forced_tool"),
    ],
    "dhanji/g3#77: moving marks lose the cache": [
        (LIVE, "test_the_prefix_of_every_request_keeps_its_bytes"),
        (WIRE, "test_a_longer_history_only_appends"),
    ],
    "anthropics/anthropic-sdk-python#1194: the cache is silently not used": [
        (LIVE, "test_the_cache_share_is_reported_where_there_is_one"),
    ],
    "NVIDIA/garak#2099: a change of the transport let tests call the live service": [
        ("test_guard.py", "test_a_connection_beyond_loopback_is_refused_before_it_is_tried"),
        ("test_guard.py", "test_no_credential_is_in_the_environment"),
    ],
    "tembo/agent-studio#401: a time-out of another library is not understood": [
        (LIVE, "test_each_fault_has_its_kind"),  # hang, s-stall
        (LIVE, "test_a_reply_that_drips_for_ever_is_given_up"),
    ],
    "ggml-org/llama.cpp#27217: a required tool is not enforced": [
        (WIRE, "test_one_cache_mark_and_no_forced_tool"),
        (LOOP, "test_silence_counts_only_in_a_row"),
    ],
    "anthropics/claude-code-action#1292: the turn ends before the work": [
        (LOOP, "test_two_turns_in_a_row_without_a_call_end_the_work_after_one_nudge"),
    ],
    "microsoft/agent-framework#7051: no usage on truncated replies": [
        (ASSEMBLE, "test_a_count_that_is_none_is_not_reported"),
        (ASSEMBLE, "test_usage_may_come_only_at_the_end"),
    ],
}  # fmt: skip


@cache
def defined(path):
    """The tests of a file."""
    return set(re.findall(r"^def (test_\w+)", (ROOT / "tests" / path).read_text(), re.MULTILINE))


@pytest.mark.parametrize("failure", GUARDS)
def test_each_known_failure_has_its_guard(failure):
    assert GUARDS[failure]
    for path, name in GUARDS[failure]:
        assert name in defined(path), f"{path} has no {name}"


def test_all_known_failures_are_listed():
    assert len(GUARDS) == 33
