"""`scisolve-batch replay`: whether the recorded cells print the same again."""

from __future__ import annotations

from collections import Counter
from pathlib import Path

import click

from scisolve_batch.executor import TemplateOptions
from scisolve_batch.records import ReplayVerdict, SampleReplay
from scisolve_batch.replay import REPLAY, replay_run
from scisolve_batch.rundir import RunDir


@click.command("replay", short_help="Run recorded cells again and compare their output.")
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--id", "ids", multiple=True, metavar="ID", help="Only these problems.")
@click.option(
    "-j",
    "--workers",
    type=click.IntRange(1, 512),
    default=2,
    metavar="N",
    help="Problems that run at once.  [default: 2]",
)
@click.option(
    "--isolation",
    type=click.Choice(["auto", "require", "off"]),
    help="How sessions are kept apart from the machine.  [default: as in the run]",
)
@click.option("--json", "as_json", is_flag=True, help="Print a line of JSON per sample.")
@click.pass_context
def command(
    ctx: click.Context,
    /,
    *,
    run: Path,
    ids: tuple[str, ...],
    workers: int,
    isolation: str | None,
    as_json: bool,
) -> None:
    """Run the recorded cells of RUN again in fresh sessions and compare what they print.

    No model is asked, and no record of RUN is touched. What each cell came to is written to
    RUN/replay.json; a report that is built afterwards has it as a column. Exits 1 when some cell
    does not reproduce.
    """
    found = RunDir.read(run)
    unknown = set(ids) - {planned.problem_id for planned in found.manifest.planned}
    if unknown:
        raise click.UsageError(f"no problem `{min(unknown)}` in {run}")
    options = TemplateOptions(
        isolation=isolation or found.manifest.isolation_mode, preload=found.manifest.preload
    )
    counts: Counter[ReplayVerdict] = Counter()
    for sample in replay_run(found, ids=ids, workers=workers, options=options):
        counts.update(cell.verdict for cell in sample.cells)
        if as_json:
            click.echo(sample.model_dump_json())
        else:
            _tell(sample)
    total = sum(counts.values())
    if not as_json:
        click.echo(
            f"{counts[ReplayVerdict.REPRODUCED]} of {total} cells reproduce, "
            f"{counts[ReplayVerdict.DIFFERS]} differ, {counts[ReplayVerdict.NOT_RUN]} were not run"
        )
        click.echo(f"each cell: {run / REPLAY}", err=True)
    ctx.exit(0 if counts[ReplayVerdict.REPRODUCED] == total else 1)


def _tell(sample: SampleReplay) -> None:
    name = (
        sample.problem_id if sample.sample == 1 else f"{sample.problem_id} sample {sample.sample}"
    )
    for cell in sample.cells:
        if cell.verdict is not ReplayVerdict.REPRODUCED:
            click.echo(f"{name} cell {cell.cell}: {cell.verdict.value} ({cell.detail})")
