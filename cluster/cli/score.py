"""`assayer score`: score ideas one by one for novelty, feasibility and effectiveness, from 1 to 5."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.markup import escape

from assayer.errors import InputError
from assayer.models import Absent, is_judged_blind
from assayer_client.curation import IdeaScores
from cluster.cli.curation_output import open_curation, report_curation, write_lines
from cluster.cli.idea_inputs import read_idea_inputs
from cluster.cli.options import IdeaPaths, WithBlind, WithJson, WithLocalModel, WithModel, WithProfile, update_section
from cluster.cli.terminal import print_markup, run_resumable, show_table
from cluster.local_model import start_chosen_model
from cluster.settings import Settings

if TYPE_CHECKING:
    from cluster.curator import CurationWork

_MAX_SHOWN_IDEAS = 20


class _Scored(NamedTuple):
    work: "CurationWork[IdeaScores]"
    rejected: list[str]


def score(
    paths: IdeaPaths,
    question: Annotated[str | None, typer.Option(help="The research question that all the ideas answer.")] = None,
    dimensions: Annotated[
        Path | None,
        typer.Option(
            metavar="FILE", help="Your own dimensions (.toml); by default novelty, feasibility and effectiveness."
        ),
    ] = None,
    out: Annotated[Path, typer.Option(help="JSONL file for the scores, one line per idea.")] = Path("scores.jsonl"),
    profile: WithProfile = "laptop",
    blind: WithBlind = None,
    model: WithModel = None,
    local_model: WithLocalModel = None,
    as_json: WithJson = False,
) -> None:
    """Score ideas one by one, from 1 to 5 on novelty, feasibility and effectiveness."""
    with start_chosen_model(profile, model, local_model) as chosen:
        settings = update_section(chosen.settings, "curation", {"score_dimensions": dimensions})
        work, rejected = run_resumable(_score(paths, question, out, blind, settings))
    if not as_json:
        _show(work.results)
    complete = not any(isinstance(result.mean, Absent) for result in work.results)
    report_curation(work, out, "Not scored:", rejected, complete=complete, as_json=as_json)


async def _score(
    paths: list[Path], question_option: str | None, out: Path, blind: bool | None, settings: Settings
) -> _Scored:
    from assayer.curation.dimensions import load_score_dimensions
    from assayer.curation.records import parse_question
    from assayer.ranking.judged_texts import mask_idea
    from cluster.language_model import require_llm
    from workers.documents.idea_reader import are_submitted_together

    require_llm(settings, "Scoring ideas")
    load_score_dimensions(settings.curation.score_dimensions)
    question = None if question_option is None else parse_question(question_option, "The question").text
    ideas_read = await read_idea_inputs(paths, settings)
    ideas, rejected = ideas_read
    if not ideas:
        raise InputError("There are no ideas to score.", " ".join(rejection.message for rejection in rejected[:3]))
    if is_judged_blind(blind, settings.evaluation.blind, several=are_submitted_together(paths, ideas_read)):
        ideas = await asyncio.to_thread(lambda: [mask_idea(idea) for idea in ideas])
    async with open_curation(settings, out, "Ideas") as (curator, bar):
        work = await curator.score(ideas, question, bar)
    write_lines(out, work.results)
    return _Scored(work, [rejection.message for rejection in rejected])


def _show(scored: list[IdeaScores]) -> None:
    figures = [score.dimension.capitalize() for score in scored[0].scores]
    rows = [
        (idea.title, *("absent" if isinstance(score.score, Absent) else f"{score.score:g}" for score in idea.scores))
        for idea in scored[:_MAX_SHOWN_IDEAS]
    ]
    show_table(("Idea", *figures), rows, figures)
    if len(scored) > _MAX_SHOWN_IDEAS:
        print_markup(f"… and {len(scored) - _MAX_SHOWN_IDEAS:,} more.")
    for idea in scored:
        missing_scores = [score for score in idea.scores if isinstance(score.score, Absent)]
        if missing_scores and isinstance(missing_scores[0].score, Absent):
            names = ", ".join(score.dimension for score in missing_scores)
            text = f"{idea.source}, {names}: {missing_scores[0].score.reason}"
            print_markup(f"[yellow]![/] {escape(text)}")
