"""The local corpus as pools: one for each shard, or one that shares all shards. Every process answers for the version
that whoever asks began with."""

import asyncio
import datetime as dt
import logging
import os
import time
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any, Concatenate, NamedTuple, ParamSpec, TypeVar
from weakref import WeakValueDictionary

from assayer.errors import AssayerError, CorpusError, PartUnavailable
from assayer.ports import Embedder
from assayer.run.structured_concurrency import together
from cluster.corpus_source import bucket_origin, followed_bucket
from cluster.serving.pool_client import PoolClient
from cluster.serving.replica import Replica, ReplicaConfig
from cluster.serving.shard_router import OPEN_SHARDS
from cluster.serving.shared_shards import ShardSharing, SharedShards
from cluster.settings import Settings
from index import Corpus
from index.corpus_origin import CorpusOrigin, FolderOrigin, open_from
from index.corpus_parts import CorpusInfo, CorpusPart, describe_corpus
from index.search.version_reader import VersionReader
from index.version_cache import VersionCache
from index.versions.manifest import check_embedder
from index.versions.verification_cache import VerificationCache

__all__ = ["IndexReplica", "PooledCorpora", "VersionGone", "pooled_corpora"]

P = ParamSpec("P")
Out = TypeVar("Out")

_LOG = logging.getLogger(__name__)
_CURRENT_VERSION_SECONDS = 0.5
"""How long a pool's word on which version is the current one is believed, so that not every search asks twice."""
_AGAIN_SECONDS = 30.0
_LATE_SECONDS = 600.0
"""For which a process may tell of the version before, after another had the next one open."""


class VersionGone(PartUnavailable):
    """The version with which somebody began is not there any more: to get an answer it has to begin anew."""


class VersionDetails(NamedTuple):
    """What a pool tells of a version."""

    whole: CorpusInfo
    days: tuple[dt.date, ...]
    """On which the papers of its part were published."""


class IndexReplica(Replica):
    def __init__(self, config: ReplicaConfig, number: int = 0, sharing: ShardSharing | None = None) -> None:
        """Of the shard with that number, or of the whole where there are no shards. With `sharing`, of the shards that
        fall to this process among the processes of the pool."""
        self._settings = self.begin(config)
        self._verified = VerificationCache(self._settings.verified_path)
        self._bucket = followed_bucket(self._settings)
        self._shards: dict[int, VersionCache[CorpusPart]] = {}
        self._shared = None if sharing is None else SharedShards(sharing)
        if sharing is None:
            self._versions(number)

    async def current(self, number: int) -> str:
        """Name of the newest version of which the shard is open here. Raises CorpusError when there is none: a service
        without a corpus has methods that need none."""
        return (await self._asked(number).current()).whole.version

    async def tell(self, number: int, version: str) -> VersionDetails:
        """Raises CorpusError when it is not there."""
        part = await self._asked(number).at(version)
        return VersionDetails(part.whole, part.days)

    async def ask(
        self, number: int, version: str, question: Callable[..., Any], args: Sequence[Any], kwargs: Mapping[str, Any]
    ) -> Any:
        """Raises VersionGone when it was there, and is not any more."""
        versions = self._asked(number)
        try:
            part = await versions.at(version)
        except CorpusError as error:
            raise VersionGone(f"Version {version} of the corpus cannot be asked any more: {error}") from None
        versions.open_current()
        return await part.call(question, *args, **kwargs)

    async def held(self) -> tuple[str, list[int]]:
        """This process's name in its pool, and the shards that it has open."""
        return (self._shared.name if self._shared else ""), self._opened()

    async def process_id(self) -> int:
        return os.getpid()

    def record_routing_stats(self) -> dict[str, Any]:
        """For `ShardRouter`."""
        return {OPEN_SHARDS: self._opened()}

    async def check_health(self) -> None:
        """Also looks whether there is a new version, if nobody asks, and opens and closes shards as processes come and
        go."""
        if self._shared is not None:
            for number in await self._shared.mine():
                self._versions(number)
            for number in self._shared.let_go(self._shards):
                await self._shards.pop(number).aclose()
        for versions in self._shards.values():
            versions.open_current()

    async def __del__(self) -> None:
        for versions in self._shards.values():
            await versions.aclose()

    def _opened(self) -> list[int]:
        return sorted(number for number, versions in self._shards.items() if versions.is_current_open())

    def _asked(self, number: int) -> VersionCache[CorpusPart]:
        """Of a shard that somebody asks for."""
        if self._shared is not None:
            self._shared.note_asked(number)
        return self._versions(number)

    def _versions(self, number: int) -> VersionCache[CorpusPart]:
        if number not in self._shards:
            self._shards[number] = self._of_shard(number)
        return self._shards[number]

    def _of_shard(self, number: int) -> VersionCache[CorpusPart]:
        directory, device = self._settings.corpus_path, self._settings.corpus.device
        origin: CorpusOrigin = FolderOrigin(directory)
        if self._bucket is not None:
            origin = bucket_origin(self._bucket, self._settings, self._verified, [number])

        def opened(version: str) -> CorpusPart:
            def open_part(name: str) -> CorpusPart:
                whole = describe_corpus(directory, name or None)
                return CorpusPart.open(directory, whole, number, self._verified, device)

            return open_from(origin, version, open_part)

        return VersionCache(origin.newest, opened, look=origin.look)


