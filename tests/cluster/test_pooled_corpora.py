"""Callers of pools keep the previous corpus version until every shard has opened the next one."""

import asyncio
import datetime as dt
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from assayer.errors import CorpusError
from cluster.serving.index_pool import IndexReplica, PooledCorpora, VersionDetails
from index.corpus_parts import CorpusInfo
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()


class Pool:
    """Pool of a single shard: the version it reports, and the versions it has open."""

    def __init__(self) -> None:
        self.newest = "a1"
        self.open = {"a1": asyncio.Event()}
        self.open["a1"].set()
        self.broken: set[str] = set()
        self.told: list[str] = []

    async def ask(self, method: Callable[..., Any], number: int, *args: str) -> Any:
        if method is IndexReplica.current:
            return self.newest
        assert method is IndexReplica.tell
        (version,) = args
        self.told.append(version)
        if version in self.broken:
            raise CorpusError("A file is damaged.")
        await self.open.setdefault(version, asyncio.Event()).wait()
        corpus_info = CorpusInfo(version, EMBEDDER.name, EMBEDDER.dimensions, 4, None, 2)
        return VersionDetails(corpus_info, (dt.date(2020, 1, 1),))


class Clock:
    now = 0.0

    def __call__(self) -> float:
        self.now += 1.0
        return self.now


@pytest.fixture
def pools() -> tuple[Pool, Pool]:
    return Pool(), Pool()


@pytest.fixture
def clock() -> Clock:
    return Clock()


@pytest.fixture
def corpora(pools: tuple[Pool, Pool], clock: Clock) -> PooledCorpora:
    untyped_pools: Any = pools
    return PooledCorpora(untyped_pools, Path("corpus"), EMBEDDER, clock)


async def _run_ready_tasks() -> None:
    """Lets all that can go on go on."""
    for _ in range(20):
        await asyncio.sleep(0)


async def _get_current_version(corpora: PooledCorpora) -> str:
    version = (await corpora.current()).version
    await _run_ready_tasks()
    return version


async def test_current_version_is_served_until_every_shard_has_the_next(
    corpora: PooledCorpora, pools: tuple[Pool, Pool]
) -> None:
    first, second = pools
    assert await _get_current_version(corpora) == "a1"
    first.newest = "b2"
    first.open["b2"] = asyncio.Event()
    first.open["b2"].set()
    assert [await _get_current_version(corpora) for _ in range(3)] == ["a1"] * 3
    second.open["b2"].set()
    await _run_ready_tasks()
    assert await _get_current_version(corpora) == "b2"
    assert first.told.count("b2") == 1


async def test_stale_replica_does_not_revert_the_current_version(
    corpora: PooledCorpora, pools: tuple[Pool, Pool]
) -> None:
    assert await _get_current_version(corpora) == "a1"
    pools[0].newest = "b2"
    for pool in pools:
        pool.open["b2"] = asyncio.Event()
        pool.open["b2"].set()
    await _get_current_version(corpora)
    assert await _get_current_version(corpora) == "b2"
    pools[0].newest = "a1"
    assert [await _get_current_version(corpora) for _ in range(3)] == ["b2"] * 3


async def test_version_that_cannot_be_opened_is_not_tried_at_every_search(
    corpora: PooledCorpora, pools: tuple[Pool, Pool], clock: Clock
) -> None:
    assert await _get_current_version(corpora) == "a1"
    pools[0].newest = "b2"
    pools[1].broken.add("b2")
    for _ in range(5):
        assert await _get_current_version(corpora) == "a1"
    assert pools[1].told.count("b2") == 1
    pools[1].broken.clear()
    for pool in pools:
        pool.open["b2"] = asyncio.Event()
        pool.open["b2"].set()
    clock.now += 60
    await _get_current_version(corpora)
    assert await _get_current_version(corpora) == "b2"
