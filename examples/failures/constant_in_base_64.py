"""A constant in a code of its own, like base 64, shows no digits of its own."""

import contextlib
import io

from scisolve_batch.grounding import check_grounding
from scisolve_batch.records import Cell

CODE = """\
import base64
print(base64.b64decode('NDEuMzcy').decode())
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
