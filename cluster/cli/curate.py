"""`assayer curate`: papers in, research questions out that do not give the papers' methods away."""

import asyncio
from collections import Counter
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, NamedTuple

import typer
from rich.console import Console

from assayer.errors import InputError
from assayer.models import Absent
from assayer.models.curation import PAPER_KINDS, CuratedPaper, PaperKind
from cluster.cli.curation_output import show_work, write_lines
from cluster.cli.options import WithProfile
from cluster.cli.output import prepare_file, wide_console
from cluster.cli.terminal import StepProgress, print_error
from cluster.settings import PROFILES, Settings
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from cluster.curator import CurationWork

__all__ = ["curate"]


class _Curated(NamedTuple):
    work: "CurationWork[CuratedPaper]"
    rejected: list[str]


def curate(
    papers: Annotated[
        Path, typer.Argument(help="A JSONL file: a paper a line, with `title`, `abstract` and, if it has one, `id`.")
    ],
    out: Annotated[Path, typer.Option(help="JSONL file for the results, a line a paper.")] = Path("curated.jsonl"),
    kinds: Annotated[
        list[str] | None,
        typer.Option(
            "--kind", help="Kinds of papers to derive questions from: new_idea (the default), survey, evaluation."
        ),
    ] = None,
    profile: WithProfile = PROFILES[0],
) -> None:
    """Sort papers (new idea, survey, evaluation) and derive a research question from each."""
    settings = _with_kinds(load_settings(profile), kinds)
    console = wide_console()
    try:
        made = asyncio.run(_curate(papers, out, settings, console))
    except KeyboardInterrupt:
        print_error("Interrupted.", "Answers so far are saved: run the same command to continue.")
        raise
    _show(console, made.work.results)
    show_work(console, made.work, out)
    for message in made.rejected:
        print_error("Not read:", message)
    if made.rejected or any(isinstance(one.kind, Absent) for one in made.work.results):
        raise typer.Exit(1)


def _with_kinds(settings: Settings, kinds: list[str] | None) -> Settings:
    if not kinds:
        return settings
    chosen = tuple(one for one in PAPER_KINDS if one in kinds)
    unknown = [one for one in kinds if one not in PAPER_KINDS]
    if unknown:
        raise InputError(f"There is no kind of paper {unknown[0]!r}.", f"Kinds: {', '.join(PAPER_KINDS)}.")
    changed: dict[str, tuple[PaperKind, ...]] = {"question_kinds": chosen}
    return settings.model_copy(update={"curation": settings.curation.model_copy(update=changed)})


async def _curate(papers: Path, out: Path, settings: Settings, console: Console) -> _Curated:
    from cluster.curation_inputs import read_papers
    from cluster.curator import open_curator, require_llm_for_curation
    from cluster.telemetry import metrics_server

    require_llm_for_curation(settings)
    read = await asyncio.to_thread(read_papers, papers, settings.curation.abstract_chars)
    if not read.found:
        raise InputError(f"{papers} holds no paper that can be used.", " ".join(read.rejected[:3]))
    prepare_file(out)
    with metrics_server(settings.metrics), StepProgress(console, "Papers") as bar:
        async with open_curator(settings) as curator:
            work = await curator.curate(read.found, bar)
    write_lines(out, work.results)
    return _Curated(work, read.rejected)


def _show(console: Console, papers: list[CuratedPaper]) -> None:
    kinds = Counter("not told" if isinstance(one.kind, Absent) else one.kind for one in papers)
    told = ", ".join(f"{kind.replace('_', ' ')} {count:,}" for kind, count in kinds.most_common())
    asked = [one for one in papers if one.attempts]
    usable = [one for one in asked if not isinstance(one.question, Absent)]
    again = sum(one.attempts > 1 for one in usable)
    console.print(f"{len(papers):,} papers: {told}.", soft_wrap=True)
    console.print(
        f"{len(usable):,} of {len(asked):,} questions are usable, {again:,} of them at a second attempt.",
        soft_wrap=True,
    )
