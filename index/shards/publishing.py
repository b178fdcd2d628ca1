"""Makes versions of shards one version of the whole."""

import hashlib
import json
from collections.abc import Sequence
from pathlib import Path

from assayer.ports import Embedder
from index.fit import FitCalibration
from index.reading.sources import SourceFile
from index.searching.reader import Reader
from index.shards.fit import measure_fit_over
from index.shards.manifest import ShardedManifest, ShardVersion
from index.shards.shards import Shards
from index.versions.format import FORMAT
from index.versions.manifest import Changes, Manifest, RejectionCount, read_manifest
from index.versions.opening import refuse_other_model
from index.versions.versions import Versions

__all__ = ["publish_shards"]


async def publish_shards(
    directory: Path,
    versions: Sequence[str],
    embedder: Embedder,
    keep: int,
    sources: Sequence[SourceFile] = (),
    rejected: Sequence[RejectionCount] = (),
    changes: Changes | None = None,
) -> ShardedManifest:
    """Makes these versions, one of each shard, the current version of the whole; to be called within
    `Shards.building`. Raises CorpusError where a shard is damaged or was made with another model."""
    shards = Shards(directory)
    places = [Versions(shards.shard(number)) for number in range(len(versions))]
    manifests = [read_manifest(place.path(version)) for place, version in zip(places, versions, strict=True)]
    for place, manifest in zip(places, manifests, strict=True):
        refuse_other_model(manifest, embedder, place.directory)
    readers = [Reader.open(place, manifest) for place, manifest in zip(places, manifests, strict=True)]
    fit = await measure_fit_over(readers, embedder, shards.read().fit if shards.versions.name() else None)
    whole = ShardedManifest(
        version=_named(manifests, fit),
        embedder=embedder.name,
        dimensions=embedder.dimensions,
        exact_up_to=manifests[0].exact_up_to,
        fit=fit,
        shards=tuple(ShardVersion(version=one.version, papers=one.papers) for one in manifests),
        sources=tuple(sources),
        rejected=tuple(rejected),
        changes=changes,
    )
    shards.publish(whole, keep)
    return whole


def _named(shards: Sequence[Manifest], fit: FitCalibration | None) -> str:
    told = [FORMAT, [one.version for one in shards], fit.model_dump() if fit else None]
    return hashlib.sha256(json.dumps(told).encode()).hexdigest()[:16]
