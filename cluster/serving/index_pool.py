"""Corpus search in pools of processes: one pool per shard, or one pool for all shards. Every query names its corpus
version."""

import asyncio
import datetime as dt
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from assayer.errors import AssayerError, ComponentUnavailable, CorpusError
from assayer.ports import Embedder
from assayer.run.concurrency import gather_all
from cluster.corpus_source import create_bucket_origin, get_followed_bucket
from cluster.serving.pool_client import PoolClient
from cluster.serving.replica import Replica, ReplicaConfig
from cluster.serving.shard_router import OPEN_SHARDS
from cluster.serving.shared_shards import ShardSharing, SharedShards
from cluster.settings import Settings
from index import Corpus
from index.corpus_origin import CorpusOrigin, FolderOrigin, open_or_download
from index.corpus_parts import CorpusInfo, CorpusPart, describe_corpus
from index.search.version_reader import VersionReader
from index.version_cache import VersionCache
from index.versions.manifest import check_embedder
from index.versions.verification_cache import VerificationCache

P = ParamSpec("P")
Out = TypeVar("Out")

_LOG = logging.getLogger(__name__)
_CURRENT_VERSION_SECONDS = 0.5
"""Seconds for which the reported current version is cached, so that a search does not need an extra request for it."""
_RETRY_SECONDS = 30.0
_IDLE_SECONDS = 7200.0
"""Seconds for which a version stays open after its last query once it is no longer current. Evaluations in other
processes do not hold it, and may wait that long for a language model."""
_IGNORE_PREVIOUS_SECONDS = 600.0
"""Maximum seconds for which some processes may still report the previous version after others have opened the next."""


class VersionGone(ComponentUnavailable):
    """Error for a corpus version that is no longer available. The caller must start over with the current version."""


class VersionDetails(NamedTuple):
    """Details of a corpus version, as returned by a pool."""

    whole: CorpusInfo
    days: tuple[dt.date, ...]
    """Publication dates of the papers in this shard."""


