"""Publish a version of a whole sharded corpus. It combines one version of each shard; fit is measured over all
shards."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from assayer.ports import Embedder, Vectors
from index.building.text_embedding import TextEmbedding, ignore_progress
from index.corpus_fit import FitCalibration, measure_fit
from index.records.record_sources import RecordSource
from index.search.version_reader import VersionReader
from index.segments.row_filter import NO_FILTERS
from index.segments.vector_index import VectorMatches
from index.shards.shard_store import ShardedManifest, ShardStore, ShardVersion
from index.shards.sharded_queries import make_shard_key, merge_matches
from index.versions.manifest import FORMAT, CorpusChanges, Manifest, RejectionCount, check_embedder, read_manifest
from index.versions.version_store import VersionStore


async def publish_shards(
    directory: Path,
    versions: Sequence[str],
    embedder: Embedder,
    keep: int,
    sources: Sequence[RecordSource] = (),
    rejections: Sequence[RejectionCount] = (),
    changes: CorpusChanges | None = None,
) -> ShardedManifest:
    """Combine `versions`, which names one version per shard, into a new current version of the whole corpus. Must be
    called within `ShardStore.build_lock`. Raises CorpusError if a shard is damaged or was built with another model."""
    shards = ShardStore(directory)
    places = [VersionStore(shards.get_shard_path(number)) for number in range(len(versions))]
    manifests = [
        read_manifest(place.get_version_path(version)) for place, version in zip(places, versions, strict=True)
    ]
    for place, manifest in zip(places, manifests, strict=True):
        check_embedder(manifest, embedder, place.directory)
    readers = [VersionReader.open(place, manifest) for place, manifest in zip(places, manifests, strict=True)]
    fit = await measure_fit_of_shards(
        readers, embedder, shards.read_manifest().fit if shards.versions.read_current_version() else None
    )
    sharded_manifest = ShardedManifest(
        version=_name_version(manifests, fit),
        embedder=embedder.name,
        dimensions=embedder.dimensions,
        exact_up_to=manifests[0].exact_up_to,
        lexical=manifests[0].lexical,
        fit=fit,
        shards=tuple(ShardVersion(version=manifest.version, papers=manifest.papers) for manifest in manifests),
        sources=tuple(sources),
        rejected=tuple(rejections),
        changes=changes,
    )
    shards.publish(sharded_manifest, keep)
    return sharded_manifest


def _name_version(shards: Sequence[Manifest], fit: FitCalibration | None) -> str:
    contents = [FORMAT, [shard.version for shard in shards], fit.model_dump() if fit else None]
    return hashlib.sha256(json.dumps(contents).encode()).hexdigest()[:16]


async def measure_fit_of_shards(
    readers: Sequence[VersionReader], embedder: Embedder, earlier_calibration: FitCalibration | None
) -> FitCalibration | None:
    """Calibrate the fit over all shards, as `measure_fit` does; `readers` has a reader for each shard."""

    def search(queries: Vectors, limit: int) -> list[VectorMatches]:
        matches_by_shard = [reader.find_nearest(queries, limit, NO_FILTERS) for reader in readers]
        return [merge_matches(fits, limit) for fits in zip(*matches_by_shard, strict=True)]

    queries = TextEmbedding(embedder, ignore_progress).embed_queries
    return await measure_fit(readers, search, lambda place: make_shard_key(*place), queries, earlier_calibration)
