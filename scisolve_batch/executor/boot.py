"""Entry point of the processes that lead to model code; run by its path, never imported.

It loads its neighbours without running the package's `__init__`, so that no module of ours but
those of the executor's child side, and no library of the trusted side, exists in the process.
"""

from __future__ import annotations

import sys
import types


def main() -> None:
    """Become what the first argument names: `template`, `guard` or `session`."""
    here = __file__.rpartition("/")[0]
    for name, path in (("scisolve_batch", []), ("scisolve_batch.executor", [here])):
        package = types.ModuleType(name)
        package.__path__ = path
        sys.modules[name] = package

    from scisolve_batch.executor import template  # noqa: PLC0415 - after the empty packages

    role = template.start_role(sys.argv[1], int(sys.argv[2]))
    # A forked process returns its next role up to here, so that no frame of its parent remains.
    while role is not None:
        role = role()


if __name__ == "__main__":
    main()
