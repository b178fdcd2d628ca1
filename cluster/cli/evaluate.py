"""`assayer evaluate`: ideas in, reports out."""

import asyncio
import datetime as dt
from collections.abc import Iterable, Sequence
from functools import partial
from pathlib import Path
from typing import Annotated, NamedTuple

import typer
from rich.console import Console

from assayer.errors import AssayerError
from assayer.models import Idea, judged_blind
from cluster.cli.evaluation_summary import show_summary, show_summary_table
from cluster.cli.options import WithBlind, day
from cluster.cli.output import (
    PageFormat,
    distinct_names,
    make_folder,
    safe_name,
    wide_console,
)
from cluster.cli.side_by_side import side_by_side
from cluster.cli.terminal import EvaluationProgress, print_error
from cluster.cli.written_report import WrittenReport
from cluster.settings import PROFILES, Profile, Settings
from cluster.settings_loading import load_settings

__all__ = ["evaluate"]


_SHOWN_IN_FULL = 3


class FailedIdea(NamedTuple):
    source: str
    message: str


class EvaluationOutcome(NamedTuple):
    """Reports and failures in the order of the inputs."""

    written: list[WrittenReport]
    failures: list[FailedIdea]
    stopped: AssayerError | None = None
    """What made going on pointless for every idea that is in neither list."""


def evaluate(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Ideas (.txt .md .json .jsonl .pdf .docx .odt .xlsx), or folders of them."),
    ],
    method: Annotated[
        str,
        typer.Option(
            help="scholareval: soundness and contribution, against the literature. grapheval: comparison with labelled "
            "ideas. innoeval: a board of reviewers; needs a language model. scicompanion: a graph of the literature, "
            "grown step by step, and the references that the idea missed."
        ),
    ] = "scholareval",
    cutoff: Annotated[
        str | None,
        typer.Option(
            help="YYYY-MM-DD: ignore literature published later. An earlier cutoff of an idea itself still applies."
        ),
    ] = None,
    formats: Annotated[
        list[PageFormat] | None,
        typer.Option("--format", help="Report format; repeat for several. All three by default."),
    ] = None,
    out: Annotated[Path, typer.Option(help="Folder for the reports.")] = Path("out"),
    profile: Annotated[Profile, typer.Option(help="Named set of settings.")] = PROFILES[0],
    board: Annotated[
        int | None,
        typer.Option(min=0, max=100, help="InnoEval: number of reviewers; 0 is the control without personas."),
    ] = None,
    board_models: Annotated[
        str | None,
        typer.Option(metavar="A,B,...", help="InnoEval: models of the endpoint among which the reviewers are dealt."),
    ] = None,
    calibration: Annotated[
        Path | None, typer.Option(metavar="NAME|FILE", help="InnoEval: calibration that turns scores into decisions.")
    ] = None,
    blind: WithBlind = None,
) -> None:
    """Evaluate research ideas and write cited reports."""
    last_day = day(cutoff, "cutoff")
    settings = _with_board(load_settings(profile), board, board_models, calibration)
    console = wide_console()
    try:
        outcome = asyncio.run(_evaluate(paths, method, last_day, settings, formats, out, console, blind))
    except KeyboardInterrupt:
        print_error("Interrupted.", "Answers so far are saved: run the same command to continue.")
        raise
    _show(console, outcome)
    if outcome.stopped and not outcome.written:
        raise outcome.stopped
    if outcome.stopped:
        print_error("Stopped before all ideas were evaluated.", str(outcome.stopped))
    if outcome.failures or outcome.stopped:
        raise typer.Exit(1 if outcome.written else 2)


def _with_board(settings: Settings, board: int | None, models: str | None, calibration: Path | None) -> Settings:
    """The settings with what the command line says of InnoEval's board."""
    named = None if models is None else tuple(one for one in map(str.strip, models.split(",")) if one)
    said = {"board": board, "models": named, "calibration": calibration}
    chosen = settings.innoeval.board.model_copy(update={key: one for key, one in said.items() if one is not None})
    return settings.model_copy(update={"innoeval": settings.innoeval.model_copy(update={"board": chosen})})


def _show(console: Console, outcome: EvaluationOutcome) -> None:
    show_summary_table(console, [one.line for one in outcome.written])
    for one in outcome.written:
        if one.report is not None:
            show_summary(console, one.report)
    for source, message in outcome.failures:
        print_error("No report:", message if source in message else f"{source}: {message}")


async def _evaluate(
    paths: Sequence[Path],
    method: str,
    cutoff: dt.date | None,
    settings: Settings,
    formats: Sequence[PageFormat] | None,
    out: Path,
    console: Console,
    blind: bool | None,
) -> EvaluationOutcome:
    from cluster.cli.written_report import WriteReport
    from cluster.engine import check_request
    from cluster.evaluation_processes import open_evaluations
    from cluster.run_request import RunRequest
    from cluster.telemetry import metrics_server
    from workers.documents.idea_reader import given_together, read_ideas
    from workers.full_texts.bibliography import open_bibliography

    today = dt.datetime.now(dt.UTC).date()
    check_request(method, cutoff, today)
    async with open_bibliography(settings.grobid) as bibliography:
        read = await read_ideas(paths, latest_cutoff=today, bibliography=bibliography)
    ideas, rejected = read
    failures = [FailedIdea(one.source, one.message) for one in rejected]
    if not ideas:
        return EvaluationOutcome([], failures)
    run_request = RunRequest(blind=judged_blind(blind, settings.evaluation.blind, several=given_together(paths, read)))
    make_folder(out, "Reports")
    each = WriteReport(method, cutoff, run_request, formats, kept=len(ideas) <= _SHOWN_IN_FULL)
    with metrics_server(settings.metrics), EvaluationProgress(console, len(ideas)) as progress:
        async with open_evaluations(settings, (method,), len(ideas)) as evaluations:

            async def one(idea: Idea, name: str) -> WrittenReport:
                try:
                    return await evaluations.run(partial(each, idea, out / name), progress)
                finally:
                    progress.idea_done()

            works = [partial(one, idea, name) for idea, name in zip(ideas, _names(ideas), strict=True)]
            done = await side_by_side(works, evaluations.reach)
    ended = [(ideas[number].source, done.ended[number]) for number in sorted(done.ended)]
    failures += [FailedIdea(source, str(found)) for source, found in ended if isinstance(found, AssayerError)]
    return EvaluationOutcome([found for _, found in ended if isinstance(found, WrittenReport)], failures, done.stopped)


def _names(ideas: Iterable[Idea]) -> list[str]:
    """A file name for each idea, from where it came from."""
    parts = (Path(idea.source).name.partition(":") for idea in ideas)
    return distinct_names(
        safe_name(Path(file).stem + (f"-{line}" if line else "")) or "idea" for file, _, line in parts
    )
