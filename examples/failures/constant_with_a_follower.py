"""When another printed number depends on it, a constant is a parameter of the computation."""

import contextlib
import io

from scisolve_batch.grounding import check_grounding
from scisolve_batch.records import Cell

CODE = """\
area = 41.372
print('area', area)
twice = area * 2
print('twice that', twice)
"""


def rerun(codes):
    outputs = []
    for code in codes:
        caught = io.StringIO()
        with contextlib.redirect_stdout(caught):
            exec(code, {})
        outputs.append(caught.getvalue())
    return outputs


(stdout,) = rerun([CODE])
assert "41.372" in stdout
report = check_grounding("It is 41.372.", [Cell(index=1, code=CODE, stdout=stdout)], rerun=rerun)
assert report.grounded, "closed: move this to the red team"
