"""`assayer corpus`: build the local paper corpus, search it, describe it."""

import asyncio
import time
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, TextColumn, TimeElapsedColumn, TimeRemainingColumn

from assayer.errors import InputError
from cluster.cli import corpus_ingest
from cluster.cli.corpus_info import info
from cluster.cli.corpus_nightly import history, nightly
from cluster.cli.corpus_on_ray import build_on_ray
from cluster.cli.corpus_plan import plan
from cluster.cli.corpus_search import search
from cluster.settings import Settings, load_settings

if TYPE_CHECKING:
    from index import Manifest, ShardedManifest
    from index.reading.sources import Rejection
    from index.versions.manifest import RejectionCount

__all__ = ["app"]

app = typer.Typer(help="Build and search the local paper corpus.", no_args_is_help=True)
app.add_typer(corpus_ingest.app, name="ingest")
_SHOWN_REJECTIONS = 5


app.command()(search)
app.command()(info)
app.command()(build_on_ray)
app.command()(nightly)
app.command()(history)
app.command()(plan)

Sources = Annotated[
    list[Path], typer.Argument(help="Paper records: .jsonl, .jsonl.gz or .parquet files, or folders of .parquet files.")
]
Anew = Annotated[
    bool, typer.Option("--embed-anew", help="Leave out vectors that came with records, and embed all texts.")
]


@app.command()
def build(
    paths: Sources,
    shards: Annotated[
        int | None, typer.Option(min=1, max=1000, help="Spread the papers over so many parts that are searched as one.")
    ] = None,
    embed_anew: Anew = False,
) -> None:
    """Build the corpus from paper records; the version in use is replaced only when the new one is complete."""
    asyncio.run(_build(paths, shards, embed_anew, load_settings(), Console(highlight=False)))


@app.command()
def update(
    paths: Annotated[list[Path] | None, typer.Argument(help="New and changed paper records, as for build.")] = None,
    remove: Annotated[Path | None, typer.Option(help="A file with the ids of papers to remove, one a line.")] = None,
    embed_anew: Anew = False,
) -> None:
    """Bring the corpus up to date without building it anew; what reads the version in use is not disturbed."""
    asyncio.run(_update(paths or [], remove, embed_anew, load_settings(), Console(highlight=False)))


async def _build(paths: list[Path], shards: int | None, embed_anew: bool, settings: Settings, console: Console) -> None:
    from index import BuildOptions, build_corpus, build_shards, is_sharded
    from workers.embedding import SentenceTransformerEmbedder

    directory, embedder = settings.corpus_path, SentenceTransformerEmbedder(settings.embedder)
    if shards is None and is_sharded(directory):
        raise InputError(
            f"The corpus in {directory} is in shards.", "Say how many with --shards, or give ASSAYER_CORPUS__PATH."
        )
    options = BuildOptions(embed_anew=embed_anew)
    with _bar(console) as progress:
        summary = (
            await build_corpus(paths, directory, embedder, progress, options)
            if shards is None
            else await build_shards(paths, shards, directory, embedder, progress, options)
        )
    manifest = summary.manifest
    verb = "Already built" if summary.already_built else "Built"
    parts = "" if shards is None else f" in {shards} shards"
    console.print(
        f"{verb}: {manifest.papers:,} papers{parts}, version {manifest.version}, in {escape(str(directory))}.",
        soft_wrap=True,
    )
    _show_rejections(manifest.rejected, summary.rejections, console)


async def _update(
    paths: list[Path], remove: Path | None, embed_anew: bool, settings: Settings, console: Console
) -> None:
    from index import is_sharded, read_delta, update_corpus, update_shards
    from index.versions.manifest import counted
    from workers.embedding import SentenceTransformerEmbedder

    started = time.monotonic()
    directory, embedder = settings.corpus_path, SentenceTransformerEmbedder(settings.embedder)
    delta = await asyncio.to_thread(read_delta, paths, remove, None if embed_anew else embedder)
    with _bar(console) as progress:
        if is_sharded(directory):
            whole = await update_shards(delta, directory, embedder, progress)
            now: Manifest | ShardedManifest = whole.manifest
            done = whole.changes if whole.published else None
        else:
            summary = await update_corpus(delta, directory, embedder, progress)
            now, done = summary.manifest, summary.manifest.changes if summary.published else None
    if done is None:
        console.print(f"Nothing has changed: {now.papers:,} papers, version {now.version}.")
    else:
        console.print(
            f"Updated in {time.monotonic() - started:.1f} s: {done.new:,} new, {done.changed:,} changed, "
            f"{done.removed:,} removed, {done.unchanged:,} as they were; {done.unknown:,} to remove were not there. "
            f"{now.papers:,} papers, version {now.version}.",
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
