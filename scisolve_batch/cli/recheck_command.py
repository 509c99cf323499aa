"""`scisolve-batch recheck`: recorded answers against today's rules."""

from __future__ import annotations

from pathlib import Path

import click

from scisolve_batch.report import recheck


@click.command("recheck", short_help="Judge recorded answers by today's rules.")
@click.argument("run", metavar="RUN", type=click.Path(path_type=Path))
@click.option("--grounding", metavar="POLICY", help="Judge by this policy.  [default: the run's]")
@click.option("--json", "as_json", is_flag=True, help="Print the result as JSON.")
@click.pass_context
def command(ctx: click.Context, /, *, run: Path, grounding: str | None, as_json: bool) -> None:
    """Check the answers of RUN again, from the cells and answers on disk, and list what flips.

    Nothing is executed and nothing is changed. Exits 1 when some verdict is another one today.
    """
    found = recheck(run, grounding)
    if as_json:
        click.echo(found.model_dump_json(indent=1))
    else:
        click.echo(
            f"{found.run_id}: {found.checked} answers judged again by {found.policy} "
            f"(recorded by {found.recorded_policy}), {found.left} samples without an answer"
        )
        click.echo(
            f"grounded {found.recorded.successes}/{found.recorded.trials} as recorded, "
            f"{found.today.successes}/{found.today.trials} today"
        )
        for flip in found.flips:
            click.echo(f"  {flip.problem_id:<40} {flip.measure}: {flip.recorded} -> {flip.today}")
        if not found.flips:
            click.echo("no verdict flips")
    ctx.exit(1 if found.flips else 0)
