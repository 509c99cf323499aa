"""JSON Schemas with which editors complete and explain the keys of suites, problems and scripts."""

from __future__ import annotations

from typing import Any, Literal

from pydantic.json_schema import models_json_schema

from scisolve_batch.records import VerificationKind
from scisolve_batch.suite.schema import ProblemEntry, SuiteEntry

SchemaKind = Literal["suite", "problem", "script"]
"""The files that an editor can be helped with."""

_CALLS: dict[str, Any] = {
    "run_python": {"type": "string", "description": "Code of a cell; what it prints is evidence."},
    "finish_solution": {"$ref": "#/$defs/Finish"},
}

# Scripts are read by the scripted model, which also allows deliberate faults in `Finish`.
_SCRIPT: dict[str, Any] = {
    "type": "array",
    "minItems": 1,
    "items": {
        "type": "object",
        "additionalProperties": False,
        "description": "One reply of the model.",
        "properties": {
            "text": {"type": "string", "description": "What the model says before its call."},
            **_CALLS,
            "calls": {
                "type": "array",
                "description": "Several calls in one reply.",
                "items": {"type": "object", "additionalProperties": False, "properties": _CALLS},
            },
            "stop_reason": {"type": "string", "description": "The service's word for the end."},
            "usage": {"type": "object", "description": "Tokens that the reply claims."},
        },
    },
    "$defs": {
        "Finish": {
            "type": "object",
            "properties": {
                "answer": {"type": "string", "description": "Prose; every number was printed."},
                "verification": {
                    "type": "object",
                    "properties": {
                        "kind": {
                            "type": "string",
                            "enum": [kind.value for kind in VerificationKind],
                        },
                        "description": {"type": "string"},
                        "evidence_cell": {"type": "integer", "minimum": 1},
                    },
                },
                "values": {
                    "type": "array",
                    "items": {
                        "type": "object",
                        "required": ["name"],
                        "anyOf": [{"required": ["value"]}, {"required": ["expression"]}],
                        "properties": {
                            "name": {"type": "string"},
                            "expression": {
                                "type": "string",
                                "description": "Python, evaluated and printed in the session.",
                            },
                            "value": {"type": "string", "description": "Quoted, digit for digit."},
                            "unit": {"type": ["string", "null"]},
                        },
                    },
                },
            },
        }
    },
}


def json_schema(kind: SchemaKind = "suite") -> dict[str, Any]:
    """JSON Schema of a suite file, a problem file or a script, for editors.

    The loader is stricter in what a schema cannot say, like files that must exist.
    """
    head = {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "title": f"scisolve-batch {kind} file",
    }
    if kind == "script":
        return {**head, **_SCRIPT}
    top = SuiteEntry if kind == "suite" else ProblemEntry
    needed = [(SuiteEntry, "validation")] * (kind == "suite") + [(ProblemEntry, "validation")]
    _, schema = models_json_schema(needed, ref_template="#/$defs/{model}")  # type: ignore[arg-type]
    parts = schema["$defs"]
    body = {key: value for key, value in parts.pop(top.__name__).items() if key != "title"}
    return {**head, **body, "$defs": parts}
