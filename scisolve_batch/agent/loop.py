"""`solve`: a problem, a model and a session in, a solution out.

It opens no file, starts no process and reads no clock but the one it is given. Every end is a
`Solution`; nothing a model or its code does makes it raise.
"""

from __future__ import annotations

import json
import math
import re
from collections import Counter
from collections.abc import Callable, Iterable
from dataclasses import dataclass, field, replace
from time import monotonic

from scisolve_batch.agent import prompt, tools
from scisolve_batch.agent.binding import Bound, bind, binding_code
from scisolve_batch.agent.events import (
    AnswerRefused,
    CellFinished,
    CellStarted,
    MessageAdded,
    Observer,
    TurnFinished,
    TurnStarted,
    ignore,
)
from scisolve_batch.agent.limits import Meter
from scisolve_batch.errors import ModelError, SessionError
from scisolve_batch.executor.base import Session
from scisolve_batch.grading import grade
from scisolve_batch.grounding import (
    DEFAULT_POLICY,
    Rerun,
    check_grounding,
    check_verification,
    explain_refusal,
    find_weakness,
)
from scisolve_batch.model.base import Block, Message, Model, NoReply, Reply, Request
from scisolve_batch.model.budget import Allowance, Spend
from scisolve_batch.model.prices import cost
from scisolve_batch.records import (
    Cell,
    Failure,
    Grounding,
    GroundingVerdict,
    Limits,
    Problem,
    Solution,
    StopReason,
    Turn,
    Verification,
)

LEAST_REPLY_TOKENS = 200
"""A reply that may not be at least this long is not asked for."""
SAME_CALL_LIMIT = 3
"""The same call with the same result this many times ends the work as stuck."""


class _Stop(Exception):
    """Ends the loop from any depth. Never leaves this module."""

    def __init__(self, reason: StopReason, failure: Failure | None = None) -> None:
        super().__init__(reason)
        self.reason, self.failure = reason, failure


@dataclass(frozen=True, slots=True)
class _Report:
    """A finish call with what the checks say about it."""

    finish: tools.Finish
    grounding: Grounding
    verification: Verification


def solve(
    problem: Problem,
    *,
    model: Model,
    session: Session,
    limits: Limits | None = None,
    grounding: str = DEFAULT_POLICY,
    strict_names: bool = False,
    rerun: Rerun | None = None,
    allowance: Allowance | None = None,
    observe: Observer = ignore,
    now: Callable[[], float] = monotonic,
) -> Solution:
    """Let a model work on a problem until it reports an answer or a limit ends the work.

    Args:
        problem: what is asked; its own limits go before `limits`.
        model: who is asked.
        session: where its code runs.
        limits: what the problem may use.
        grounding: name of the policy that traces numbers to their source.
        strict_names: a number quoted under a wrong name fails the answer.
        rerun: runs cells again in a fresh session, to tell computed numbers from copied ones.
        allowance: what its requests may spend; each is bounded so that it cannot be overspent.
        observe: hears each event as it happens.
        now: a clock that never goes back, in seconds.

    Returns:
        The solution, with answer, checks and grade. `finished`, `grounded`, `verified` and
        `correct` are four separate facts.
    """
    limits = limits or Limits()
    own = problem.limits.model_dump(exclude_none=True)
    work = _Work(
        problem=problem,
        model=model,
        session=session,
        policy=grounding,
        strict_names=strict_names,
        rerun=rerun,
        allowance=allowance,
        observe=observe,
        meter=Meter(limits.model_copy(update=own), now),
    )
    try:
        work.converse()
    except _Stop as stop:
        return work.solution(stop)
    raise AssertionError("the loop ends only by a stop")  # pragma: no cover


