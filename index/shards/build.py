"""Builds a corpus in shards anew: the records are dealt out, every shard is built, then the whole is published."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from assayer.models import Frozen
from assayer.ports import Embedder
from index.building.build import BuildSummary, build_corpus
from index.building.making import BuildOptions
from index.building.writing import OnProgress
from index.disk import writing_to
from index.reading.record_files import FiledRecord, RecordsWriter
from index.reading.sources import Harvest, Rejection, describe
from index.shards.manifest import ShardedManifest
from index.shards.publishing import publish_shards
from index.shards.shards import KEEP_ALL, Shards, shard_of
from index.versions.manifest import counted

__all__ = ["BuildsShards", "ShardedBuild", "build_shards", "deal"]


BuildsShards = Callable[[Sequence[Path | None], Sequence[Path], BuildOptions], Awaitable[Sequence[BuildSummary]]]
"""Given the records of each shard and its directory; None for a shard without papers."""


class ShardedBuild(Frozen):
    directory: Path
    manifest: ShardedManifest
    already_built: bool
    """Same sources and model as the version at hand: nothing was done."""
    rejections: tuple[Rejection, ...] = ()


async def build_shards(
    sources: Sequence[Path],
    count: int,
    directory: Path,
    embedder: Embedder,
    progress: OnProgress | None = None,
    options: BuildOptions | None = None,
    each: BuildsShards | None = None,
) -> ShardedBuild:
    """As `index.build_corpus`, one shard after the other, or as `each` does it. Raises CorpusError also for a corpus
    with another number of shards."""
    shards, chosen = Shards(directory), options or BuildOptions()
    of_shards = chosen.model_copy(update={"keep": KEEP_ALL, "embed_anew": False})
    files = tuple([await asyncio.to_thread(describe, path) for path in sources])
    with writing_to(directory), shards.building(count):
        at_hand = shards.read() if shards.versions.name() else None
        if at_hand and at_hand.built_from(files, embedder.name, chosen.exact_up_to):
            shards.prune(chosen.keep)
            return ShardedBuild(directory=directory, manifest=at_hand, already_built=True)
        harvest = Harvest(sources, None if chosen.embed_anew else embedder)
        with shards.versions.unfinished() as scratch:
            parts = await asyncio.to_thread(deal, harvest, count, scratch)
            places = [shards.shard(number) for number in range(count)]
            built = await (each or _one_by_one(embedder, progress))(parts, places, of_shards)
        versions = [one.manifest.version for one in built]
        rejected = counted(harvest.rejections)
        manifest = await publish_shards(directory, versions, embedder, chosen.keep, files, rejected)
    return ShardedBuild(
        directory=directory, manifest=manifest, already_built=False, rejections=tuple(harvest.rejections)
    )


def _one_by_one(embedder: Embedder, progress: OnProgress | None) -> BuildsShards:
    async def build(parts: Sequence[Path | None], places: Sequence[Path], options: BuildOptions) -> list[BuildSummary]:
        return [
            await build_corpus([part] if part else [], place, embedder, progress, options)
            for part, place in zip(parts, places, strict=True)
        ]

    return build


def deal(records: Iterable[FiledRecord], count: int, folder: Path) -> list[Path | None]:
    """A file of records for each shard, in the order in which they come; None for one that gets nothing."""
    paths = [folder / f"shard-{number:02d}.parquet" for number in range(count)]
    dealt = [0] * count
    with ExitStack() as stack:
        writers = [stack.enter_context(RecordsWriter(path)) for path in paths]
        for record, vector in records:
            (own,) = shard_of([record.id], count).tolist()
            writers[own].write(record, vector)
            dealt[own] += 1
    return [path if some else None for path, some in zip(paths, dealt, strict=True)]
