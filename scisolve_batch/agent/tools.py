"""The two tools, as the model sees them, and the reading of what it sends.

Reading is lenient where the meaning is clear (a number for a string, a JSON text for an object)
and otherwise says what to send instead.
"""

from __future__ import annotations

import json
from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

from scisolve_batch.records import ReportedValue, VerificationKind

RUN_PYTHON = "run_python"
FINISH_SOLUTION = "finish_solution"

DEFINITIONS: tuple[dict[str, Any], ...] = (
    {
        "name": RUN_PYTHON,
        "description": (
            "Execute a cell in the persistent Python process and return what it printed, and the "
            "traceback if it failed. np, numpy, scipy, plt and math are ready; open figures are "
            "saved. Print every number you will report."
        ),
        "input_schema": {
            "type": "object",
            "properties": {"code": {"type": "string", "description": "Python source."}},
            "required": ["code"],
            "additionalProperties": False,
        },
    },
    {
        "name": FINISH_SOLUTION,
        "description": (
            "Report the answer. Every number must have been printed by a successful cell or stand "
            "in the problem. Name the check you ran and the cell that shows it."
        ),
        "input_schema": {
            "type": "object",
            "properties": {
                "answer": {"type": "string", "description": "The result, in words and numbers."},
                "verification": {
                    "type": "object",
                    "properties": {
                        "kind": {
                            "type": "string",
                            "enum": [kind.value for kind in VerificationKind],
                        },
                        "description": {
                            "type": "string",
                            "description": "What was computed differently, and what it showed.",
                        },
                        "evidence_cell": {
                            "type": "integer",
                            "description": "Number of the cell whose output is the evidence.",
                        },
                    },
                    "required": ["kind", "description", "evidence_cell"],
                    "additionalProperties": False,
                },
                "values": {
                    "type": "array",
                    "description": (
                        "Each value asked for: an `expression` of the session's variables, which is "
                        "evaluated and printed for you, or a `value` as it was printed."
                    ),
                    "items": {
                        "type": "object",
                        "properties": {
                            "name": {"type": "string"},
                            "expression": {"type": "string"},
                            "value": {"type": "string"},
                            "unit": {"type": "string"},
                        },
                        "required": ["name"],
                        "additionalProperties": False,
                    },
                },
            },
            "required": ["answer", "verification", "values"],
            "additionalProperties": False,
        },
    },
)


class ArgumentError(ValueError):
    """The arguments of a call do not fit its tool; the message goes to the model."""


@dataclass(frozen=True, slots=True)
class Finish:
    """A finish_solution call, read."""

    answer: str
    verification: Any
    values: tuple[ReportedValue, ...]
    expressions: Mapping[str, str] = field(default_factory=dict)


def read_code(arguments: Any) -> str:
    """The code of a run_python call.

    Raises:
        ArgumentError: there is none.
    """
    arguments = _as_object(arguments)
    code = arguments.get("code")
    if not isinstance(code, str):
        got = ", ".join(sorted(map(str, arguments))) or "nothing"
        raise ArgumentError(f"`code` must be a string of Python source; received: {got}")
    if not code.strip():
        raise ArgumentError("`code` is empty")
    return code


def read_finish(arguments: Any) -> Finish:
    """The parts of a finish_solution call.

    Raises:
        ArgumentError: the answer is no text, or the values are no list of names and values.
    """
    arguments = _as_object(arguments)
    answer = arguments.get("answer", "")
    if not isinstance(answer, str):
        answer = _as_text(answer)
    verification = _decoded(arguments.get("verification"))
    values, expressions = _read_values(arguments.get("values"))
    return Finish(answer, verification, tuple(values), expressions)


def _read_values(raw: Any) -> tuple[list[ReportedValue], dict[str, str]]:
    """The values, and the expressions of those that are to be evaluated."""
    raw = _decoded(raw)
    if raw is None:
        return [], {}
    if isinstance(raw, dict):  # {"x": 1.5} says the same as a list of names and values
        named = "name" in raw and ("value" in raw or "expression" in raw)
        raw = [raw] if named else [{"name": key, "value": item} for key, item in raw.items()]
    if not isinstance(raw, list):
        raise ArgumentError('`values` must be a list like [{"name": "x", "value": "1.5"}]')
    values: list[ReportedValue] = []
    expressions: dict[str, str] = {}
    for place, item in enumerate(raw):
        item = _decoded(item)  # noqa: PLW2901 - the same item, read
        expression = item.get("expression") if isinstance(item, dict) else None
        if not isinstance(item, dict) or "name" not in item or not ("value" in item or expression):
            raise ArgumentError(f"`values[{place}]` needs `name`, and `expression` or `value`")
        unit, name = item.get("unit"), str(item["name"]).strip()
        if expression:
            expressions[name] = str(expression)
        values.append(
            ReportedValue(
                name=name,
                value="" if expression else _as_text(item["value"]),
                unit=None if unit in (None, "") else str(unit),
            )
        )
    return values, expressions


def _as_object(raw: Any) -> dict[str, Any]:
    raw = _decoded(raw)
    if not isinstance(raw, dict):
        raise ArgumentError("the arguments must be an object")
    return raw


def _decoded(raw: Any) -> Any:
    """Some services send an object as its JSON text."""
    if isinstance(raw, str) and raw.lstrip()[:1] in ("{", "["):
        try:
            return json.loads(raw)
        except ValueError:
            return raw
    return raw


def _as_text(value: Any) -> str:
    """A reported value as text; numbers keep the digits that they were sent with."""
    if isinstance(value, str):
        return value.strip()
    return json.dumps(value)
