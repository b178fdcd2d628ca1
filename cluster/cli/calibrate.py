"""`assayer calibrate`: fit decision thresholds on the reports of labelled ideas."""

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer
from rich.markup import escape

from assayer.errors import InputError
from assayer.methods.innoeval.board.decision import DecisionCalibration
from cluster.cli.options import WithJson, split_at_commas
from cluster.cli.terminal import print_json, print_markup, show_table
from cluster.innoeval_calibrations import fit_calibration, read_labels, save_calibration
from cluster.settings_loading import load_settings

app = typer.Typer(
    no_args_is_help=True, help="Fit the thresholds that turn scores into decisions, using ideas with known outcomes."
)


@app.callback()
def require_subcommand() -> None:
    """Keep the method's name a required part of the command although there is only one method."""


@app.command("innoeval")
def innoeval(
    labelled: Annotated[Path, typer.Option(metavar="FILE", help="JSON Lines file of ideas with their outcomes.")],
    reports: Annotated[Path, typer.Option(metavar="FOLDER", help="InnoEval's JSON reports on these ideas.")],
    classes: Annotated[str, typer.Option(help="Outcomes from worst to best, separated by commas.")],
    name: Annotated[str, typer.Option(help="Name of the calibration, shown in reports: a-z, 0-9, - and _.")],
    source: Annotated[str, typer.Option(help="Origin of the decisions; shown in reports.")],
    label_field: Annotated[str, typer.Option(help="Field that holds the outcome.")] = "label",
    seed: Annotated[int, typer.Option(help="Random seed for folds and bootstrap samples.")] = 0,
    as_json: WithJson = False,
) -> None:
    """Fit thresholds on final scores, and measure their quality on held-out ideas."""
    settings = load_settings()
    outcomes = split_at_commas(classes)
    if len(set(outcomes)) != len(outcomes) or len(outcomes) < 2:
        raise InputError(
            f"--classes {classes!r} must name two or more different outcomes.", "List them from worst to best."
        )
    labels = read_labels(labelled, label_field)
    made_on = dt.datetime.now(dt.UTC).date()
    calibration = fit_calibration(name, made_on, labels, source, reports, outcomes, seed)
    path = save_calibration(settings.home, calibration)
    if as_json:
        print_json({"calibration": calibration, "file": path})
    else:
        _show(calibration, path)


def _show(calibration: DecisionCalibration, path: Path) -> None:
    starts = ["lowest", *(_format_threshold(threshold) for threshold in calibration.thresholds)]
    counts = map("{:,}".format, calibration.counts)
    rows = list(zip(calibration.outcomes, counts, starts, strict=True))
    headings = ("Outcome", "Labelled", "From a final score of")
    show_table(headings, rows, figures=headings[1:])
    if calibration.unscored:
        print_markup(f"{calibration.unscored:,} labelled ideas have no final score and were skipped.")
    performance = calibration.performance
    commonest = calibration.outcomes[max(range(len(calibration.counts)), key=calibration.counts.__getitem__)]
    print_markup(
        f"On held-out ideas: accuracy {performance.accuracy:.3f} "
        f"(always {escape(commonest)}: {performance.always_most_frequent:.3f}), "
        f"macro-F1 {performance.macro_f1:.3f} ({performance.macro_f1_most_frequent:.3f}), "
        f"mean recall {performance.balanced_accuracy:.3f} (chance: {performance.chance:.3f})."
    )
    if performance.accuracy <= performance.always_most_frequent:
        print_markup(
            f"[yellow]![/] Always answering {escape(commonest)} is at least as accurate: "
            "the fitted decisions use all outcomes, but are not more accurate."
        )
    print_markup(
        escape(
            f"Written: {path}. Use it with --calibration {calibration.name}; it applies only to boards with the same "
            "settings."
        )
    )


def _format_threshold(threshold: float) -> str:
    """Format a threshold, or return `never` for a threshold above the scale, because no score reaches it."""
    return "never" if threshold > 10 else f"{threshold:.2f}"
