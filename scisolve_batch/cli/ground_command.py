"""`scisolve-batch ground`: the numbers of a notebook or text that no output supports."""

from __future__ import annotations

import json
from pathlib import Path

import click

from scisolve_batch.errors import UsageError
from scisolve_batch.grounding import DEFAULT_POLICY, POLICIES
from scisolve_batch.notebooks import Unsupported, check_notebook, check_text


@click.command("ground", short_help="Check the numbers of a notebook or text.")
@click.argument("file", metavar="FILE", type=click.Path(path_type=Path))
@click.option("--outputs", type=click.Path(path_type=Path), help="Output to check a text against.")
@click.option("--grounding", type=click.Choice(list(POLICIES)), default=DEFAULT_POLICY)
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON per number.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    file: Path,
    outputs: Path | None,
    grounding: str,
    as_json: bool,
) -> None:
    """List the numbers in FILE that no output supports.

    FILE is a Jupyter notebook, whose Markdown is checked against the outputs of the code cells
    above it, or with --outputs a text. Nothing is executed. Exits 1 when a number is unsupported.
    """
    if outputs is not None:
        found = check_text(_read(file), _read(outputs), policy=grounding)
    elif file.suffix == ".ipynb":
        found = check_notebook(file, policy=grounding)
    else:
        raise UsageError(f"{file}: is no .ipynb; give --outputs FILE to check a text")
    for item in found:
        click.echo(_as_json(item) if as_json else _as_line(item))
    if not as_json:
        click.echo(f"{file}: {len(found)} numbers without support")
    ctx.exit(1 if found else 0)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(f"{path}: cannot be read: {error.strerror or error}") from error


def _as_line(item: Unsupported) -> str:
    place = f"cell {item.cell}, line {item.line}" if item.cell else f"line {item.line}"
    near = f" (nearest printed: {item.literal.nearest})" if item.literal.nearest else ""
    return f"{place}: {item.literal.text}: {item.literal.reason or item.literal.verdict}{near}"


def _as_json(item: Unsupported) -> str:
    literal = item.literal.model_dump(mode="json", include={"text", "verdict", "reason", "nearest"})
    return json.dumps({"cell": item.cell, "line": item.line, **literal})
