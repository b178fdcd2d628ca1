"""`assayer evaluate`: ideas in, reports out."""

import asyncio
import datetime as dt
import re
import sys
from collections.abc import Awaitable, Callable, Iterable, Sequence
from enum import StrEnum
from itertools import count
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console
from rich.markup import escape

from assayer.errors import AssayerError, ConfigurationError, InputError, LlmRejected, LlmUnavailable
from assayer.flow import together
from assayer.models import Idea, Report
from assayer.reports.html import as_html
from assayer.reports.markdown import as_markdown
from assayer.reports.schema import as_json
from cluster.cli.options import day
from cluster.cli.progress import EvaluationProgress
from cluster.cli.summary import Line, show_summary, show_table
from cluster.settings import PROFILES, Profile, Settings, load_settings

__all__ = ["evaluate"]


class Format(StrEnum):
    """In the order in which a person would open them."""

    html = "html"
    md = "md"
    json = "json"


_RENDER: dict[Format, Callable[[Report], str]] = {
    Format.html: as_html,
    Format.md: as_markdown,
    Format.json: as_json,
}


_WIDEST = 10_000
"""Columns; a table takes what it needs."""
_SHOWN_IN_FULL = 3
_FATAL = (LlmRejected, ConfigurationError)
"""What the next idea would meet as well."""


class Written(NamedTuple):
    line: Line
    report: Report | None
    """None when there are more than can be read in a terminal: thousands of reports are not held in memory."""


class Failure(NamedTuple):
    source: str
    message: str


class Outcome(NamedTuple):
    """Reports and failures in the order of the inputs."""

    written: list[Written]
    failures: list[Failure]
    stopped: AssayerError | None = None
    """What made going on pointless for every idea that is in neither list."""