class IndexReplica(Replica):
    def __init__(self, config: ReplicaConfig, number: int = 0, sharing: ShardSharing | None = None) -> None:
        """Open the shard with this number, or the whole corpus if it has no shards. With `sharing`, open this process's
        share of the shards instead."""
        self._settings = self.begin(config)
        self._verification_cache = VerificationCache(self._settings.verified_path)
        self._bucket = get_followed_bucket(self._settings)
        self._shards: dict[int, VersionCache[CorpusPart]] = {}
        self._shared_shards = None if sharing is None else SharedShards(sharing)
        if sharing is None:
            self._get_versions(number)

    async def current(self, number: int) -> str:
        """Return the newest corpus version whose shard `number` is open here. Raises CorpusError if there is no
        corpus."""
        return (await self._record_request(number).current()).whole.version

    async def tell(self, number: int, version: str) -> VersionDetails:
        """Return the details of a corpus version. Raises CorpusError if it is not available."""
        part = await self._record_request(number).at(version)
        return VersionDetails(part.whole, part.days)

    async def ask(
        self, number: int, version: str, question: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """Run the function `question` on one shard of a corpus version. Raises VersionGone if the version is no longer
        available."""
        versions = self._record_request(number)
        try:
            part = await versions.at(version)
        except CorpusError as error:
            raise VersionGone(f"Version {version} of the corpus is no longer available: {error}") from None
        versions.open_current()
        return await part.call(question, *args, **kwargs)

    async def list_held_shards(self) -> tuple[str, list[int]]:
        """Return this process's name in its pool (empty if each shard has its own pool), and its open shards."""
        return (self._shared_shards.name if self._shared_shards else ""), self._list_open_shards()

    async def process_id(self) -> int:
        return os.getpid()

    def record_routing_stats(self) -> dict[str, Any]:
        """Return the routing statistics that `ShardRouter` uses. Ray Serve calls this hook."""
        return {OPEN_SHARDS: self._list_open_shards()}

    async def check_health(self) -> None:
        """Open new corpus versions, even without queries, and open and close shards as processes join and leave the
        pool."""
        if self._shared_shards is not None:
            for number in await self._shared_shards.list_assigned_shards():
                self._get_versions(number)
            for number in self._shared_shards.choose_shards_to_close(self._shards):
                await self._shards.pop(number).aclose()
        for versions in self._shards.values():
            versions.open_current()

    async def __del__(self) -> None:
        for versions in self._shards.values():
            await versions.aclose()

    def _list_open_shards(self) -> list[int]:
        return sorted(number for number, versions in self._shards.items() if versions.is_current_open())

    def _record_request(self, number: int) -> VersionCache[CorpusPart]:
        """Record a request for a shard, and return that shard's versions."""
        if self._shared_shards is not None:
            self._shared_shards.note_asked(number)
        return self._get_versions(number)

    def _get_versions(self, number: int) -> VersionCache[CorpusPart]:
        if number not in self._shards:
            self._shards[number] = self._open_shard(number)
        return self._shards[number]

    def _open_shard(self, number: int) -> VersionCache[CorpusPart]:
        directory, device = self._settings.corpus_path, self._settings.corpus.device
        origin: CorpusOrigin = FolderOrigin(directory)
        if self._bucket is not None:
            origin = create_bucket_origin(self._bucket, self._settings, self._verification_cache, [number])

        def open_version(version: str) -> CorpusPart:
            def open_part(name: str) -> CorpusPart:
                corpus_info = describe_corpus(directory, name or None)
                return CorpusPart.open(directory, corpus_info, number, self._verification_cache, device)

            return open_or_download(origin, version, open_part)

        return VersionCache(
            origin.get_newest_version,
            open_version,
            idle_seconds=_IDLE_SECONDS,
            check_for_newest=origin.check_for_newest,
        )


class _PooledShard:
    """Shard of one corpus version that is searched in a pool. Implements `index.search.local_reader.ReaderHandle`."""

    def __init__(self, pool: PoolClient[IndexReplica], number: int, version: str) -> None:
        self._pool = pool
        self._number = number
        self._version = version

    async def call(
        self, function: Callable[Concatenate[VersionReader, P], Out], *args: P.args, **kwargs: P.kwargs
    ) -> Out:
        answer: Out = await self._pool.ask(IndexReplica.ask, self._number, self._version, function, args, kwargs)
        return answer


class PooledCorpora:
    """Corpus versions whose shards are searched in pools. Implements `cluster.engine_components.CorpusVersions`. While
    a new version is being opened (and first pulled, if necessary), callers get the previous version."""

    def __init__(
        self,
        pools: Sequence[PoolClient[IndexReplica]],
        directory: Path,
        embedder: Embedder,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """Create the corpus versions. `pools` has one pool per shard, in order, and may repeat a pool; `directory`
        appears only in messages; `clock` returns seconds from an arbitrary start."""
        self.pools = pools
        self._directory = directory
        self._embedder = embedder
        self._clock = clock
        self._open: WeakValueDictionary[str, Corpus] = WeakValueDictionary()
        self._latest: Corpus | None = None
        self._record_request = 0.0
        """Clock time of the last request for the current version."""
        self._previous_version: tuple[str, float] = ("", 0.0)
        """Previous version, and the time until which reports that it is current are ignored. Such reports come from
        processes that have not opened the latest version yet."""
        self._refused_version: tuple[str, float] = ("", 0.0)
        """Version that could not be opened, and the time before which it is not retried."""
        self._opening: asyncio.Task[None] | None = None

    async def current(self) -> Corpus:
        if self._latest is None:
            self._latest = await self.at(await self._fetch_current_version())
        elif self._clock() - self._record_request > _CURRENT_VERSION_SECONDS and self._opening is None:
            await self._look(self._latest)
        return self._latest

    async def _fetch_current_version(self) -> str:
        self._record_request = self._clock()
        return await self.pools[0].ask(IndexReplica.current, 0)

    async def _look(self, latest: Corpus) -> None:
        version = await self._fetch_current_version()
        if version != latest.version and not self._is_ignored(version) and self._opening is None:
            self._opening = asyncio.create_task(self._open_next(version))

    def _is_ignored(self, version: str) -> bool:
        return any(
            version == named_version and self._clock() < expiry
            for named_version, expiry in (self._previous_version, self._refused_version)
        )

    async def _open_next(self, version: str) -> None:
        try:
            corpus = await self.at(version)
            if self._latest is not None:
                self._previous_version = (self._latest.version, self._clock() + _IGNORE_PREVIOUS_SECONDS)
            self._latest = corpus
        except AssayerError as error:
            self._refused_version = (version, self._clock() + _RETRY_SECONDS)
            _LOG.warning("corpus version %s cannot be searched yet; the previous one stays in use: %s", version, error)
        finally:
            self._opening = None

    async def at(self, version: str) -> Corpus:
        corpus = self._open.get(version)
        if corpus is None:
            corpus = self._open[version] = await self._open_version(version)
        return corpus

    async def _open_version(self, version: str) -> Corpus:
        details = await gather_all(
            pool.ask(IndexReplica.tell, number, version) for number, pool in enumerate(self.pools)
        )
        description = details[0].whole
        check_embedder(description, self._embedder, self._directory)
        if description.part_count != len(self.pools):
            raise CorpusError(
                f"The corpus in {self._directory} has {description.part_count} shards, but this service was "
                f"deployed for {len(self.pools)}.",
                "Redeploy the service.",
            )
        parts = [_PooledShard(pool, number, version) for number, pool in enumerate(self.pools)]
        return Corpus(
            description, (day for version_details in details for day in version_details.days), parts, self._embedder
        )


def make_pooled_corpora(
    pools: Sequence[PoolClient[IndexReplica]], settings: Settings
) -> Callable[[Embedder], PooledCorpora]:
    return lambda embedder: PooledCorpora(pools, settings.corpus_path, embedder)
