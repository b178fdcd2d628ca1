"""`assayer references`: what an idea missed in the local corpus, found along citations, without a language model."""

import asyncio
import datetime as dt
import json
import sys
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape

from assayer.errors import InputError
from assayer.models import Idea, PaperId
from cluster.cli.options import WithProfile, day
from cluster.cli.terminal import SafeConsole, print_error
from cluster.settings import PROFILES, Settings
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from assayer.methods.scicompanion.missed_references import MissedReferences, WayFound

__all__ = ["references"]


def references(
    paths: Annotated[
        list[Path],
        typer.Argument(help="Ideas (.txt .md .json .jsonl .pdf .docx .odt .xlsx), or folders of them."),
    ],
    limit: Annotated[int, typer.Option(min=1, max=100, help="References for one idea, at most.")] = 10,
    cutoff: Annotated[
        str | None, typer.Option(help="YYYY-MM-DD: ignore papers published later. An idea's own cutoff still applies.")
    ] = None,
    as_lines: Annotated[bool, typer.Option("--json", help="Print one JSON line a reference.")] = False,
    profile: WithProfile = PROFILES[0],
) -> None:
    """List papers of the corpus that an idea does not name; no language model is needed."""
    last_day = day(cutoff, "cutoff")
    settings = load_settings(profile)
    console = SafeConsole(highlight=False)
    ideas, failures = asyncio.run(_read(paths))
    if ideas:
        for found in asyncio.run(_missed(ideas, limit, last_day, settings)):
            if as_lines:
                _print_lines(found)
            else:
                _show(found, console)
    for source, message in failures:
        print_error("Not read:", f"{source}: {message}")
    if failures:
        raise typer.Exit(1 if ideas else 2)


async def _read(paths: Sequence[Path]) -> tuple[list[Idea], list[tuple[str, str]]]:
    from workers.documents.idea_reader import read_ideas

    ideas, rejected = await read_ideas(paths, latest_cutoff=dt.datetime.now(dt.UTC).date())
    return list(ideas), [(one.source, one.message) for one in rejected]


async def _missed(
    ideas: Sequence[Idea], limit: int, cutoff: dt.date | None, settings: Settings
) -> "list[MissedReferences]":
    from assayer.methods.scicompanion.missed_references import missed_references
    from cluster.clock import SystemClock
    from cluster.corpus_source import open_corpus
    from workers.embedding.local_embedder import local_embedder

    clock = SystemClock()
    if cutoff is not None and cutoff > clock.now().date():
        raise InputError(f"The cutoff {cutoff} lies in the future.", "Give a past date or leave it out.")
    embedder = local_embedder(settings.embedder)
    corpus = open_corpus(settings, embedder)
    options = settings.scicompanion.model_copy(update={"recommended": limit})
    found = []
    for idea in ideas:
        days = [one for one in (idea.cutoff, cutoff) if one is not None]
        found.append(await missed_references(idea, corpus, min(days, default=None), clock, options))
    return found


def _show(missed: "MissedReferences", console: Console) -> None:
    console.print(f"[bold]{escape(missed.idea.title)}[/]", soft_wrap=True)
    if missed.fit.level != "good":
        extent = "only in part" if missed.fit.level == "partial" else "poorly"
        console.print(f"[yellow]The corpus covers this field {extent}.[/]", soft_wrap=True)
    if not missed.references:
        console.print("Nothing found that the idea does not name.")
    for rank, one in enumerate(missed.references, start=1):
        when = one.paper.publication_date.isoformat() if one.paper.publication_date else "no date"
        mark = f" [red]({one.paper.retraction.kind})[/]" if one.paper.retraction else ""
        console.print(f"[bold]{rank:>3}. {escape(one.paper.title)}[/] ({when}){mark}", soft_wrap=True)
        console.print(f"     {escape(_how(one.found))}  {escape(one.paper.id)}", soft_wrap=True)


def _how(found: "Sequence[WayFound]") -> str:
    """By what it was reached, and how often."""
    by_words = any(one.kind == "dense" for one in found)
    walked = sum(one.from_paper is not None for one in found)
    along = f"{walked} citation{'' if walked == 1 else 's'} lead to it" if walked else ""
    return "; ".join(filter(None, ["near the idea's words" if by_words else "", along]))


def _print_lines(missed: "MissedReferences") -> None:
    for rank, one in enumerate(missed.references, start=1):
        sources: list[dict[str, PaperId | str | None]] = [
            {"kind": why.kind, "from": why.from_paper.id if why.from_paper else None} for why in one.found
        ]
        line = {
            "idea": missed.idea.source,
            "rank": rank,
            "id": one.paper.id,
            "title": one.paper.title,
            "url": one.paper.url,
            "publication_date": one.paper.publication_date.isoformat() if one.paper.publication_date else None,
            "retraction": one.paper.retraction.model_dump(mode="json") if one.paper.retraction else None,
            "found": sources,
        }
        sys.stdout.write(f"{json.dumps(line, ensure_ascii=False)}\n")