def evaluate(
    paths: Annotated[
        list[Path], typer.Argument(help="Ideas: .txt, .md, .json, .jsonl or .pdf files, or folders of them.")
    ],
    method: Annotated[
        str,
        typer.Option(
            help="scholareval: soundness and contribution, against the literature. grapheval: its place among labelled "
            "ideas. innoeval: a board of reviewers; needs a language model."
        ),
    ] = "scholareval",
    cutoff: Annotated[
        str | None,
        typer.Option(
            help="YYYY-MM-DD: literature published later is not used. An idea's own earlier cutoff stays in force."
        ),
    ] = None,
    formats: Annotated[
        list[Format] | None, typer.Option("--format", help="Report format; may be repeated. All three by default.")
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the reports.")] = Path("out"),
    profile: Annotated[Profile, typer.Option(help="Named settings.")] = PROFILES[0],
    board: Annotated[
        int | None, typer.Option(min=0, max=100, help="InnoEval: reviewers; 0 for the control without personas.")
    ] = None,
    calibration: Annotated[
        Path | None, typer.Option(metavar="NAME|FILE", help="InnoEval: thresholds that turn scores into decisions.")
    ] = None,
) -> None:
    """Evaluate research ideas and write cited reports."""
    last_day = day(cutoff, "cutoff")
    settings = _seated(load_settings(profile), board, calibration)
    # In a file or a pipe no path is broken over two lines.
    console = Console(highlight=False, width=None if sys.stdout.isatty() else _WIDEST)
    try:
        outcome = asyncio.run(_evaluate(paths, method, last_day, settings, formats or list(_RENDER), out, console))
    except KeyboardInterrupt:
        _complain("Interrupted.", "What was answered is kept: the same command goes on from there.")
        raise
    _show(console, outcome)
    if outcome.stopped and not outcome.written:
        raise outcome.stopped
    if outcome.stopped:
        _complain("Stopped before all ideas were evaluated.", str(outcome.stopped))
    if outcome.failures or outcome.stopped:
        raise typer.Exit(1 if outcome.written else 2)


def _seated(settings: Settings, board: int | None, calibration: Path | None) -> Settings:
    """The settings with what the command line says of InnoEval's board."""
    said = {"board": board, "calibration": calibration}
    chosen = settings.innoeval.board.model_copy(update={key: one for key, one in said.items() if one is not None})
    return settings.model_copy(update={"innoeval": settings.innoeval.model_copy(update={"board": chosen})})


def _show(console: Console, outcome: Outcome) -> None:
    show_table(console, [one.line for one in outcome.written])
    for one in outcome.written:
        if one.report is not None:
            show_summary(console, one.report)
    for source, message in outcome.failures:
        _complain("No report:", message if source in message else f"{source}: {message}")


def _complain(what: str, text: str) -> None:
    Console(stderr=True, highlight=False).print(f"[bold red]{what}[/] {escape(text)}", soft_wrap=True)


async def _evaluate(
    paths: Sequence[Path],
    method: str,
    cutoff: dt.date | None,
    settings: Settings,
    formats: Sequence[Format],
    out: Path,
    console: Console,
) -> Outcome:
    from cluster.engine import check_request, open_engine
    from cluster.metrics import serving_metrics
    from workers.documents.reading import read_ideas

    today = dt.datetime.now(dt.UTC).date()
    check_request(method, cutoff, today)
    ideas, rejected = await read_ideas(paths, latest_cutoff=today)
    failures = [Failure(one.source, one.message) for one in rejected]
    if not ideas:
        return Outcome([], failures)
    names = _names(ideas)
    _make_folder(out)
    with serving_metrics(settings.metrics), EvaluationProgress(console, len(ideas)) as progress:
        async with open_engine(settings, (method,)) as engine:

            async def one(idea: Idea, name: str) -> Written:
                try:
                    evaluation = await engine.evaluate(idea, method, cutoff, progress)
                    files = _write(evaluation.report, out / name, formats)
                    shown = evaluation.report if len(ideas) <= _SHOWN_IN_FULL else None
                    return Written(Line.of(evaluation.report, files), shown)
                finally:
                    progress.idea_done()

            outcome = await _all(list(zip(ideas, names, strict=True)), one, engine.reach)
    return outcome._replace(failures=failures + outcome.failures)


async def _all(
    named: Sequence[tuple[Idea, str]],
    work: Callable[[Idea, str], Awaitable[Written]],
    reach: Callable[[], Awaitable[None]],
) -> Outcome:
    """Side by side; one idea's failure costs no other its report. An endpoint that is gone for good stops them all,
    instead of being waited for once an idea."""
    done: dict[int, Written | Failure] = {}
    stopped: AssayerError | None = None

    async def attempt(number: int, idea: Idea, name: str) -> None:
        try:
            done[number] = await work(idea, name)
        except _FATAL:
            raise
        except AssayerError as error:
            done[number] = Failure(idea.source, str(error))
            if isinstance(error, LlmUnavailable):
                await reach()

    try:
        await together(attempt(number, *one) for number, one in enumerate(named))
    except (*_FATAL, LlmUnavailable) as error:
        stopped = error
    ended = [done[number] for number in sorted(done)]
    written = [one for one in ended if isinstance(one, Written)]
    return Outcome(written, [one for one in ended if isinstance(one, Failure)], stopped)


def _make_folder(out: Path) -> None:
    try:
        out.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        raise InputError(
            f"Reports cannot be written to {out}: {error.strerror}.", "Choose another with --out."
        ) from None


def _write(report: Report, stem: Path, formats: Iterable[Format]) -> list[Path]:
    """Writes the report in each format and tells where. Raises InputError when a file cannot be written."""
    files = []
    for kind in [one for one in Format if one in formats]:
        path = stem.with_name(f"{stem.name}.{kind}")
        try:
            path.write_text(_RENDER[kind](report), encoding="utf-8")
        except OSError as error:
            raise InputError(f"The report {path} cannot be written: {error.strerror}.") from None
        files.append(path)
    return files


def _names(ideas: Iterable[Idea]) -> list[str]:
    """A file name for each idea, from where it came from; repeated names get a number."""
    names: dict[str, None] = {}
    for idea in ideas:
        file, _, line = Path(idea.source).name.partition(":")
        name = re.sub(r"[^\w.-]+", "_", Path(file).stem + (f"-{line}" if line else "")).strip("._") or "idea"
        numbered = (name if number == 1 else f"{name}-{number}" for number in count(1))
        names[next(one for one in numbered if one not in names)] = None
    return list(names)