class _PooledShard:
    """Implements index.search.corpus_queries.ReaderHandle: a part of one version, in a pool."""

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
    """Implements cluster.engine_parts.CorpusVersions over pools of all shards, in their order. While the parts of a new
    version are being opened, which may take as long as pulling them does, everybody gets the one before."""

    def __init__(
        self,
        pools: Sequence[PoolClient[IndexReplica]],
        directory: Path,
        embedder: Embedder,
        clock: Callable[[], float] = time.monotonic,
    ) -> None:
        """`pools` may be one and the same for several shards; `directory` is only told to people; `clock` tells seconds
        from any moment on."""
        self.pools = pools
        self._directory = directory
        self._embedder = embedder
        self._clock = clock
        self._open: WeakValueDictionary[str, Corpus] = WeakValueDictionary()
        self._latest: Corpus | None = None
        self._asked = 0.0
        """When the pool was asked last which version is the current one."""
        self._before: tuple[str, float] = ("", 0.0)
        """The version before the latest, and until when a process that still has it is not believed."""
        self._refused: tuple[str, float] = ("", 0.0)
        """A version of which a part could not be opened, and until when it is not tried again."""
        self._moving: asyncio.Task[None] | None = None

    async def current(self) -> Corpus:
        if self._latest is None:
            self._latest = await self.at(await self._told_version())
        elif self._clock() - self._asked > _CURRENT_VERSION_SECONDS and self._moving is None:
            await self._look(self._latest)
        return self._latest

    async def _told_version(self) -> str:
        self._asked = self._clock()
        return await self.pools[0].ask(IndexReplica.current, 0)

    async def _look(self, latest: Corpus) -> None:
        version = await self._told_version()
        if version != latest.version and not self._passed_over(version) and self._moving is None:
            self._moving = asyncio.create_task(self._move(version))

    def _passed_over(self, version: str) -> bool:
        return any(version == one and self._clock() < until for one, until in (self._before, self._refused))

    async def _move(self, version: str) -> None:
        try:
            opened = await self.at(version)
            if self._latest is not None:
                self._before = (self._latest.version, self._clock() + _LATE_SECONDS)
            self._latest = opened
        except AssayerError as error:
            self._refused = (version, self._clock() + _AGAIN_SECONDS)
            _LOG.warning("version %s of the corpus cannot be asked yet, the one before goes on: %s", version, error)
        finally:
            self._moving = None

    async def at(self, version: str) -> Corpus:
        found = self._open.get(version)
        if found is None:
            found = self._open[version] = await self._opened(version)
        return found

    async def _opened(self, version: str) -> Corpus:
        told = await together(pool.ask(IndexReplica.tell, number, version) for number, pool in enumerate(self.pools))
        whole = told[0].whole
        check_embedder(whole, self._embedder, self._directory)
        if whole.part_count != len(self.pools):
            raise CorpusError(
                f"The corpus in {self._directory} has {whole.part_count} parts, and this service began with "
                f"{len(self.pools)}.",
                "Deploy the service again.",
            )
        parts = [_PooledShard(pool, number, version) for number, pool in enumerate(self.pools)]
        return Corpus(whole, (day for one in told for day in one.days), parts, self._embedder)


def pooled_corpora(
    pools: Sequence[PoolClient[IndexReplica]], settings: Settings
) -> Callable[[Embedder], PooledCorpora]:
    return lambda embedder: PooledCorpora(pools, settings.corpus_path, embedder)