@dataclass(slots=True)
class _Work:
    """The state of one problem while it is being solved."""

    problem: Problem
    model: Model
    session: Session
    policy: str
    strict_names: bool
    rerun: Rerun | None
    allowance: Allowance | None
    observe: Observer
    meter: Meter
    messages: list[Message] = field(default_factory=list)
    turns: list[Turn] = field(default_factory=list)
    cells: list[Cell] = field(default_factory=list)
    refusals: list[str] = field(default_factory=list)
    report: _Report | None = None
    calls_seen: Counter[str] = field(default_factory=Counter)
    system: str = field(init=False)
    silent_turns: int = 0
    cut_turns: int = 0
    model_s: float = 0.0
    cell_s: float = 0.0

    def __post_init__(self) -> None:
        self.system = prompt.system_prompt(self.meter.limits)

    # -- the conversation --

    def converse(self) -> None:
        """Ask and act until something raises `_Stop`."""
        self.add("user", prompt.problem_message(self.problem))
        while True:
            if (limit := self.meter.exceeded()) is not None:
                raise _Stop(limit)
            reply = self.ask()
            if reply.content:
                self.add("assistant", reply.content)
            self.act(reply)

    def add(self, role: str, content: str | list[Block]) -> None:
        message: Message = {"role": role, "content": content}
        self.messages.append(message)
        self.observe(MessageAdded(message))

    def ask(self) -> Reply:
        """One turn of the model, whole or `_Stop`."""
        self.observe(TurnStarted(self.meter.turns + 1))
        began = self.meter.now()
        request = Request(
            system=self.system,
            tools=tools.DEFINITIONS,
            messages=tuple(self.messages),
            max_tokens=self.meter.limits.max_output_tokens,
            deadline=self.meter.deadline,
        )
        request = self.afford(request)
        try:
            reply = self.model.reply(request)
        except ModelError as error:
            self.model_s += self.meter.now() - began
            if self.allowance and isinstance(error, NoReply):
                self.allowance.charge_failure(error.errors, max_tokens=request.max_tokens)
            reason = StopReason.CONTEXT if error.kind == "too_long" else StopReason.MODEL_ERROR
            raise _Stop(reason, Failure(kind=error.kind, message=error.what)) from error
        duration = self.meter.now() - began
        spend = Spend()
        if self.allowance:
            spend = self.allowance.charge(reply, max_tokens=request.max_tokens)
        self.model_s += duration
        self.meter.turns += 1
        self.meter.wait_s += reply.wait_s
        self.meter.usage += reply.usage
        turn = Turn(
            index=self.meter.turns,
            stop_reason=reply.stop_reason,
            usage=reply.usage,
            duration_s=duration,
            wait_s=reply.wait_s,
            first_event_s=reply.first_event_s,
            attempts=reply.attempts,
            errors=reply.errors,
            model=reply.model,
            request_id=reply.request_id,
            batch=reply.batch,
            cost_usd=cost(
                reply.usage, reply.model or self.model.name, batch=reply.batch is not None
            ),
        )
        self.turns.append(turn)
        self.observe(TurnFinished(turn, reply.text, spend))
        return reply

    def afford(self, request: Request) -> Request:
        """The request, cut to what the allowance bears; `_Stop` when it bears no useful reply."""
        if self.allowance is None:
            return request
        tokens = self.allowance.output_tokens(request)
        if tokens < min(LEAST_REPLY_TOKENS, request.max_tokens):
            raise _Stop(StopReason.BUDGET)
        return replace(request, max_tokens=tokens)

    def act(self, reply: Reply) -> None:
        """Do what a reply asks for, and answer it in one message."""
        match reply.stop_reason:
            case "refusal":
                raise _Stop(StopReason.REFUSAL, Failure(kind="refusal", message=reply.text))
            case "model_context_window_exceeded":
                raise _Stop(StopReason.CONTEXT)
            case "max_tokens":
                return self.answer_cut(reply)
            case "pause_turn":
                return None  # the service wants the conversation back as it is
        self.cut_turns = 0
        if not reply.tool_calls:
            return self.answer_silence()
        self.silent_turns = 0
        if reply.stop_reason != "tool_use":
            return self.answer_all(reply, prompt.NOT_RUN_ENDED)
        return self.run_calls(reply)

    def answer_cut(self, reply: Reply) -> None:
        """A cut reply is never executed: its calls may be incomplete."""
        self.cut_turns += 1
        if self.cut_turns > 1:
            raise _Stop(StopReason.TRUNCATED)
        if reply.tool_calls:
            self.answer_all(reply, prompt.NOT_RUN_CUT)
        else:
            self.add("user", prompt.CUT)

    def answer_silence(self) -> None:
        """The first reply without a call is nudged, the second in a row ends the work."""
        self.silent_turns += 1
        if self.silent_turns > 1:
            raise _Stop(StopReason.NO_TOOL_CALLS)
        self.add("user", prompt.NUDGE)

    def answer_all(self, reply: Reply, text: str) -> None:
        self.add("user", [_result(call, text, error=True) for call in reply.tool_calls])

    def run_calls(self, reply: Reply) -> None:
        """Run each call in order. One result per call, all in one message."""
        results: list[Block] = []
        stop: _Stop | None = None
        refused = False
        for call in reply.tool_calls:
            if stop is not None:
                results.append(_result(call, prompt.NOT_RUN_REPORTED, error=True))
            elif refused and call.get("name") == tools.FINISH_SOLUTION:
                results.append(_result(call, prompt.NOT_RUN_REFUSED, error=True))
            else:
                try:
                    text, error = self.run_call(call)
                    refused |= error and call.get("name") == tools.FINISH_SOLUTION
                except _Stop as end:
                    stop = end
                    text, error = self.last_words(end)
                results.append(_result(call, text, error=error))
        self.add("user", results)
        if stop is not None:
            raise stop

    def last_words(self, stop: _Stop) -> tuple[str, bool]:
        """The result of the call that ended the work, so that the transcript is complete."""
        if stop.reason is StopReason.FINISHED:
            return (prompt.RECORDED, True) if self.rejected() else (prompt.ACCEPTED, False)
        if stop.reason is StopReason.STUCK:
            return prompt.STUCK, True
        return (stop.failure.message if stop.failure else stop.reason.value), True

    # -- the tools --

    def run_call(self, call: Block) -> tuple[str, bool]:
        """Run one call; its result and whether it is an error."""
        name, arguments = call.get("name"), call.get("input")
        try:
            if name == tools.RUN_PYTHON:
                text, error = self.run_python(_scrub(tools.read_code(arguments)))
            elif name == tools.FINISH_SOLUTION:
                return self.finish(tools.read_finish(arguments))
            else:
                text, error = prompt.unknown_tool(name), True
        except tools.ArgumentError as problem:
            text, error = prompt.bad_arguments(str(name), str(problem)), True
        self.count(name, arguments, text)
        return text, error

    def count(self, name: object, arguments: object, text: str) -> None:
        """Stop at the same call with the same result, apart from the number of the cell."""
        outcome = _CELL_NUMBER.sub("cell", text)  # also in tracebacks: `<cell 3>`
        key = json.dumps([name, arguments, outcome], sort_keys=True, default=str)
        self.calls_seen[key] += 1
        if self.calls_seen[key] >= SAME_CALL_LIMIT:
            raise _Stop(StopReason.STUCK)

    def run_python(self, code: str) -> tuple[str, bool]:
        cell = self.run_cell(code)
        return prompt.cell_result(cell), not cell.ok

    def run_cell(self, code: str) -> Cell:
        self.observe(CellStarted(len(self.cells) + 1, code))
        began = self.meter.now()
        try:
            cell = self.session.run(code)
        except SessionError as error:
            failure = Failure(kind="session", message=str(error))
            raise _Stop(StopReason.SESSION_LOST, failure) from error
        finally:
            self.cell_s += self.meter.now() - began
        self.cells.append(cell)
        self.observe(CellFinished(cell))
        return cell

    def finish(self, finish: tools.Finish) -> tuple[str, bool]:
        """Check an answer. It is accepted, goes back once, or is recorded as it is."""
        if not finish.answer.strip():
            nothing = Grounding(policy=self.policy, verdict=GroundingVerdict.UNGROUNDED)
            self.report = _Report(finish, nothing, check_verification(None, self.cells))
            return self.refuse([prompt.EMPTY_ANSWER], nothing)
        bound: Bound | None = None
        if finish.expressions:
            bound = bind(finish, self.run_cell(_scrub(binding_code(finish.expressions))))
            finish = bound.finish
        checked = check_grounding(
            finish.answer,
            self.cells,
            self.problem.statement,
            policy=self.policy,
            values=finish.values,
            rerun=self.rerun,
            strict_names=self.strict_names,
        )
        if bound is not None:
            checked = bound.mark(checked)
        verification = check_verification(finish.verification, self.cells)
        weak = find_weakness(verification, self.cells, checked, self.problem.statement)
        self.report = _Report(finish, checked, verification.model_copy(update={"weakness": weak}))
        if reasons := self.rejected():
            return self.refuse(reasons, checked)
        raise _Stop(StopReason.FINISHED)

    def rejected(self) -> list[str]:
        """Why the reported answer breaks the rules; empty when it does not."""
        if self.report is None or not self.report.finish.answer.strip():
            return [prompt.EMPTY_ANSWER]
        reasons = []
        if self.report.grounding.verdict is GroundingVerdict.NOTHING_COMPUTED:
            reasons.append(prompt.NOTHING_COMPUTED)
        elif not self.report.grounding.grounded:
            reasons.append(explain_refusal(self.report.grounding))
        if not self.report.verification.valid:
            reasons.append(f"`verification`: {self.report.verification.reason}")
        return reasons

    def refuse(self, reasons: list[str], checked: Grounding) -> tuple[str, bool]:
        text = prompt.complaint(reasons)
        self.refusals.append(text)
        self.observe(AnswerRefused(text, checked))
        if len(self.refusals) > 1:
            raise _Stop(StopReason.FINISHED)
        return text, True

    # -- the end --

    def solution(self, stop: _Stop) -> Solution:
        """Everything that is known, whatever ended the work."""
        report = self.report
        answer = _scrub(report.finish.answer) if report else None
        values = report.finish.values if report else ()
        return Solution(
            problem_id=self.problem.id,
            problem_digest=self.problem.digest,
            model=self.model.name,
            stop_reason=stop.reason,
            failure=stop.failure,
            answer=answer,
            values=values,
            verification=report.verification if report else None,
            grounding=report.grounding if report else None,
            grade=grade(self.problem, answer=answer, values=values),
            refusals=tuple(self.refusals),
            turns=tuple(self.turns),
            cells=tuple(self.cells),
            usage=self.meter.usage,
            cost_usd=_total(turn.cost_usd for turn in self.turns),
            duration_s=self.meter.elapsed_s,
            model_s=self.model_s,
            wait_s=self.meter.wait_s,
            cell_s=self.cell_s,
        )


def _result(call: Block, text: str, *, error: bool) -> Block:
    """A tool result in wire form. The service refuses empty text and lone surrogates."""
    block: Block = {"type": "tool_result", "tool_use_id": call.get("id")}
    block["content"] = _scrub(text) if text.strip() else "(nothing)"
    if error:
        block["is_error"] = True
    return block


_CELL_NUMBER = re.compile(r"\bcell \d+")


def _total(costs: Iterable[float | None]) -> float | None:
    """The sum, or None when nothing was asked or some part of it is unknown."""
    known = list(costs)
    return math.fsum(c for c in known if c is not None) if known and None not in known else None


def _scrub(text: str) -> str:
    """Text without lone surrogates, which no UTF-8 can carry."""
    return text.encode("utf-8", "backslashreplace").decode("utf-8")
