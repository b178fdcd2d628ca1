"""Builds a corpus anew: reads, embeds, indexes, measures and publishes."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from assayer.models import Frozen
from assayer.ports import Embedder
from index.disk import writing_to
from index.making import BuildOptions, Maker, Plan
from index.manifest import Manifest
from index.sources import Rejection, SourceFile, describe, harvest
from index.versions import Versions
from index.writing import Embedding, OnProgress

__all__ = ["BuildSummary", "build_corpus"]


class BuildSummary(Frozen):
    directory: Path
    manifest: Manifest
    already_built: bool
    """Same sources, model and options as the version at hand: nothing was done."""
    rejections: tuple[Rejection, ...] = ()
    """Lines set aside just now; the manifest counts them in any case."""


async def build_corpus(
    sources: Sequence[Path],
    directory: Path,
    embedder: Embedder,
    progress: OnProgress | None = None,
    options: BuildOptions | None = None,
) -> BuildSummary:
    """Publishes a new version, or leaves the directory's version as it is.

    Raises InputError for sources that cannot be used, CorpusError for a directory that cannot be written or
    that another process builds in, ConfigurationError when the embedder's model is missing.
    """
    versions = Versions(directory)
    maker = Maker(versions, Embedding(embedder, progress or _silent), options or BuildOptions())
    files = tuple([await asyncio.to_thread(describe, path) for path in sources])
    with writing_to(directory), versions.building():
        return await _build(maker, sources, files)


async def _build(maker: Maker, sources: Sequence[Path], files: tuple[SourceFile, ...]) -> BuildSummary:
    versions, wanted = maker.versions, (files, maker.embedding.embedder.name, maker.options.exact_up_to)
    at_hand = await asyncio.to_thread(versions.intact)
    if at_hand and not at_hand.changes and (at_hand.sources, at_hand.embedder, at_hand.exact_up_to) == wanted:
        return BuildSummary(directory=versions.directory, manifest=at_hand, already_built=True)
    found = await asyncio.to_thread(harvest, sources)
    segments = await maker.segments(list(found.records.values()), first_ordinal=0)
    plan = Plan(kept=(), added=segments, hidden={}, sources=files, rejections=found.rejections)
    manifest = await asyncio.to_thread(versions.intact, maker.version(plan))
    if manifest is None:
        manifest = await maker.publish(plan)
    else:
        versions.point_at(manifest.version)
        versions.prune(maker.options.keep)
    return BuildSummary(
        directory=versions.directory, manifest=manifest, already_built=False, rejections=tuple(found.rejections)
    )


def _silent(done: int, total: int) -> None:
    """Nobody watches."""
