"""Build a sharded corpus: distribute the records, build every shard, then publish a version of the whole corpus."""

import asyncio
from collections.abc import Awaitable, Callable, Iterable, Sequence
from contextlib import ExitStack
from pathlib import Path

from assayer.models import Frozen
from assayer.ports import Embedder, LexicalEmbedder
from index.building.build import BuildSummary, build_corpus
from index.building.text_embedding import OnProgress
from index.building.version_builder import BuildOptions
from index.disk_access import explain_disk_errors
from index.records.parquet_records import RecordWithVector, RecordWriter
from index.records.record_sources import RecordReader, RejectedLine, describe_source
from index.segments.gpus import open_gpus
from index.shards.publish import publish_shards
from index.shards.shard_store import KEEP_ALL, ShardedManifest, ShardStore, assign_shards
from index.versions.manifest import count_rejections

BuildEachShard = Callable[[Sequence[Path | None], Sequence[Path], BuildOptions], Awaitable[Sequence[BuildSummary]]]
"""Function that builds every shard in its directory, from a file of its records (None for a shard without papers)."""


class ShardedBuild(Frozen):
    directory: Path
    manifest: ShardedManifest
    already_built: bool
    """True if nothing was done because the current version was built from the same sources with the same settings."""
    rejections: tuple[RejectedLine, ...] = ()


async def build_shards(
    sources: Sequence[Path],
    count: int,
    directory: Path,
    embedder: Embedder,
    progress: OnProgress | None = None,
    options: BuildOptions | None = None,
    build_each: BuildEachShard | None = None,
) -> ShardedBuild:
    """Build a sharded corpus as `index.build_corpus` does. Shards are built one after another, or by `build_each` if it
    is set. Also raises CorpusError if the existing corpus has a different number of shards."""
    shards, build_options = ShardStore(directory), options or BuildOptions()
    if build_each is None:
        open_gpus(build_options.device)  # fails early if there is no suitable GPU, before the records are distributed
    shard_options = build_options.model_copy(update={"keep": KEEP_ALL, "embed_anew": False})
    files = tuple([await asyncio.to_thread(describe_source, path) for path in sources])
    with explain_disk_errors(directory), shards.hold_build_lock(count):
        current_manifest = shards.read_manifest() if shards.versions.read_current_version() else None
        lexical = isinstance(embedder, LexicalEmbedder)
        if current_manifest and current_manifest.is_built_from(
            files, embedder.name, build_options.exact_up_to, lexical
        ):
            shards.prune(build_options.keep)
            return ShardedBuild(directory=directory, manifest=current_manifest, already_built=True)
        harvest = RecordReader(sources, None if build_options.embed_anew or lexical else embedder)
        with shards.versions.create_scratch_directory() as scratch:
            parts = await asyncio.to_thread(distribute_records, harvest, count, scratch)
            places = [shards.get_shard_path(number) for number in range(count)]
            summaries = await (build_each or _make_sequential_builder(embedder, progress))(parts, places, shard_options)
        versions = [summary.manifest.version for summary in summaries]
        rejections = count_rejections(harvest.rejections)
        manifest = await publish_shards(directory, versions, embedder, build_options.keep, files, rejections)
    return ShardedBuild(
        directory=directory, manifest=manifest, already_built=False, rejections=tuple(harvest.rejections)
    )


def _make_sequential_builder(embedder: Embedder, progress: OnProgress | None) -> BuildEachShard:
    async def build(parts: Sequence[Path | None], places: Sequence[Path], options: BuildOptions) -> list[BuildSummary]:
        return [
            await build_corpus([part] if part else [], place, embedder, progress, options)
            for part, place in zip(parts, places, strict=True)
        ]

    return build


def distribute_records(records: Iterable[RecordWithVector], count: int, folder: Path) -> list[Path | None]:
    """Write a file of records for each shard and return the files in shard order; None for a shard without papers."""
    paths = [folder / f"shard-{number:02d}.parquet" for number in range(count)]
    counts = [0] * count
    with ExitStack() as stack:
        writers = [stack.enter_context(RecordWriter(path)) for path in paths]
        for record, vector in records:
            (shard,) = assign_shards([record.id], count).tolist()
            writers[shard].write(record, vector)
            counts[shard] += 1
    return [path if papers else None for path, papers in zip(paths, counts, strict=True)]
