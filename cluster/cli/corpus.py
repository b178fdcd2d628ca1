"""`assayer corpus`: build the local paper corpus, search it, describe it."""

import asyncio
import datetime as dt
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from assayer.models import Hit
from cluster.cli.options import day
from cluster.settings import Settings, load_settings

if TYPE_CHECKING:
    from index.manifest import RejectionCount
    from index.sources import Rejection

__all__ = ["app"]

app = typer.Typer(help="Build and search the local paper corpus.", no_args_is_help=True)
_SHOWN_REJECTIONS = 5


@app.command()
def build(
    paths: Annotated[list[Path], typer.Argument(help="Paper records: .jsonl or .jsonl.gz files.")],
) -> None:
    """Build the corpus from paper records; the version in use is replaced only when the new one is complete."""
    asyncio.run(_build(paths, load_settings(), Console(highlight=False)))


@app.command()
def update(
    paths: Annotated[
        list[Path] | None, typer.Argument(help="New and changed paper records: .jsonl or .jsonl.gz files.")
    ] = None,
    remove: Annotated[Path | None, typer.Option(help="A file with the ids of papers to remove, one a line.")] = None,
) -> None:
    """Bring the corpus up to date without building it anew; what reads the version in use is not disturbed."""
    asyncio.run(_update(paths or [], remove, load_settings(), Console(highlight=False)))


@app.command()
def search(
    query: Annotated[str, typer.Argument(help="What to look for, in words.")],
    limit: Annotated[int, typer.Option(min=1, max=1000, help="Papers to show.")] = 10,
    before: Annotated[str | None, typer.Option(help="YYYY-MM-DD: only papers published until then.")] = None,
) -> None:
    """Search titles and abstracts, dense and lexical together."""
    last_day = day(before, "date for --before")
    console = Console(highlight=False)
    hits = asyncio.run(_search(query, limit, last_day, load_settings()))
    if not hits:
        console.print("Nothing found.")
    for rank, hit in enumerate(hits, start=1):
        paper = hit.paper
        when = paper.publication_date.isoformat() if paper.publication_date else "no date"
        console.print(f"[bold]{rank:>3}. {escape(paper.title)}[/] ({when})", soft_wrap=True)
        console.print(f"     cosine {hit.similarity:.2f}  {escape(paper.venue)}  {escape(paper.id)}", soft_wrap=True)


@app.command()
def info() -> None:
    """Show which version is in use and how it was built."""
    from index import Versions, read_manifest

    path = Versions(load_settings().corpus_path).current()
    manifest = read_manifest(path)
    recalls = [one.paper_index.recall_at_10 for one in manifest.segments if one.paper_index.recall_at_10 is not None]
    kinds = ", ".join(sorted({one.paper_index.kind for one in manifest.segments}))
    hidden = sum(one.hidden for one in manifest.segments)
    rows = {
        "Version": f"{manifest.version} in {path}",
        "Papers": f"{manifest.papers:,}; dated ones are of {manifest.earliest} to {manifest.latest}",
        "Full texts": f"{manifest.total('full_texts'):,}, {manifest.total('passages'):,} passages besides abstracts",
        "References": f"known of {manifest.total('with_references'):,} papers",
        "Embedding model": f"{manifest.embedder}, {manifest.dimensions} dimensions",
        "Index": kinds if not recalls else f"{kinds}, recall@10 {min(recalls):.3f}",
        "Segments": f"{len(manifest.segments):,}, {hidden:,} papers in them replaced or removed",
        "Sources": ", ".join(source.name for source in manifest.sources),
        "Set aside": "; ".join(f"{one.count:,} × {one.reason}" for one in manifest.rejected) or "nothing",
        "On disk": f"{manifest.bytes / 1e6:,.0f} MB",
    }
    console = Console(highlight=False)
    for name, text in rows.items():
        console.print(f"[bold]{name + ':':<17}[/]{escape(text)}", soft_wrap=True)


async def _build(paths: list[Path], settings: Settings, console: Console) -> None:
    from index import build_corpus
    from workers.embedding import SentenceTransformerEmbedder

    with _bar(console) as progress:
        summary = await build_corpus(
            paths, settings.corpus_path, SentenceTransformerEmbedder(settings.embedder), progress
        )
    manifest = summary.manifest
    verb = "Already built" if summary.already_built else "Built"
    console.print(
        f"{verb}: {manifest.papers:,} papers, version {manifest.version}, in {escape(str(summary.directory))}."
    )
    _show_rejections(manifest.rejected, summary.rejections, console)


async def _update(paths: list[Path], remove: Path | None, settings: Settings, console: Console) -> None:
    from index import read_delta, update_corpus
    from index.manifest import counted
    from workers.embedding import SentenceTransformerEmbedder

    started = time.monotonic()
    delta = await asyncio.to_thread(read_delta, paths, remove)
    with _bar(console) as progress:
        summary = await update_corpus(
            delta, settings.corpus_path, SentenceTransformerEmbedder(settings.embedder), progress
        )
    manifest, done = summary.manifest, summary.manifest.changes
    if not summary.published or done is None:
        console.print(f"Nothing has changed: {manifest.papers:,} papers, version {manifest.version}.")
    else:
        console.print(
            f"Updated in {time.monotonic() - started:.1f} s: {done.new:,} new, {done.changed:,} changed, "
            f"{done.removed:,} removed, {done.unchanged:,} as they were; {done.unknown:,} to remove were not there. "
            f"{manifest.papers:,} papers, version {manifest.version}.",
            soft_wrap=True,
        )
    _show_rejections(counted(delta.rejections), delta.rejections, console)


def _show_rejections(reasons: Sequence["RejectionCount"], rejections: Sequence["Rejection"], console: Console) -> None:
    for reason in reasons:
        console.print(f"[yellow]Set aside[/] {reason.count:,} × {escape(reason.reason)}", soft_wrap=True)
    for rejection in rejections[:_SHOWN_REJECTIONS]:
        console.print(f"          {escape(str(rejection))}", soft_wrap=True)


@contextmanager
def _bar(console: Console) -> Iterator[Callable[[int, int], None]]:
    with Progress(
        TextColumn("Embedding"),
        BarColumn(),
        MofNCompleteColumn(),
        TimeElapsedColumn(),
        TimeRemainingColumn(),
        console=console,
        disable=not console.is_terminal,
    ) as bar:
        task = bar.add_task("", total=None)
        yield lambda done, total: bar.update(task, completed=done, total=total)


async def _search(query: str, limit: int, before: dt.date | None, settings: Settings) -> list[Hit]:
    from index import Corpus
    from workers.embedding import SentenceTransformerEmbedder

    corpus = Corpus.open(settings.corpus_path, SentenceTransformerEmbedder(settings.embedder))
    (hits,) = await corpus.search([query], limit, before)
    return hits
