"""`assayer corpus nightly` and `assayer corpus history`: run nightly corpus updates, and show their outcomes."""

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
from cluster.cli.terminal import print_json, print_markup, show_table
from cluster.settings import Settings
from cluster.settings_loading import load_settings

if TYPE_CHECKING:
    from index.building.version_builder import BuildOptions
    from index.content_reader import ContentReader
    from index.nightly import NightlyRun
    from index.versions.manifest import RejectionCount


def nightly(
    folder: Annotated[Path, typer.Argument(help="Folder made by `assayer corpus ingest`.")],
    fetch: Annotated[
        bool, typer.Option(help="Fetch changes from the source from which the folder's papers came.")
    ] = True,
    keep: Annotated[int, typer.Option(min=1, help="Versions to keep on disk, including the new one.")] = 3,
    usd_per_hour: Annotated[
        float | None, typer.Option(min=0, help="This machine's cost per hour, for the report.")
    ] = None,
    max_usd: Annotated[
        float | None,
        typer.Option(min=0, help="Let the language model extract names and claims from new papers, up to this cost."),
    ] = None,
    as_json: WithJson = False,
) -> None:
    """Fetch changes, update the corpus, check the new version, publish it, and record the outcome.

    If an update fails, the previous version stays in use; the reason is printed and the exit code is 2.
    """
    update = asyncio.run(_run_nightly_update(folder, fetch, keep, usd_per_hour, max_usd))
    if as_json:
        print_json(update)
        return
    print_markup(_describe_outcome(update))
    for rejection in update.set_aside:
        print_markup(f"[yellow]Skipped[/] {rejection.count:,} × {escape(rejection.reason)}")
    if update.contents_usd is not None:
        print_markup(
            f"Names and claims extracted from {update.contents_read:,} papers for ${update.contents_usd:,.4f}."
        )
    for unread in update.contents_left:
        print_markup(f"[yellow]Extracted without the model[/] {unread.count:,} × {escape(unread.reason)}")
    for stage in update.stages:
        print_markup(f"{stage.seconds:>9.1f} s  {stage.name}")


def history(
    last: Annotated[int, typer.Option(min=1, help="Number of updates to show.")] = 14,
    as_json: WithJson = False,
) -> None:
    """Show the outcomes of the nightly updates, most recent last."""
    from index.nightly import NightlyHistory
    from index.versions.version_store import VersionStore

    directory = load_settings().corpus_path
    updates = NightlyHistory(directory).list_runs(last)
    if not updates:
        VersionStore(directory).find_current_path()
    if as_json:
        print_json(updates)
    elif not updates:
        print_markup(f"No nightly update is recorded in {escape(str(directory))}.")
    else:
        rows = [[cell(update) for cell in _COLUMNS.values()] for update in updates]
        show_table([*_COLUMNS], rows, figures=[*_COLUMNS][2:])
        for update in updates:
            if update.why:
                print_markup(f"{_format_start(update)} {update.outcome}: {escape(update.why)}")


async def _run_nightly_update(
    folder: Path, fetch: bool, keep: int, usd_per_hour: float | None, max_usd: float | None
) -> "NightlyRun":
    from index.building.version_builder import BuildOptions

    settings = load_settings()
    if max_usd is not None and settings.llm is None:
        raise ConfigurationError(
            "--max-usd needs a language model, but none is configured.", "Set ASSAYER_LLM__MODEL and its prices."
        )
    async with AsyncExitStack() as stack:
        reader = None if max_usd is None else await _open_reader(settings, max_usd, stack)
        options = BuildOptions(keep=keep, device=settings.corpus.device)
        return await _update_corpus(folder, fetch, settings, options, usd_per_hour, reader)


async def _update_corpus(
    folder: Path,
    fetch: bool,
    settings: Settings,
    options: "BuildOptions",
    usd_per_hour: float | None,
    reader: "ContentReader | None",
) -> "NightlyRun":
    from cluster.corpus_source import CorpusRelease
    from index.nightly import NightlyUpdate
    from workers.embedding.embedder import create_local_embedder

    release = CorpusRelease.from_settings(settings, options.keep)
    update = NightlyUpdate(
        settings.corpus_path,
        folder,
        create_local_embedder(settings.embedder),
        lambda: dt.datetime.now(dt.UTC),
        options,
        usd_per_hour,
        reader,
        prepare=None if release is None else partial(release.begin_update, repeats=True),  # kept until published
        publish=None if release is None else release.publish,
    )
    if not fetch:
        return await update.run(_fetch_nothing)
    from cluster.corpora.ingest import fetch_changes

    return await update.run(partial(fetch_changes, folder, settings))


async def _open_reader(settings: Settings, max_usd: float, stack: AsyncExitStack) -> "ContentReader":
    """Open the content reader. Paid answers are stored in the database, as for evaluations."""
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


def _describe_outcome(update: "NightlyRun") -> str:
    if update.outcome == "unchanged":
        return f"Nothing has changed: {update.papers:,} papers, version {update.after}."
    return (
        f"Published in {update.seconds:.1f} s: {update.new:,} new, {update.changed:,} changed, {update.removed:,} "
        f"removed, {update.unchanged:,} unchanged; {update.embedded:,} texts embedded. {update.papers:,} papers, "
        f"version {update.after}."
    )


def _format_start(update: "NightlyRun") -> str:
    return f"{update.began.astimezone(dt.UTC):%Y-%m-%d %H:%M}"


_COLUMNS: "dict[str, Callable[[NightlyRun], str]]" = {
    "Began (UTC)": _format_start,
    "Outcome": lambda update: update.outcome,
    "Papers": lambda update: f"{update.papers:,}",
    "New": lambda update: f"{update.new:,}",
    "Changed": lambda update: f"{update.changed:,}",
    "Removed": lambda update: f"{update.removed:,}",
    "Seconds": lambda update: f"{update.seconds:,.1f}",
}
"""Columns in `assayer corpus history`, limited to what fits 80 columns of a terminal; --json outputs all figures."""
