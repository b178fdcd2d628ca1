"""`assayer score`: ideas in, single scores out: novelty, feasibility and effectiveness from 1 to 5."""

import asyncio
import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from assayer.errors import InputError
from assayer.models import Absent, judged_blind
from assayer.models.curation import IdeaScores
from cluster.cli.curation_output import show_work, write_lines
from cluster.cli.options import WithBlind, WithProfile
from cluster.cli.output import prepare_file, wide_console
from cluster.cli.terminal import StepProgress, print_error
from cluster.settings import PROFILES, Settings
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from cluster.curator import CurationWork

__all__ = ["score"]

_SHOWN = 20


class _ScoreOptions(NamedTuple):
    paths: list[Path]
    question: str | None
    out: Path
    blind: bool | None


class _Scored(NamedTuple):
    work: "CurationWork[IdeaScores]"
    rejected: list[str]


def score(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Ideas (.txt .md .json .jsonl .pdf .docx .odt .xlsx), or folders of them."),
    ],
    question: Annotated[str | None, typer.Option(help="The research question that all of them answer.")] = None,
    dimensions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Your own dimensions (.toml); novelty, feasibility, effectiveness by default."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="JSONL file for the scores, a line an idea.")] = Path("scores.jsonl"),
    profile: WithProfile = PROFILES[0],
    blind: WithBlind = None,
) -> None:
    """Score ideas one by one, from 1 to 5 on novelty, feasibility and effectiveness."""
    settings = _with_dimensions(load_settings(profile), dimensions)
    console = wide_console()
    try:
        made = asyncio.run(_score(_ScoreOptions(paths, question, out, blind), settings, console))
    except KeyboardInterrupt:
        print_error("Interrupted.", "Answers so far are saved: run the same command to continue.")
        raise
    _show(console, made.work.results)
    show_work(console, made.work, out)
    for message in made.rejected:
        print_error("Not scored:", message)
    if made.rejected or any(isinstance(one.mean, Absent) for one in made.work.results):
        raise typer.Exit(1)


def _with_dimensions(settings: Settings, dimensions: Path | None) -> Settings:
    if dimensions is None:
        return settings
    curation = settings.curation.model_copy(update={"score_dimensions": dimensions})
    return settings.model_copy(update={"curation": curation})


async def _score(given: _ScoreOptions, settings: Settings, console: Console) -> _Scored:
    from assayer.curation.dimensions import score_dimensions
    from assayer.curation.records import question_of_text
    from assayer.ranking.judged_texts import masked_idea
    from cluster.curator import open_curator, require_llm_for_curation
    from cluster.telemetry import metrics_server
    from workers.documents.idea_reader import given_together, read_ideas

    require_llm_for_curation(settings)
    score_dimensions(settings.curation.score_dimensions)
    question = None if given.question is None else question_of_text(given.question, "The question").text
    read = await read_ideas(given.paths, latest_cutoff=dt.datetime.now(dt.UTC).date())
    ideas, rejected = read
    if not ideas:
        raise InputError("There is no idea to score.", " ".join(one.message for one in rejected[:3]))
    if judged_blind(given.blind, settings.evaluation.blind, several=given_together(given.paths, read)):
        ideas = await asyncio.to_thread(lambda: [masked_idea(one) for one in ideas])
    prepare_file(given.out)
    with metrics_server(settings.metrics), StepProgress(console, "Ideas") as bar:
        async with open_curator(settings) as curator:
            work = await curator.score(ideas, question, bar)
    write_lines(given.out, work.results)
    return _Scored(work, [one.message for one in rejected])


def _show(console: Console, scored: list[IdeaScores]) -> None:
    table = Table(box=None, pad_edge=False, header_style="bold")
    table.add_column("Idea", overflow="fold")
    for one in scored[0].scores:
        table.add_column(one.dimension.capitalize(), justify="right")
    for idea in scored[:_SHOWN]:
        given = ["absent" if isinstance(one.score, Absent) else f"{one.score:g}" for one in idea.scores]
        table.add_row(escape(idea.title), *given)
    console.print(table)
    if len(scored) > _SHOWN:
        console.print(f"… and {len(scored) - _SHOWN:,} more.")
    for idea in scored:
        missing = [one for one in idea.scores if isinstance(one.score, Absent)]
        if missing and isinstance(missing[0].score, Absent):
            names = ", ".join(one.dimension for one in missing)
            text = f"{idea.source}, {names}: {missing[0].score.reason}"
            console.print(f"[yellow]![/] {escape(text)}", soft_wrap=True)
