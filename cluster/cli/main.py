"""The commands, and the one place where an error becomes a sentence and an exit code."""

import signal
import sys
from importlib.metadata import version
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape

from assayer.errors import AssayerError, RunCancelled
from cluster.cli.calibrate import app as calibrate
from cluster.cli.cancel import cancel
from cluster.cli.corpus import app as corpus
from cluster.cli.doctor import doctor
from cluster.cli.evaluate import evaluate
from cluster.cli.fetch import fetch
from cluster.cli.graph import app as graph
from cluster.cli.keys import app as keys
from cluster.cli.rank import rank
from cluster.cli.serve import serve
from cluster.cli.submit import submit
from cluster.cli.tenants import app as tenants
from cluster.cli.timeline import timeline
from cluster.cli.watch import watch

__all__ = ["app", "main"]

app = typer.Typer(
    name="assayer",
    help="Evaluates research ideas against the literature: cited, auditable, at scale.",
    no_args_is_help=True,
    add_completion=False,
    pretty_exceptions_enable=False,
)
app.command("evaluate")(evaluate)
app.command("rank")(rank)
app.command("serve")(serve)
app.command("submit")(submit)
app.command("watch")(watch)
app.command("fetch")(fetch)
app.command("cancel")(cancel)
app.command("timeline")(timeline)
app.command("doctor")(doctor)
app.add_typer(calibrate, name="calibrate")
app.add_typer(corpus, name="corpus")
app.add_typer(graph, name="graph")
app.add_typer(tenants, name="tenants")
app.add_typer(keys, name="keys")


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
        Console(stderr=True, highlight=False).print(f"[bold red]Error:[/] {escape(str(error))}", soft_wrap=True)
        sys.exit(130 if isinstance(error, RunCancelled) else 2)
