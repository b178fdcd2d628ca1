"""The commands, and the one place where an error becomes a sentence and an exit code."""

import signal
import sys
from importlib.metadata import version
from typing import Annotated, Any

import typer
from rich.console import Console
from rich.markup import escape
from typer.core import TyperGroup

from assayer.errors import AssayerError, RunCancelled
from cluster.cli.deferred import Deferred
from cluster.cli.extras import not_installed

__all__ = ["COMMANDS", "app", "main"]

COMMANDS = (
    Deferred("evaluate", "Evaluate research ideas and write cited reports."),
    Deferred("rank", "Rank ideas by pairwise comparisons of a language model, with intervals."),
    Deferred("serve", "Serve evaluations, comparisons and rankings over HTTP."),
    Deferred("submit", "Hand ideas to the service; prints the id of each evaluation or batch."),
    Deferred(
        "watch",
        "Show how far they are until they have ended, across broken connections. Exit code 1: some have no result.",
    ),
    Deferred("fetch", "Write reports or results into files and print their paths. Exit code 1: there is none yet."),
    Deferred(
        "shortlist",
        "Rank the ideas of a batch, starting from its reports' scores; prints the id of the ranking.",
    ),
    Deferred("cancel", "Cancel; what has ended stays as it is."),
    Deferred("timeline", "Draw what ran when: time in the queue, stages, and calls to the language model."),
    Deferred("doctor", "Tell what is configured, what answers and what is missing."),
    Deferred("calibrate", "Fit what turns scores into decisions on ideas whose outcome is known."),
    Deferred("corpus", "Build and search the local paper corpus."),
    Deferred("graph", "Compare ideas with labelled ideas: build, train, evaluate, add, check, info."),
    Deferred("tenants", "Who uses the service, and what was agreed with them."),
    Deferred("keys", "API keys of the service's tenants."),
)
"""In the order in which the help shows them."""


class _Commands(TyperGroup):
    def __init__(self, **given: Any) -> None:
        super().__init__(**given)
        for command in COMMANDS:
            self.add_command(command)


app = typer.Typer(
    name="assayer",
    cls=_Commands,
    help="Evaluates research ideas against the literature: cited, auditable, at scale.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)


def _show_version(wanted: bool) -> None:
    if wanted:
        typer.echo(f"assayer {version('assayer')}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options of the program itself."""


def main() -> None:
    """Exit codes: 0 done, 1 some ideas ended without a report, 2 unusable input or settings, 130 interrupted."""
    # Started in the background of a script, SIGINT is ignored, and with it what SIGTERM is turned into.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # A supervisor's SIGTERM ends the program as Ctrl-C does: in order, with the database left as it should be.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        app()
    except AssayerError as error:
        _complain(error)
        sys.exit(130 if isinstance(error, RunCancelled) else 2)
    except ModuleNotFoundError as error:
        lacking = not_installed(error)
        if lacking is None:
            raise
        _complain(lacking)
        sys.exit(2)


def _complain(error: AssayerError) -> None:
    Console(stderr=True, highlight=False).print(f"[bold red]Error:[/] {escape(str(error))}", soft_wrap=True)
