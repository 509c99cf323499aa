"""Every sentence that is sent to a model.

Nothing here depends on time, paths or chance, so the same conversation is the same bytes.
"""

from __future__ import annotations

from collections.abc import Sequence

from scisolve_batch.records import Cell, CellStatus, Limits, Problem, SessionState

SYSTEM = """\
You solve scientific-computing problems by running Python. You have two tools.

run_python executes a cell in one persistent Python process: variables, imports and files stay \
for the next cell. np, numpy, scipy, plt and math are ready. You see what the cell printed, and \
the traceback when it failed. There is no network.

finish_solution reports the answer.

Rules, enforced by a program that reads your answer:
1. Never recall a number; compute it. Every number in the answer and in `values` must have been \
printed on stdout by a cell that succeeded, or stand in the problem statement. A number that was \
computed but not printed is treated like an invented one. Results derived from printed numbers \
(differences, ratios, conversions) must be printed too.
2. Print what you will report with its name and enough digits, e.g. print("x(20) =", x). Report \
no more digits than were printed; rounding correctly to fewer is fine. A small whole number used \
as a count or an index needs no source.
3. Output of a cell that failed, standard error and source code support nothing.
4. Before finishing, check the result with a different computation that could have failed: an \
analytic result, an independent method, a limiting case, an invariant, convergence under \
refinement, or a dimensional argument. Running the same computation again is not a check. Print \
what the check shows.
5. Then call finish_solution. In `values`, give for each value an `expression`, like a variable's name, and write {name} or {name:.8g} in the answer: the program evaluates and prints it, so no digit can be mistyped. In `verification`, name the kind of check and the number of the \
cell whose output is the evidence; each result tells you its cell number.
6. An answer that breaks a rule comes back once with the reasons. The second answer is final."""


def system_prompt(limits: Limits) -> str:
    """The system prompt, with the limits the model works under."""
    return (
        f"{SYSTEM}\n\nLimits: {limits.max_turns} replies, {limits.cell_s:g} s of processor time "
        f"per cell, {limits.memory_mb} MiB of memory, {limits.output_kb} KiB of output per cell."
    )


def problem_message(problem: Problem) -> str:
    """The first message: the statement, the files and the values asked for. Never an answer."""
    parts = [problem.statement.strip()]
    if problem.data:
        names = ", ".join(data.file for data in problem.data)
        parts.append(f"Files in the working folder: {names}")
    if problem.values:
        lines = []
        for value in problem.values:
            unit = f", in {value.unit}" if value.unit else ""
            digits = ", exact" if value.exact else ""
            if value.report_digits:
                digits = f", {value.report_digits} significant digits"
            lines.append(f"- {value.name}{unit}{digits}")
        parts.append("Report in `values`, under these names:\n" + "\n".join(lines))
    return "\n\n".join(parts)


NUDGE = (
    "Your reply called no tool, so nothing was run or reported. Call run_python to compute, or "
    "finish_solution to report the answer. If the next reply calls none either, the work ends."
)
CUT = (
    "Your reply was cut at its token limit and nothing of it was run. Continue with a shorter "
    "reply: one shorter cell at a time."
)
NOT_RUN_CUT = "Not run: the reply was cut at its token limit, so this call may be incomplete."
NOT_RUN_ENDED = "Not run: the reply did not end with a tool call. Call the tool again."
NOT_RUN_REPORTED = "Not run: the solution was reported before it."
NOT_RUN_REFUSED = "Not read: answer the complaint about the finish_solution call before it first."
ACCEPTED = "Accepted."
RECORDED = "Recorded as it is: this was the second answer."
STUCK = "Not run: this call was made before with the same result; the work ends here."


def unknown_tool(name: object) -> str:
    """The reply to a call of a tool that does not exist."""
    return f"There is no tool {name!r}. The tools are run_python and finish_solution."


def bad_arguments(tool: str, problem: str) -> str:
    """The reply to a call whose arguments do not fit."""
    return f"{tool} was not run: {problem}"


_ENDS = {
    CellStatus.OK: "succeeded",
    CellStatus.ERROR: "failed with an exception",
    CellStatus.EXIT: "called sys.exit",
    CellStatus.MEMORY: "ran out of memory",
    CellStatus.SOFT_TIMEOUT: "was interrupted at its time limit",
    CellStatus.HARD_TIMEOUT: "was killed at its time limit",
    CellStatus.CPU_LIMIT: "was killed at its limit of processor time",
    CellStatus.CRASH: "ended its process",
    CellStatus.PROTOCOL: "was killed because it disturbed its process",
}

_STATES = {
    SessionState.KEPT: "",
    SessionState.RESTORED: "Your variables are as they were before this cell.",
    SessionState.REPLAYED: "The process was rebuilt by running the successful cells again.",
    SessionState.REPLAY_DIFFERS: (
        "The process was rebuilt by running the successful cells again, and some of them printed "
        "something else this time: variables may differ."
    ),
    SessionState.LOST: "All variables are gone: a new process was started. Define them again.",
}


def cell_result(cell: Cell) -> str:
    """What the model sees of a cell. Holds no times, paths or addresses."""
    parts = [f"cell {cell.index} {_ENDS[cell.status]}"]
    if not cell.integrity:
        parts.append("The cell wrote to the session's own channel; its output supports nothing.")
    if cell.note:
        parts.append(cell.note)
    if state := _STATES[cell.state]:
        parts.append(state)
    if cell.stdout.strip():
        parts.append(f"stdout:\n{cell.stdout.rstrip()}")
    else:
        parts.append("(nothing printed)")
    if cell.stderr.strip():
        parts.append(f"stderr:\n{cell.stderr.rstrip()}")
    if cell.traceback.strip():
        parts.append(cell.traceback.rstrip())
    elif cell.stack.strip():
        parts.append(f"It was here:\n{cell.stack.rstrip()}")
    if cell.figures:
        parts.append("figures saved: " + ", ".join(cell.figures))
    return "\n".join(parts)


def complaint(reasons: Sequence[str]) -> str:
    """The reply to a refused answer: what is wrong and what to do, a paragraph each."""
    return "\n\n".join(
        ["The answer was not accepted.", *reasons, "Correct this and call finish_solution again."]
    )


EMPTY_ANSWER = "`answer` is empty: state the result in words and numbers."
NOTHING_COMPUTED = (
    "No cell has succeeded, so nothing supports this answer: run a cell that prints the result."
)
