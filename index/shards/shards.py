"""The directory of a corpus in shards: corpora side by side, and versions that name one version of each.

    DIRECTORY/
    ├── current                  the version of the whole that answers; replaced atomically
    ├── lock                     held while somebody builds
    ├── shards/NN/               a corpus like any other, of the papers whose ids' hashes say so
    └── versions/VERSION/        manifest.json: which version of each shard

Shards are built and updated with the same functions as a corpus that is one. What a shard calls its current version
answers nobody: it answers once a version of the whole names it. So a night that ends between two shards has changed
nothing, and the next one begins from what answers.
"""

import hashlib
import json
from collections.abc import Iterable, Iterator, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Literal

import numpy as np
from numpy.typing import NDArray
from pydantic import ValidationError

from assayer.errors import CorpusError
from assayer.models import Frozen
from assayer.ports import Embedder
from index.files import REBUILD
from index.fit import FitCalibration
from index.ids import hashed
from index.reading.sources import SourceFile
from index.searching.reader import Reader
from index.shards.fit import measure_fit
from index.versions.format import FORMAT
from index.versions.manifest import (
    MANIFEST,
    Changes,
    Manifest,
    RejectionCount,
    is_sealed,
    read_manifest,
    write_sealed,
)
from index.versions.opening import refuse_other_model
from index.versions.versions import Versions

__all__ = ["KEEP_ALL", "ShardVersion", "ShardedManifest", "Shards", "is_sharded", "publish_shards", "shard_of"]

KEEP_ALL = 2**31
"""`BuildOptions.keep` of a shard: which of its versions may go is known only where those of the whole are."""
_SHARDS = "shards"


def shard_of(ids: Iterable[str], count: int) -> NDArray[np.int64]:
    """The shard of each paper."""
    return (hashed(ids) % np.uint64(count)).astype(np.int64)


def is_sharded(directory: Path) -> bool:
    return (directory / _SHARDS).is_dir()


class ShardVersion(Frozen):
    version: str
    papers: int


class ShardedManifest(Frozen):
    format: Literal["shards-1"] = "shards-1"
    version: str
    """Hash of all that determines an answer."""
    embedder: str
    dimensions: int
    exact_up_to: int
    fit: FitCalibration | None
    """Of the whole; None for a corpus too small to measure."""
    shards: tuple[ShardVersion, ...]
    sources: tuple[SourceFile, ...]
    rejected: tuple[RejectionCount, ...]
    """Lines of the sources that were set aside, the most frequent reason first."""
    changes: Changes | None
    """None for a corpus that was built anew."""

    @property
    def papers(self) -> int:
        return sum(one.papers for one in self.shards)

    def built_from(self, sources: Sequence[SourceFile], embedder: str, exact_up_to: int) -> bool:
        """And not updated since."""
        wanted = (tuple(sources), embedder, exact_up_to, None)
        return (self.sources, self.embedder, self.exact_up_to, self.changes) == wanted


class Shards:
    def __init__(self, directory: Path) -> None:
        self.directory = directory
        self.versions = Versions(directory)
        """Of the whole."""

    def shard(self, number: int) -> Path:
        """The directory of a shard, from 0."""
        return self.directory / _SHARDS / f"{number:02d}"

    def read(self, version: str | None = None) -> ShardedManifest:
        """Of the current version by default. Raises CorpusError when there is none, or it is not as it was written."""
        directory = self.versions.current() if version is None else self.versions.path(version)
        path = directory / MANIFEST
        try:
            written = path.read_bytes()
            manifest = ShardedManifest.model_validate_json(written)
        except OSError:
            raise CorpusError(f"The corpus version in {directory} has no readable manifest.", REBUILD) from None
        except ValidationError:
            raise CorpusError(f"The corpus is damaged: {path} cannot be read.", REBUILD) from None
        if not is_sealed(directory, written) or manifest.version != directory.name:
            raise CorpusError(f"The corpus is damaged: {path} is not as it was written.", REBUILD)
        return manifest

    @contextmanager
    def building(self, count: int | None = None) -> Iterator[int]:
        """Tells how many shards there are; `count` for a corpus that is begun. Every shard's own current version is
        then the one that answers. Raises CorpusError while another process builds here, and for a corpus that has
        another number of shards or none."""
        self._refuse_other_count(count)
        with self.versions.building():
            (self.directory / _SHARDS).mkdir(exist_ok=True)
            published = self.read().shards if self.versions.name() else ()
            for number, one in enumerate(published):
                shard = Versions(self.shard(number))
                if shard.name() != one.version:
                    shard.point_at(one.version)
            yield count or len(published)

    def publish(self, manifest: ShardedManifest, keep: int) -> None:
        """Makes it the current version, then prunes."""
        if self.versions.path(manifest.version).is_dir():
            self.versions.point_at(manifest.version)
        else:
            with self.versions.unfinished() as directory:
                write_sealed((manifest.model_dump_json(indent=1) + "\n").encode(), directory)
                self.versions.publish(directory, manifest.version)
        self.prune(keep)

    def prune(self, keep: int) -> None:
        """Removes all but the newest versions of the whole and those that somebody reads; then, in every shard, the
        versions that none of the others names and nobody reads."""
        self.versions.retain(self.versions.newest(keep))
        kept = [self.read(version) for version in self.versions.newest(KEEP_ALL)]
        for number in range(len(kept[0].shards)):
            shard = Versions(self.shard(number))
            shard.retain(manifest.shards[number].version for manifest in kept)
            shard.prune_segments()

    def _refuse_other_count(self, count: int | None) -> None:
        version = self.versions.name()
        if not version:
            if count is None:
                self.versions.current()
            return
        if not is_sharded(self.directory):
            raise CorpusError(
                f"The corpus in {self.directory} is not in shards.",
                "Build it in another directory: ASSAYER_CORPUS__PATH.",
            )
        there = len(self.read().shards)
        if count not in (None, there):
            raise CorpusError(
                f"The corpus in {self.directory} has {there} shards, not {count}.",
                f"Give --shards {there}, or another directory: ASSAYER_CORPUS__PATH.",
            )


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
    fit = await measure_fit(readers, embedder, shards.read().fit if shards.versions.name() else None)
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
