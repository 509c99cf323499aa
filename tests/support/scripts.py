"""Scripted solutions to the root of 2, good and otherwise."""

GOOD = [
    {"run_python": "x = np.sqrt(2.0)\nprint('x =', x)"},
    {"run_python": "print('x squared is', x**2)"},
    {
        "finish_solution": {
            "answer": "x = 1.41421356",
            "verification": {
                "kind": "invariant",
                "description": "its square is 2",
                "evidence_cell": 2,
            },
            "values": [{"name": "x", "value": "1.41421356"}],
        }
    },
]
VALUES = [{"name": "x", "value": "1.4142135623730950488", "rtol": 1e-8}]


def changed(answer):
    """The good script with another answer, given twice."""
    last = {"finish_solution": {**GOOD[-1]["finish_solution"], "answer": answer}}
    return [*GOOD[:-1], last, last]


def after(code, script=GOOD):
    """The good script after another cell."""
    shifted = [{"run_python": code}, *script[:-1]]
    finish = script[-1]["finish_solution"]
    check = {**finish["verification"], "evidence_cell": 3}
    return [*shifted, {"finish_solution": {**finish, "verification": check}}]
