"""`assayer corpus nightly` and `assayer corpus history`: nightly updates of the corpus, and their outcomes."""

import asyncio
import datetime as dt
from collections.abc import Callable
from contextlib import AsyncExitStack
from functools import partial
from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer
from rich.markup import escape

from assayer.errors import ConfigurationError
from assayer.models import EvaluationId
from cluster.cli.options import WithJson
from cluster.cli.terminal import print_json, say, show_table
from cluster.settings import Settings
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from index.building.version_builder import BuildOptions
    from index.content_reader import ContentReader
    from index.nightly import NightlyRun
    from index.versions.manifest import RejectionCount


def nightly(
    folder: Annotated[Path, typer.Argument(help="Folder made by `assayer corpus ingest`.")],
    fetch: Annotated[bool, typer.Option(help="Fetch changes from where its papers come from.")] = True,
    keep: Annotated[int, typer.Option(min=1, help="Versions to keep on disk, including the new one.")] = 3,
    usd_per_hour: Annotated[
        float | None, typer.Option(min=0, help="What this machine costs per hour, for the report.")
    ] = None,
    max_usd: Annotated[
        float | None,
        typer.Option(min=0, help="Let the language model read names and claims of new papers, up to this cost."),
    ] = None,
    as_json: WithJson = False,
) -> None:
    """Fetch changes, update the corpus, check the new version, publish it, and record the outcome.

    If an update fails, the previous version stays in use; the reason is printed and the exit code is 2.
    """
    night = asyncio.run(_nightly(folder, fetch, keep, usd_per_hour, max_usd))
    if as_json:
        print_json(night)
        return
    say(_outcome_sentence(night))
    for item in night.set_aside:
        say(f"[yellow]Skipped[/] {item.count:,} × {escape(item.reason)}")
    if night.contents_usd is not None:
        say(f"Names and claims of {night.contents_read:,} papers read for ${night.contents_usd:,.4f}.")
    for item in night.contents_left:
        say(f"[yellow]Left to patterns[/] {item.count:,} × {escape(item.reason)}")
    for stage in night.stages:
        say(f"{stage.seconds:>9.1f} s  {stage.name}")


def history(
    last: Annotated[int, typer.Option(min=1, help="Number of nightly updates to show.")] = 14,
    as_json: WithJson = False,
) -> None:
    """Show the outcomes of the nightly updates, most recent last."""
    from index.nightly import NightlyHistory
    from index.versions.version_store import VersionStore

    directory = load_settings().corpus_path
    nights = NightlyHistory(directory).runs(last)
    if not nights:
        VersionStore(directory).current_path()
    if as_json:
        print_json(nights)
    elif not nights:
        say(f"No nightly update is recorded in {escape(str(directory))}.")
    else:
        rows = [[cell(night) for cell in _COLUMNS.values()] for night in nights]
        show_table([*_COLUMNS], rows, figures=[*_COLUMNS][2:])
        for night in nights:
            if night.why:
                say(f"{_began(night)} {night.outcome}: {escape(night.why)}")


async def _nightly(
    folder: Path, fetch: bool, keep: int, usd_per_hour: float | None, max_usd: float | None
) -> "NightlyRun":
    from index.building.version_builder import BuildOptions

    settings = load_settings()
    if max_usd is not None and settings.llm is None:
        raise ConfigurationError(
            "--max-usd needs a language model, and none is configured.", "Set ASSAYER_LLM__MODEL and its prices."
        )
    async with AsyncExitStack() as stack:
        reader = None if max_usd is None else await _reader(settings, max_usd, stack)
        options = BuildOptions(keep=keep, device=settings.corpus.device)
        return await _updated(folder, fetch, settings, options, usd_per_hour, reader)


async def _updated(
    folder: Path,
    fetch: bool,
    settings: Settings,
    options: "BuildOptions",
    usd_per_hour: float | None,
    reader: "ContentReader | None",
) -> "NightlyRun":
    from cluster.corpus_source import CorpusRelease
    from index.nightly import NightlyUpdate
    from workers.embedding.embedder import local_embedder

    release = CorpusRelease.configured(settings, options.keep)
    night = NightlyUpdate(
        settings.corpus_path,
        folder,
        local_embedder(settings.embedder),
        lambda: dt.datetime.now(dt.UTC),
        options,
        usd_per_hour,
        reader,
        prepare=None if release is None else partial(release.begin_update, repeats=True),  # kept until published
        publish=None if release is None else release.publish,
    )
    if not fetch:
        return await night.run(_fetch_nothing)
    from cluster.corpora.ingest import fetch_changes

    return await night.run(partial(fetch_changes, folder, settings))


async def _reader(settings: Settings, max_usd: float, stack: AsyncExitStack) -> "ContentReader":
    """Open the content reader. Paid answers are kept in the database, as they are for evaluations."""
    from assayer.run.budget import Budget
    from assayer.run.no_progress import NoProgress
    from assayer.run.run import Run
    from cluster.clock import SystemClock
    from cluster.database import open_database
    from cluster.language_model import open_llm
    from index.content_reader import ContentReader
    from index.segments.content_readings import READINGS_FILE

    database = await stack.enter_async_context(open_database(settings))
    llm = await open_llm(settings, database, stack)
    run = Run(EvaluationId("corpus_nightly"), None, SystemClock(), NoProgress(), Budget(max_usd=max_usd))
    return ContentReader(llm, run, settings.corpus_path / READINGS_FILE)


async def _fetch_nothing() -> "tuple[RejectionCount, ...]":
    return ()


def _outcome_sentence(night: "NightlyRun") -> str:
    if night.outcome == "unchanged":
        return f"Nothing has changed: {night.papers:,} papers, version {night.after}."
    return (
        f"Published in {night.seconds:.1f} s: {night.new:,} new, {night.changed:,} changed, {night.removed:,} removed, "
        f"{night.unchanged:,} unchanged; {night.embedded:,} texts embedded. {night.papers:,} papers, "
        f"version {night.after}."
    )


def _began(night: "NightlyRun") -> str:
    return f"{night.began.astimezone(dt.UTC):%Y-%m-%d %H:%M}"


_COLUMNS: "dict[str, Callable[[NightlyRun], str]]" = {
    "Began (UTC)": _began,
    "Outcome": lambda night: night.outcome,
    "Papers": lambda night: f"{night.papers:,}",
    "New": lambda night: f"{night.new:,}",
    "Changed": lambda night: f"{night.changed:,}",
    "Removed": lambda night: f"{night.removed:,}",
    "Seconds": lambda night: f"{night.seconds:,.1f}",
}
"""Columns of `assayer corpus history`, which fit a terminal 80 columns wide; --json outputs all figures."""
