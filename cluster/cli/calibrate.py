"""`assayer calibrate`: from reports of labelled ideas to thresholds for decisions."""

import datetime as dt
from pathlib import Path
from typing import Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assayer.errors import InputError
from assayer.methods.innoeval.decision import DecisionCalibration
from cluster.calibrations import fitted, keep, read_labels
from cluster.settings import PROFILES, Profile, load_settings

__all__ = ["app"]

app = typer.Typer(no_args_is_help=True, help="Fit what turns scores into decisions on ideas whose outcome is known.")


@app.callback()
def methods() -> None:
    """Keeps the method's name part of the command while there is only one."""


@app.command("innoeval")
def innoeval(
    labelled: Annotated[Path, typer.Option(metavar="FILE", help="JSON Lines of the ideas, with their outcomes.")],
    reports: Annotated[Path, typer.Option(metavar="FOLDER", help="JSON reports of InnoEval on these ideas.")],
    classes: Annotated[str, typer.Option(help="Outcomes from worst to best, separated by commas.")],
    name: Annotated[str, typer.Option(help="Under which reports will name it: a-z, 0-9, - and _.")],
    source: Annotated[str, typer.Option(help="Whose decisions these are; readers of reports see it.")],
    label_field: Annotated[str, typer.Option(help="Field that holds the outcome.")] = "label",
    seed: Annotated[int, typer.Option(help="Of folds and bootstrap samples.")] = 0,
    profile: Annotated[Profile, typer.Option(help="Named settings.")] = PROFILES[0],
) -> None:
    """Fit thresholds on final scores; tell what they are worth on ideas that they have not seen."""
    settings = load_settings(profile)
    outcomes = [one.strip() for one in classes.split(",") if one.strip()]
    if len(set(outcomes)) != len(outcomes) or len(outcomes) < 2:
        raise InputError(f"--classes {classes!r} must name two outcomes or more, each once.", "The worst comes first.")
    labels = read_labels(labelled, label_field)
    made_on = dt.datetime.now(dt.UTC).date()
    calibration = fitted(name, made_on, labels, source, reports, outcomes, seed)
    path = keep(settings.home, calibration)
    _show(Console(highlight=False), calibration, path)


def _show(console: Console, made: DecisionCalibration, path: Path) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    for heading in ("Outcome", "Labelled", "From a final score of"):
        table.add_column(heading, justify="left" if heading == "Outcome" else "right")
    starts = ["lowest", *(_shown(one) for one in made.thresholds)]
    for outcome, count, start in zip(made.outcomes, made.counts, starts, strict=True):
        table.add_row(escape(outcome), f"{count:,}", start)
    console.print(table)
    if made.unscored:
        console.print(f"{made.unscored:,} labelled ideas have no final score and took no part.")
    worth = made.performance
    often = made.outcomes[max(range(len(made.counts)), key=made.counts.__getitem__)]
    console.print(
        f"On held-out ideas: accuracy {worth.accuracy:.3f} (always {escape(often)}: {worth.always_most_frequent:.3f}), "
        f"macro-F1 {worth.macro_f1:.3f} ({worth.macro_f1_most_frequent:.3f}), mean recall "
        f"{worth.balanced_accuracy:.3f} (chance: {worth.chance:.3f}).",
        soft_wrap=True,
    )
    if worth.accuracy <= worth.always_most_frequent:
        console.print(
            f"[yellow]![/] Naming {escape(often)} every time is right as often: these decisions spread over the "
            "outcomes, and no more of them are right.",
            soft_wrap=True,
        )
    console.print(
        escape(f"Written: {path}. Use it with --calibration {made.name}; it decides on boards of the same kind only."),
        soft_wrap=True,
    )


def _shown(threshold: float) -> str:
    """A threshold above the scale names its outcome never."""
    return "never" if threshold > 10 else f"{threshold:.2f}"
