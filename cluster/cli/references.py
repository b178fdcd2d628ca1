"""`assayer references`: list relevant papers in the corpus that an idea does not cite, without a language model."""

import asyncio
import datetime as dt
import sys
from collections.abc import Iterator, Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer
from rich.markup import escape

from assayer.cutoff import check_cutoff
from assayer.models import Idea
from assayer.reports.bibliographies import convert_to_listed_work, render_bibtex, render_ris
from cluster.cli.idea_inputs import read_idea_inputs
from cluster.cli.options import IdeaPaths, WithJson, WithProfile, parse_day_option
from cluster.cli.terminal import print_error, print_json, print_markup
from cluster.settings import Settings
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from assayer.methods.scicompanion.missed_references import MissedReferences, WayFound


BibliographyFormat = Literal["bibtex", "ris"]


def references(
    paths: IdeaPaths,
    limit: Annotated[int, typer.Option(min=1, max=100, help="Maximum number of references per idea.")] = 10,
    cutoff: Annotated[
        str | None, typer.Option(help="YYYY-MM-DD: ignore papers published later. An idea's own cutoff still applies.")
    ] = None,
    bibliography: Annotated[
        BibliographyFormat | None, typer.Option("--format", help="Print one bibliography for a reference manager.")
    ] = None,
    profile: WithProfile = "laptop",
    as_json: WithJson = False,
) -> None:
    """List relevant papers in the corpus that an idea does not cite; no language model is needed."""
    last_day = parse_day_option(cutoff, "cutoff")
    settings = load_settings(profile)
    ideas, failures = asyncio.run(_read(paths, settings))
    if ideas:
        missed_by_idea = asyncio.run(_find_missed_references(ideas, limit, last_day, settings))
        if as_json:
            print_json([record for suggestion in missed_by_idea for record in _build_records(suggestion)])
        elif bibliography is not None:
            _print_bibliography(missed_by_idea, bibliography)
        else:
            for suggestion in missed_by_idea:
                _show(suggestion)
    for source, message in failures:
        print_error("Not read:", f"{source}: {message}")
    if failures:
        raise typer.Exit(1 if ideas else 2)


async def _read(paths: Sequence[Path], settings: Settings) -> tuple[list[Idea], list[tuple[str, str]]]:
    ideas, rejected = await read_idea_inputs(paths, settings)
    return list(ideas), [(rejection.source, rejection.message) for rejection in rejected]


async def _find_missed_references(
    ideas: Sequence[Idea], limit: int, cutoff: dt.date | None, settings: Settings
) -> "list[MissedReferences]":
    from assayer.methods.scicompanion.missed_references import find_missed_references
    from cluster.clock import SystemClock
    from cluster.corpus_source import open_corpus
    from workers.embedding.embedder import create_local_embedder

    clock = SystemClock()
    check_cutoff(cutoff, clock.now().date())
    embedder = create_local_embedder(settings.embedder)
    corpus = open_corpus(settings, embedder)
    options = settings.scicompanion.model_copy(update={"recommended": limit})
    missed_by_idea = []
    for idea in ideas:
        days = [day for day in (idea.cutoff, cutoff) if day is not None]
        missed_by_idea.append(await find_missed_references(idea, corpus, min(days, default=None), clock, options))
    return missed_by_idea


def _print_bibliography(missed_by_idea: "Sequence[MissedReferences]", bibliography: BibliographyFormat) -> None:
    """Print a bibliography of all ideas' missed references, without duplicates."""
    papers = {reference.paper.id: reference.paper for missed in missed_by_idea for reference in missed.references}
    works = [
        convert_to_listed_work(paper, paper.retraction.kind if paper.retraction else "") for paper in papers.values()
    ]
    sys.stdout.write(render_bibtex(works) if bibliography == "bibtex" else render_ris(works))


def _show(missed: "MissedReferences") -> None:
    print_markup(f"[bold]{escape(missed.idea.title)}[/]")
    if missed.fit.level != "good":
        extent = "only in part" if missed.fit.level == "partial" else "poorly"
        print_markup(f"[yellow]The corpus covers this field {extent}.[/]")
    if not missed.references:
        print_markup("No papers were found that the idea does not already cite.")
    for rank, reference in enumerate(missed.references, start=1):
        date_text = reference.paper.publication_date.isoformat() if reference.paper.publication_date else "no date"
        retraction_mark = f" [red]({reference.paper.retraction.kind})[/]" if reference.paper.retraction else ""
        print_markup(f"[bold]{rank:>3}. {escape(reference.paper.title)}[/] ({date_text}){retraction_mark}")
        print_markup(f"     {escape(_describe_ways(reference.found))}  {escape(reference.paper.id)}")


def _describe_ways(ways: "Sequence[WayFound]") -> str:
    """Describe how a reference was found, and how often."""
    by_words = any(way.kind == "dense" for way in ways)
    citation_count = sum(way.from_paper is not None for way in ways)
    citation_text = (
        f"{citation_count} citation{'' if citation_count == 1 else 's'} lead to it" if citation_count else ""
    )
    return "; ".join(filter(None, ["near the idea's words" if by_words else "", citation_text]))


def _build_records(missed: "MissedReferences") -> Iterator[dict[str, object]]:
    """Yield the fields of each reference that `--json` prints."""
    for rank, reference in enumerate(missed.references, start=1):
        paper = reference.paper
        yield {
            "idea": missed.idea.source,
            "rank": rank,
            "id": paper.id,
            "title": paper.title,
            "url": paper.url,
            "publication_date": paper.publication_date,
            "retraction": paper.retraction,
            "search_paths": [
                {"kind": way.kind, "from_id": way.from_paper.id if way.from_paper else None} for way in reference.found
            ],
        }
