"""Builds a corpus anew: reads, embeds, indexes, measures and publishes."""

import asyncio
from collections.abc import Sequence
from pathlib import Path

from assayer.models import Frozen
from assayer.ports import Embedder
from index.building.known import ReadyVectors
from index.building.making import BuildOptions, Maker, Plan
from index.building.sorting import sort_papers
from index.building.writing import Embedding, OnProgress, silent
from index.disk import writing_to
from index.reading.sources import Harvest, Rejection, describe
from index.versions.manifest import Manifest
from index.versions.versions import Versions

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
    versions, chosen = Versions(directory), options or BuildOptions()
    files = tuple([await asyncio.to_thread(describe, path) for path in sources])
    with writing_to(directory), versions.building():
        at_hand = await asyncio.to_thread(versions.intact)
        wanted = (files, embedder.name, chosen.exact_up_to)
        if at_hand and not at_hand.changes and (at_hand.sources, at_hand.embedder, at_hand.exact_up_to) == wanted:
            versions.prune(chosen.keep)  # what a build left that was killed after it had published
            return BuildSummary(directory=directory, manifest=at_hand, already_built=True)
        harvest = Harvest(sources, None if chosen.embed_anew else embedder)
        with versions.unfinished() as scratch, ReadyVectors(scratch) as ready:
            papers = await asyncio.to_thread(sort_papers, ready.kept(harvest), scratch / "sorted.arrow")
            maker = Maker(versions, Embedding(embedder, progress or silent, ready.known()), chosen)
            segments = await maker.cut(papers, first_ordinal=0)
        manifest = await _published(
            maker, Plan(kept=(), added=segments, hidden={}, sources=files, rejections=harvest.rejections)
        )
        return BuildSummary(
            directory=directory, manifest=manifest, already_built=False, rejections=tuple(harvest.rejections)
        )


async def _published(maker: Maker, plan: Plan) -> Manifest:
    """Made anew, unless a version that is still there is the same."""
    manifest = await asyncio.to_thread(maker.versions.intact, maker.version(plan))
    if manifest is None:
        return await maker.publish(plan)
    maker.versions.point_at(manifest.version)
    maker.versions.prune(maker.options.keep)
    return manifest
