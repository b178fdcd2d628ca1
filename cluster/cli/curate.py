"""`assayer curate`: derive research questions from papers, without revealing the papers' methods."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer

from assayer.errors import InputError
from assayer.models import Absent
from assayer.models.curation import PAPER_KINDS
from assayer_client.curation import CuratedPaper
from cluster.cli.curation_output import open_curation, report_curation, write_lines
from cluster.cli.options import WithJson, WithLocalModel, WithModel, WithProfile, update_section
from cluster.cli.standard_input import read_from_standard_input
from cluster.cli.terminal import print_markup, run_resumable
from cluster.local_model import start_chosen_model
from cluster.settings import Settings

if TYPE_CHECKING:
    from cluster.curator import CurationWork


class _Curated(NamedTuple):
    work: "CurationWork[CuratedPaper]"
    rejected: list[str]


def curate(
    papers: Annotated[
        Path,
        typer.Argument(
            help="JSON Lines file of papers with `title`, `abstract` and optionally `id`; - for standard input.",
            callback=read_from_standard_input,
        ),
    ],
    out: Annotated[Path, typer.Option(help="JSONL file for the results, one line per paper.")] = Path("curated.jsonl"),
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind", help="Kinds of papers to derive questions from: new_idea (the default), survey, evaluation."
        ),
    ] = None,
    profile: WithProfile = "laptop",
    model: WithModel = None,
    local_model: WithLocalModel = None,
    as_json: WithJson = False,
) -> None:
    """Sort papers (new idea, survey, evaluation) and derive a research question from each."""
    unknown = [kind for kind in kinds or () if kind not in PAPER_KINDS]
    if unknown:
        raise InputError(f"Unknown kind of paper {unknown[0]!r}.", f"Kinds: {', '.join(PAPER_KINDS)}.")
    kinds_to_keep = tuple(kind for kind in PAPER_KINDS if kind in kinds) if kinds else None
    with start_chosen_model(profile, model, local_model) as chosen:
        settings = update_section(chosen.settings, "curation", {"question_kinds": kinds_to_keep})
        work, rejected = run_resumable(_curate(papers, out, settings))
    if not as_json:
        _show(work.results)
    complete = not any(isinstance(result.kind, Absent) for result in work.results)
    report_curation(work, out, "Not read:", rejected, complete=complete, as_json=as_json)


async def _curate(papers: Path, out: Path, settings: Settings) -> _Curated:
    from cluster.curation_inputs import read_papers
    from cluster.language_model import require_llm

    require_llm(settings, "Curating papers")
    lines_read = await asyncio.to_thread(read_papers, papers, settings.curation.abstract_chars)
    if not lines_read.found:
        raise InputError(f"{papers} contains no usable papers.", " ".join(lines_read.rejected[:3]))
    async with open_curation(settings, out, "Papers") as (curator, bar):
        work = await curator.curate(lines_read.found, bar)
    write_lines(out, work.results)
    return _Curated(work, lines_read.rejected)


def _show(papers: list[CuratedPaper]) -> None:
    kinds = Counter("unknown" if isinstance(paper.kind, Absent) else paper.kind for paper in papers)
    counts_text = ", ".join(f"{kind.replace('_', ' ')} {count:,}" for kind, count in kinds.most_common())
    papers_with_question = [paper for paper in papers if paper.attempts]
    usable = [paper for paper in papers_with_question if not isinstance(paper.question, Absent)]
    retried_count = sum(paper.attempts > 1 for paper in usable)
    print_markup(f"{len(papers):,} papers: {counts_text}.")
    print_markup(
        f"{len(usable):,} of {len(papers_with_question):,} questions are usable, "
        f"{retried_count:,} of them after a second attempt."
    )
