"""The command line. The only place that prints results and ends the program.

Results go to standard output, everything else to standard error. Each command is a module of
its own, imported when it is called, so that `--help` stays quick.
"""

from __future__ import annotations

import importlib
import os
import sys

import click

from scisolve_batch._version import __version__
from scisolve_batch.errors import ScisolveError

COMMANDS = {
    "run": "Run a suite of problems and report on it.",
    "solve": "Solve one problem, showing each step.",
    "status": "Say what a run is doing right now.",
    "report": "Build the report of a run directory again.",
    "show": "Tell the story of one problem of a run.",
    "compare": "Compare two runs on the problems they share.",
    "recheck": "Judge recorded answers by today's rules.",
    "replay": "Run recorded cells again and compare their output.",
    "verify": "Check that a run directory is as it was written.",
    "ground": "Check the numbers of a notebook or text.",
    "doctor": "Try every limit and isolation promise on this machine.",
    "suite": "Check, pin, list, test and begin suites.",
}
EXIT_INTERRUPTED = 130


class _Commands(click.Group):
    """Finds a command by name and imports only that one."""

    def list_commands(self, ctx: click.Context) -> list[str]:  # noqa: ARG002 - click's signature
        return list(COMMANDS)

    def get_command(self, ctx: click.Context, cmd_name: str) -> click.Command | None:  # noqa: ARG002
        if cmd_name not in COMMANDS:
            return None
        module = importlib.import_module(f"scisolve_batch.cli.{cmd_name}_command")
        command = module.command
        assert isinstance(command, click.Command)
        return command

    def format_commands(self, ctx: click.Context, formatter: click.HelpFormatter) -> None:  # noqa: ARG002
        with formatter.section("Commands"):
            formatter.write_dl(list(COMMANDS.items()))

    def resolve_command(
        self, ctx: click.Context, args: list[str]
    ) -> tuple[str | None, click.Command | None, list[str]]:
        try:
            return super().resolve_command(ctx, args)
        except click.UsageError:
            import difflib  # noqa: PLC0415 - only for a mistyped command

            close = difflib.get_close_matches(args[0], COMMANDS, n=1)
            hint = f"; did you mean {close[0]}?" if close else f"; there are {', '.join(COMMANDS)}"
            raise click.UsageError(f"there is no command {args[0]!r}{hint}", ctx=ctx) from None


@click.command(
    cls=_Commands,
    context_settings={"help_option_names": ["-h", "--help"], "max_content_width": 100},
)
@click.version_option(__version__, prog_name="scisolve-batch")
def cli() -> None:
    """Ask a language model scientific-computing questions, and trust the numbers.

    Without --model, a suite's own scripted solutions are run: the code is executed and the
    answers are checked, but no model is asked and nothing is spent.

    \b
    Exit codes: 0 every planned problem finished and grounded, 1 some did not,
    2 could not run, 130 interrupted.
    """  # noqa: D301 - click reads the backspace as "keep these lines"


def refuse_windows() -> int:
    """Say why nothing can be run here; the exit code."""
    click.echo(
        "scisolve-batch: Windows is not supported: sessions stand on signals, limits and process "
        "groups that it does not have. Use the Linux of WSL 2 (`wsl --install`), and run it there",
        err=True,
    )
    return 2


def main() -> None:
    """Run the command line and end the program with its exit code."""
    if sys.platform == "win32":
        sys.exit(refuse_windows())
    try:
        code = cli.main(standalone_mode=False)
    except click.exceptions.Exit as end:
        code = end.exit_code
    except click.Abort:
        code = EXIT_INTERRUPTED
    except click.ClickException as error:
        error.show(file=sys.stderr)
        code = 2
    except ScisolveError as error:
        click.echo(f"scisolve-batch: {error}", err=True)
        code = error.exit_code
    except KeyboardInterrupt:
        click.echo("interrupted", err=True)
        code = EXIT_INTERRUPTED
    except BrokenPipeError:
        # The reader of our output is gone; what was to be written is on disk.
        os.dup2(os.open(os.devnull, os.O_WRONLY), sys.stdout.fileno())
        code = 1
    except Exception as error:
        if os.environ.get("SCISOLVE_BATCH_DEBUG"):
            raise
        click.echo(
            f"scisolve-batch: internal fault: {type(error).__name__}: {error}\n"
            "Set SCISOLVE_BATCH_DEBUG=1 to see where, and please report it.",
            err=True,
        )
        code = 2
    sys.exit(code if isinstance(code, int) else 0)
