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
    above it, or with --outputs a text. Nothing is executed.

    \b
    Exit codes: 0 every number is supported, 1 some are not, 2 could not read the files.
    """  # noqa: D301 - click reads the backspace as "keep these lines"
    name = click.format_filename(file)
    if outputs is not None:
        checked = check_text(_read(file), _read(outputs), policy=grounding)
    elif file.suffix == ".ipynb":
        checked = check_notebook(file, policy=grounding)
    else:
        raise UsageError(f"{name}: is no .ipynb; give --outputs FILE to check a text")
    for item in checked.unsupported:
        click.echo(_as_json(item) if as_json else _as_line(item))
    for cell in checked.cut:
        click.echo(f"{name}: cell {cell} is too long, only a part of it was read", err=True)
    if not as_json:
        found, whole = len(checked.unsupported), checked.numbers
        click.echo(f"{name}: {found} numbers without support, of {whole}")
    ctx.exit(1 if checked.unsupported else 0)


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace")
    except OSError as error:
        raise UsageError(
            f"{click.format_filename(path)}: cannot be read: {error.strerror or error}"
        ) from error


def _as_line(item: Unsupported) -> str:
    place = f"cell {item.cell}, line {item.line}" if item.cell else f"line {item.line}"
    literal = item.literal
    near = f" (nearest printed: {literal.nearest})" if literal.nearest else ""
    if literal.reason == "below":
        near = f" (printed only further down, as {literal.nearest})"
    return f"{place}: {literal.text}: {literal.reason or literal.verdict}{near}"


def _as_json(item: Unsupported) -> str:
    literal = item.literal.model_dump(mode="json", include={"text", "verdict", "reason", "nearest"})
    return json.dumps({"cell": item.cell, "line": item.line, **literal})
