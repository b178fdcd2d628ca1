"""`assayer corpus nightly` and `assayer corpus history`: the corpus kept up to date, and what became of each night."""

import asyncio
import datetime as dt
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.console import Console
from rich.markup import escape
from rich.table import Table

from cluster.changes import S2_DATASETS, Wanted
from cluster.settings import load_settings

if TYPE_CHECKING:
    from index.nights import Night

__all__ = ["history", "nightly"]

_STYLES = {"published": "green", "unchanged": "dim", "failed": "bold red"}


def nightly(
    folder: Annotated[Path, typer.Argument(help="The folder that `assayer corpus ingest` made.")],
    fetch: Annotated[bool, typer.Option(help="Ask where its papers come from for what has changed.")] = True,
    datasets: Annotated[str, typer.Option(help="Of Semantic Scholar, by commas, as for ingest.")] = S2_DATASETS,
    subjects: Annotated[str, typer.Option("--set", help="Of arXiv, as for ingest.")] = "",
    keep: Annotated[int, typer.Option(min=1, help="Versions that stay on the disk, the new one included.")] = 3,
    usd_per_hour: Annotated[
        float | None, typer.Option(min=0, help="What this machine costs an hour, for the report.")
    ] = None,
) -> None:
    """Fetch what has changed, update the corpus, try the new version out, publish it, and note what became of it.

    A night that fails leaves the version of before, says why in one sentence, and ends with exit code 2.
    """
    wanted = Wanted(tuple(datasets.split(",")), subjects) if fetch else None
    night, console = asyncio.run(_nightly(folder, wanted, keep, usd_per_hour)), Console(highlight=False)
    console.print(_told(night), soft_wrap=True)
    for one in night.set_aside:
        console.print(f"[yellow]Set aside[/] {one.count:,} × {escape(one.reason)}", soft_wrap=True)
    for stage in night.stages:
        console.print(f"{stage.seconds:>9.1f} s  {stage.name}")


def history(
    last: Annotated[int, typer.Option(min=1, help="Nights to show.")] = 14,
    json: Annotated[bool, typer.Option("--json", help="One JSON object a line, with every figure.")] = False,
) -> None:
    """Show what became of the nightly updates, the last night at the bottom."""
    from index.nights import History
    from index.versions.versions import Versions

    directory = load_settings().corpus_path
    Versions(directory).current()
    nights, console = History(directory).nights(last), Console(highlight=False)
    if json:
        for night in nights:
            print(night.model_dump_json())
    elif not nights:
        console.print(f"No night has been noted in {escape(str(directory))}.", soft_wrap=True)
    else:
        console.print(_table(nights))
        for night in nights:
            if night.why:
                console.print(f"{night.began:%Y-%m-%d %H:%M} failed: {escape(night.why)}", soft_wrap=True)


async def _nightly(folder: Path, wanted: "Wanted | None", keep: int, usd_per_hour: float | None) -> "Night":
    from cluster.changes import fetch_changes
    from index.building.making import BuildOptions
    from index.nightly import Nightly
    from workers.embedding import SentenceTransformerEmbedder

    settings = load_settings()
    night = Nightly(
        settings.corpus_path,
        folder,
        SentenceTransformerEmbedder(settings.embedder),
        lambda: dt.datetime.now(dt.UTC),
        BuildOptions(keep=keep),
        usd_per_hour,
    )
    return await night.run(lambda: fetch_changes(folder, wanted, settings))


def _told(night: "Night") -> str:
    if night.outcome == "unchanged":
        return f"Nothing has changed: {night.papers:,} papers, version {night.after}."
    return (
        f"Published in {night.seconds:.1f} s: {night.new:,} new, {night.changed:,} changed, {night.removed:,} removed, "
        f"{night.unchanged:,} as they were; {night.embedded:,} texts embedded. {night.papers:,} papers, "
        f"version {night.after}."
    )


def _table(nights: list["Night"]) -> Table:
    table = Table(box=None, header_style="bold", pad_edge=False)
    for name in ("Began (UTC)", "Outcome", "Version"):
        table.add_column(name)
    for name in ("Papers", "New", "Changed", "Removed", "Set aside", "Embedded", "Seconds", "USD"):
        table.add_column(name, justify="right")
    for night in nights:
        aside = sum(one.count for one in night.set_aside)
        counts = (night.papers, night.new, night.changed, night.removed, aside, night.embedded)
        table.add_row(
            f"{night.began.astimezone(dt.UTC):%Y-%m-%d %H:%M}",
            f"[{_STYLES[night.outcome]}]{night.outcome}[/]",
            night.after,
            *(f"{count:,}" for count in counts),
            f"{night.seconds:,.1f}",
            "" if night.usd is None else f"{night.usd:,.2f}",
        )
    return table
