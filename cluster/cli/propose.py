"""`assayer propose`: generate candidate ideas for a research question, and optionally rank them, best first."""

import asyncio
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.markup import escape

from assayer.curation.options import CandidateTier
from assayer.errors import InputError
from assayer.models import Absent
from assayer.models.curation import ResearchQuestion
from assayer_client.curation import BestBy, Candidate
from cluster.cli.curation_output import open_curation, report_curation, write_lines
from cluster.cli.options import WithJson, WithLocalModel, WithModel, WithProfile, update_section
from cluster.cli.standard_input import read_from_standard_input
from cluster.cli.terminal import print_markup, run_resumable
from cluster.local_model import start_chosen_model
from cluster.settings import Settings

if TYPE_CHECKING:
    from assayer.curation.candidates import ProposedCandidates
    from cluster.curator import CurationWork

_MAX_SHOWN_QUESTIONS = 20


class _Proposed(NamedTuple):
    questions: list[ResearchQuestion]
    work: "CurationWork[ProposedCandidates]"
    rejected: list[str]


def _from_standard_input(ctx: typer.Context, question: str) -> str:
    """Return the question or file name unchanged. For `-`, return the question, or a temporary file of questions, from
    standard input."""
    if question != "-":
        return question
    file = read_from_standard_input(ctx, Path(question))
    return str(file) if file.suffix in (".json", ".jsonl") else file.read_text("utf-8")


def propose(
    question: Annotated[
        str,
        typer.Argument(
            help="A research question, a JSONL file of questions from `assayer curate`, or - for standard input.",
            callback=_from_standard_input,
        ),
    ],
    candidates: Annotated[
        int | None, typer.Option(min=1, max=100, help="Number of ideas per question; 10 by default.")
    ] = None,
    best: Annotated[
        BestBy | None,
        typer.Option(help="Rank each question's candidates: by pairwise comparisons, or by individual scores."),
    ] = None,
    tier: Annotated[CandidateTier | None, typer.Option(help="Which model proposes; strong by default.")] = None,
    temperature: Annotated[float | None, typer.Option(help="Above 0, up to 2; 0.8 by default.")] = None,
    out: Annotated[
        Path, typer.Option(help="JSONL file for the candidates; every command can read it as ideas.")
    ] = Path("candidates.jsonl"),
    profile: WithProfile = "laptop",
    model: WithModel = None,
    local_model: WithLocalModel = None,
    as_json: WithJson = False,
) -> None:
    """Propose candidate ideas for a research question, and pick the best of them."""
    options = {"candidates": candidates, "candidate_tier": tier, "temperature": temperature}
    with start_chosen_model(profile, model, local_model) as chosen:
        settings = update_section(chosen.settings, "curation", options)
        proposed = run_resumable(_propose(question, best, out, settings))
    if not as_json:
        _show(proposed)
    report_curation(
        proposed.work,
        out,
        "Missing:",
        [*_describe_missing_candidates(proposed), *proposed.rejected],
        complete=True,
        as_json=as_json,
    )


async def _propose(question: str, best: BestBy | None, out: Path, settings: Settings) -> _Proposed:
    from cluster.language_model import require_llm

    require_llm(settings, "Proposing ideas")
    questions, rejected = await asyncio.to_thread(_read_questions, question)
    async with open_curation(settings, out, "Questions") as (curator, bar):
        work = await curator.propose(questions, best, bar)
    write_lines(out, (candidate for result in work.results for candidate in result.candidates))
    return _Proposed(questions, work, rejected)


def _read_questions(text: str) -> tuple[list[ResearchQuestion], list[str]]:
    """Return the questions in the file named `text` or, if there is no such file, the text as a question. Raises
    InputError if the file has no usable question."""
    from assayer.curation.records import parse_question
    from cluster.curation_inputs import read_questions

    if not text.strip().endswith((".jsonl", ".json")):
        return [parse_question(text, "The question")], []
    lines_read = read_questions(Path(text))
    if not lines_read.found:
        raise InputError(f"{text} contains no usable questions.", " ".join(lines_read.rejected[:3]))
    return lines_read.found, lines_read.rejected


def _describe_missing_candidates(proposed: _Proposed) -> list[str]:
    return [
        f"{question.source}, candidate {number}: {error}"
        for question, result in zip(proposed.questions, proposed.work.results, strict=True)
        for number, error in sorted(result.lost.items())
    ]


def _show(proposed: _Proposed) -> None:
    results = proposed.work.results
    repeats = sum(len(result.repeats) for result in results)
    candidate_count = sum(len(result.candidates) for result in results)
    print_markup(
        f"{candidate_count:,} candidates for {len(results):,} question{'s' * (len(results) != 1)}; {repeats:,} "
        "duplicates were removed."
    )
    for question, item in list(zip(proposed.questions, results, strict=True))[:_MAX_SHOWN_QUESTIONS]:
        if item.candidates and item.candidates[0].rank is not None:
            print_markup(f"{escape(question.id)}: {_describe_best(item.candidates[0])}")


def _describe_best(best: Candidate) -> str:
    if isinstance(best.rank, Absent):
        return f"no best candidate: {escape(best.rank.reason)}"
    return f"best is candidate {best.number}, {escape(best.title)}"
