"""`assayer evaluate`: evaluate ideas and write a report for each."""

import datetime as dt
from collections.abc import Iterable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from assayer.errors import AssayerError
from assayer.methods.criteria_file import load_criteria
from assayer.models import Criterion, Idea
from assayer_client.resources import DEFAULT_METHOD
from cluster.cli.options import (
    IdeaPaths,
    WithBlind,
    WithBoard,
    WithBoardModels,
    WithCriteria,
    WithCutoff,
    WithJson,
    WithLocalModel,
    WithModel,
    WithProfile,
    WithReportFolder,
    WithReportFormats,
    parse_day_option,
    split_at_commas,
)
from cluster.cli.output import ReportFormat, make_folder, make_names_distinct, make_safe_name
from cluster.cli.terminal import EvaluationProgress, print_error, print_json, print_remark, run_resumable
from cluster.local_model import ChosenModel, start_chosen_model
from cluster.settings import Settings

if TYPE_CHECKING:
    from cluster.cli.written_report import WrittenReport

_MAX_FULL_SUMMARIES = 3


class FailedIdea(NamedTuple):
    source: str
    message: str


class EvaluationOutcome(NamedTuple):
    """Reports and failures, each in input order."""

    written: "list[WrittenReport]"
    failures: list[FailedIdea]
    stopped: AssayerError | None = None
    """Error that stopped the evaluation. Ideas in neither list were not evaluated because of it."""


def evaluate(
    paths: IdeaPaths,
    method: Annotated[
        str,
        typer.Option(
            help="review: one page by two referees and an editor, with evidence from the literature. scholareval: "
            "soundness and contribution, compared with the literature. grapheval: comparison with labelled ideas. "
            "innoeval: a board of reviewers; needs a language model. scicompanion: a literature graph that is "
            "extended step by step, and the references that the idea missed. check: evidence without a judgement."
        ),
    ] = DEFAULT_METHOD,
    cutoff: WithCutoff = None,
    formats: WithReportFormats = None,
    out: WithReportFolder = Path("out"),
    profile: WithProfile = "laptop",
    board: WithBoard = None,
    board_models: WithBoardModels = None,
    calibration: Annotated[
        Path | None,
        typer.Option(metavar="NAME|FILE", help="InnoEval: the calibration that turns scores into decisions."),
    ] = None,
    criteria: WithCriteria = None,
    blind: WithBlind = None,
    model: WithModel = None,
    local_model: WithLocalModel = None,
    as_json: WithJson = False,
) -> None:
    """Evaluate research ideas and write cited reports."""
    with start_chosen_model(profile, model, local_model) as chosen:
        settings_with_board = replace(
            chosen, settings=_apply_board_options(chosen.settings, board, board_models, calibration)
        )
        write_reports(
            paths,
            method,
            cutoff,
            settings_with_board,
            formats,
            out,
            blind,
            load_criteria(criteria) if criteria else (),
            as_json=as_json,
        )


def write_reports(
    paths: Sequence[Path],
    method: str,
    cutoff: str | None,
    chosen: ChosenModel,
    formats: Sequence[ReportFormat] | None,
    out: Path,
    blind: bool | None,
    criteria: tuple[Criterion, ...] = (),
    *,
    as_json: bool = False,
) -> None:
    """Evaluate ideas, write their reports and print a summary. Raises AssayerError if nothing could be evaluated, and
    Exit with code 1 or 2 if any idea has no report."""
    last_day = parse_day_option(cutoff, "cutoff")
    outcome = run_resumable(_evaluate(paths, method, last_day, chosen, formats, out, blind, criteria))
    if as_json:
        print_json({"reports": [report.record for report in outcome.written], "failed": _list_failures(outcome)})
    else:
        _show(outcome)
    if outcome.stopped and not outcome.written:
        raise outcome.stopped
    if outcome.stopped:
        print_error("Stopped before all ideas were evaluated.", str(outcome.stopped))
    if outcome.failures or outcome.stopped:
        raise typer.Exit(1 if outcome.written else 2)


def _apply_board_options(
    settings: Settings, board: int | None, models: str | None, calibration: Path | None
) -> Settings:
    """Return the settings with the command-line options for InnoEval's board applied."""
    options = {
        "board": board,
        "models": None if models is None else split_at_commas(models),
        "calibration": calibration,
    }
    board_settings = settings.innoeval.board.model_copy(
        update={key: option_value for key, option_value in options.items() if option_value is not None}
    )
    return settings.model_copy(update={"innoeval": settings.innoeval.model_copy(update={"board": board_settings})})


def _list_failures(outcome: EvaluationOutcome) -> list[dict[str, str]]:
    return [failure._asdict() for failure in outcome.failures]


def _show(outcome: EvaluationOutcome) -> None:
    from cluster.cli.evaluation_summary import show_summary, show_summary_table

    show_summary_table([report.line for report in outcome.written])
    for item in outcome.written:
        if item.report is not None:
            show_summary(item.report)
    for source, message in outcome.failures:
        print_error("No report:", message if source in message else f"{source}: {message}")


async def _evaluate(
    paths: Sequence[Path],
    method: str,
    cutoff: dt.date | None,
    chosen: ChosenModel,
    formats: Sequence[ReportFormat] | None,
    out: Path,
    blind: bool | None,
    criteria: tuple[Criterion, ...],
) -> EvaluationOutcome:
    from cluster.cli.written_report import WriteReport, WrittenReport
    from cluster.evaluation_processes import evaluate_in_processes
    from cluster.read_proposals import read_proposals
    from cluster.telemetry import serve_metrics

    settings = chosen.settings
    ideas, rejected, run_request = await read_proposals(paths, settings, method, cutoff, blind, criteria)
    failures = [FailedIdea(rejection.source, rejection.message) for rejection in rejected]
    if not ideas:
        return EvaluationOutcome([], failures)
    make_folder(out, "Reports")
    announcement = chosen.describe_speed(len(ideas), method)
    if announcement is not None:
        print_remark(announcement)
    keeps_reports = len(ideas) <= _MAX_FULL_SUMMARIES
    works = [
        WriteReport(idea, out / name, method, cutoff, run_request, formats, keeps_reports)
        for idea, name in zip(ideas, _choose_file_names(ideas), strict=True)
    ]
    with (
        serve_metrics(settings.metrics),
        EvaluationProgress(len(ideas)) as progress,
        chosen.watch(progress.show_model),
    ):
        done = await evaluate_in_processes(settings, (method,), works, progress, progress.finish_idea)
    ended = [(ideas[number].source, done.ended[number]) for number in sorted(done.ended)]
    failures += [FailedIdea(source, str(outcome)) for source, outcome in ended if isinstance(outcome, AssayerError)]
    return EvaluationOutcome(
        [outcome for _, outcome in ended if isinstance(outcome, WrittenReport)], failures, done.stopped
    )


def _choose_file_names(ideas: Iterable[Idea]) -> list[str]:
    """Return a distinct file name for each idea, derived from the name of its source."""
    parts = (Path(idea.source).name.partition(":") for idea in ideas)
    return make_names_distinct(
        make_safe_name(Path(file).stem + (f"-{line}" if line else "")) or "idea" for file, _, line in parts
    )
