"""`assayer propose`: a research question in, candidate ideas out, the best of them first if wanted."""

import asyncio
from collections.abc import Mapping
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, NamedTuple

import typer
from rich.console import Console
from rich.markup import escape

from assayer.curation.options import BestBy, CandidateTier
from assayer.errors import InputError
from assayer.models import Absent
from assayer.models.curation import Candidate, ResearchQuestion
from cluster.cli.curation_output import show_work, write_lines
from cluster.cli.options import WithProfile, validated
from cluster.cli.output import prepare_file, wide_console
from cluster.cli.terminal import StepProgress, print_error
from cluster.settings import PROFILES, CurationSettings, Settings
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from assayer.curation.candidates import ProposedCandidates
    from cluster.curator import CurationWork

__all__ = ["propose"]

_SHOWN = 20


class _Proposed(NamedTuple):
    questions: list[ResearchQuestion]
    work: "CurationWork[ProposedCandidates]"
    rejected: list[str]


def propose(
    question: Annotated[
        str,
        typer.Argument(help="A research question, or a JSONL file of questions, such as `assayer curate` writes."),
    ],
    candidates: Annotated[int | None, typer.Option(min=1, max=100, help="Ideas a question; 10 by default.")] = None,
    best: Annotated[
        BestBy | None,
        typer.Option(
            help="Put the candidates of each question in order: by pairwise comparisons, or by single scores."
        ),
    ] = None,
    tier: Annotated[CandidateTier | None, typer.Option(help="Which model proposes; strong by default.")] = None,
    temperature: Annotated[float | None, typer.Option(help="Above 0, up to 2; 0.8 by default.")] = None,
    out: Annotated[
        Path, typer.Option(help="JSONL file for the candidates, which every command reads as ideas.")
    ] = Path("candidates.jsonl"),
    profile: WithProfile = PROFILES[0],
) -> None:
    """Propose candidate ideas for a research question, and pick the best of them."""
    said = {"candidates": candidates, "candidate_tier": tier, "temperature": temperature}
    settings = _with_options(load_settings(profile), said)
    console = wide_console()
    try:
        made = asyncio.run(_propose(question, best, out, settings, console))
    except KeyboardInterrupt:
        print_error("Interrupted.", "Answers so far are saved: run the same command to continue.")
        raise
    _show(console, made)
    show_work(console, made.work, out)
    lost = _lost(made)
    for message in [*lost, *made.rejected]:
        print_error("Missing:", message)
    if lost or made.rejected:
        raise typer.Exit(1)


def _with_options(settings: Settings, said: Mapping[str, Any]) -> Settings:
    chosen = {name: value for name, value in said.items() if value is not None}
    changed = validated(CurationSettings, {**settings.curation.model_dump(), **chosen})
    return settings.model_copy(update={"curation": changed})


async def _propose(question: str, best: BestBy | None, out: Path, settings: Settings, console: Console) -> _Proposed:
    from cluster.curator import open_curator, require_llm_for_curation
    from cluster.telemetry import metrics_server

    require_llm_for_curation(settings)
    questions, rejected = await asyncio.to_thread(_questions, question)
    prepare_file(out)
    with metrics_server(settings.metrics), StepProgress(console, "Questions") as bar:
        async with open_curator(settings) as curator:
            work = await curator.propose(questions, best, bar)
    write_lines(out, (one for made in work.results for one in made.candidates))
    return _Proposed(questions, work, rejected)


def _questions(given: str) -> tuple[list[ResearchQuestion], list[str]]:
    """Of a file, or the words themselves. Raises InputError."""
    from assayer.curation.records import question_of_text
    from cluster.curation_inputs import read_questions

    if not given.strip().endswith((".jsonl", ".json")):
        return [question_of_text(given, "The question")], []
    read = read_questions(Path(given))
    if not read.found:
        raise InputError(f"{given} holds no question that can be used.", " ".join(read.rejected[:3]))
    return read.found, read.rejected


def _lost(made: _Proposed) -> list[str]:
    return [
        f"{question.source}, candidate {number}: {error}"
        for question, found in zip(made.questions, made.work.results, strict=True)
        for number, error in sorted(found.lost.items())
    ]


def _show(console: Console, made: _Proposed) -> None:
    found = made.work.results
    repeats = sum(len(one.repeats) for one in found)
    kept = sum(len(one.candidates) for one in found)
    console.print(
        f"{kept:,} candidates for {len(found):,} question{'s' * (len(found) != 1)}; {repeats:,} more said what "
        "another one says and are left out.",
        soft_wrap=True,
    )
    for question, one in list(zip(made.questions, found, strict=True))[:_SHOWN]:
        if one.candidates and one.candidates[0].place is not None:
            console.print(f"{escape(question.id)}: {_best(one.candidates[0])}", soft_wrap=True)


def _best(first: Candidate) -> str:
    if isinstance(first.place, Absent):
        return f"no best one: {escape(first.place.reason)}"
    return f"best is candidate {first.number}, {escape(first.title)}"
