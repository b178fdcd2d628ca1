"""Builds a corpus on Ray: texts are embedded by a pool of models, then every shard is built by a task of its own."""

import asyncio
from collections.abc import Callable, Sequence
from contextlib import closing
from pathlib import Path
from typing import NamedTuple

import ray
from ray.exceptions import RayTaskError

from cluster.corpora.embedding import Stored, embed_on_ray, own
from cluster.corpora.plan import Wanted
from index import BuildOptions, BuildSummary, build_corpus
from index.building.stored_vectors import StoredEmbedder, VectorStore
from index.shards.build import build_shards
from index.versions.manifest import RejectionCount
from workers.embedding import SentenceTransformerEmbedder

__all__ = ["Built", "build_on_ray"]


class Built(NamedTuple):
    version: str
    papers: int
    stored: Stored
    rejected: tuple[RejectionCount, ...]
    already_built: bool


async def build_on_ray(wanted: Wanted, progress: Callable[[int], None]) -> Built:
    """Within a cluster. The version is the one that a build in one process publishes. Raises as that does."""
    stored = await asyncio.to_thread(embed_on_ray, wanted, progress)
    options = BuildOptions(embed_anew=wanted.embed_anew)
    with closing(SentenceTransformerEmbedder(wanted.embedder)) as model:
        embedder = StoredEmbedder(model, VectorStore(wanted.vectors).known(stored.keys))
        if wanted.shards is None:
            one = await build_corpus(wanted.sources, wanted.directory, embedder, None, options)
            manifest = one.manifest
            return Built(manifest.version, manifest.papers, stored, manifest.rejected, one.already_built)
        each = _Tasks(wanted, stored.keys).build
        many = await build_shards(wanted.sources, wanted.shards, wanted.directory, embedder, None, options, each)
    whole = many.manifest
    return Built(whole.version, whole.papers, stored, whole.rejected, many.already_built)


class _Tasks(NamedTuple):
    """One for each shard, as many at once as the cluster has room for."""

    wanted: Wanted
    keys: Sequence[str]

    async def build(
        self, parts: Sequence[Path | None], places: Sequence[Path], options: BuildOptions
    ) -> Sequence[BuildSummary]:
        begun = [_build.remote(self.wanted, self.keys, *one, options) for one in zip(parts, places, strict=True)]
        try:
            return await asyncio.gather(*begun)
        except RayTaskError as error:
            raise own(error) from None


@ray.remote(num_cpus=1)
def _build(wanted: Wanted, keys: Sequence[str], part: Path | None, place: Path, options: BuildOptions) -> BuildSummary:
    with closing(SentenceTransformerEmbedder(wanted.embedder)) as embedder:
        stored = StoredEmbedder(embedder, VectorStore(wanted.vectors).known(keys))
        return asyncio.run(build_corpus([part] if part else [], place, stored, None, options))
