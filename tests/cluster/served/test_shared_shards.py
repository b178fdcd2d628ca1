"""All shards in one pool: each process pulls and holds what falls to it, and who dies is replaced by the next in order
without an error to whoever asks."""

import asyncio
import os
import signal
from pathlib import Path
from typing import Any

import pytest

from assayer.models import OPEN
from benchmarks.index.pools import serve_pools
from benchmarks.index.traffic import Editions, Traffic, build_edition
from cluster.serving.index_pool import IndexReplica, PooledCorpora
from index import BuildOptions, Corpus, Delta, build_shards, update_shards
from index.object_storage.publishing import CorpusPublisher
from index.shards.rendezvous import order_by_rendezvous
from index.versions.verification_cache import VerificationCache
from tests.contract.published_corpora import SettableClock
from tests.corpus_papers import ON_TOPIC, write_jsonl
from tests.polling import wait_until_async
from workers.embedding.hashing_embedder import HashingEmbedder

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cluster")]

EMBEDDER = HashingEmbedder()
SHARDS, PROCESSES, COPIES = 6, 3, 2
LOOKING = {"ASSAYER_CORPUS__LOOK_SECONDS": "0.2"}


class Bucket:
    """Bucket with a sharded corpus that is built beside it."""

    def __init__(self, folder: Path) -> None:
        self.built, self.address = folder / "built", (folder / "bucket").as_uri()
        self._publisher = CorpusPublisher(self.address, SettableClock())
        self._folder = folder

    async def build(self) -> str:
        records = [item.model_dump(mode="json", exclude={"year"}) for item in build_edition(0, 60)]
        source = write_jsonl(self._folder / "papers.jsonl", records)
        await build_shards([source], SHARDS, self.built, EMBEDDER)
        return self._publish()

    async def update(self, number: int) -> str:
        await update_shards(Delta(build_edition(number, 60)), self.built, EMBEDDER, options=BuildOptions(keep=2))
        return self._publish()

    def _publish(self) -> str:
        return str(self._publisher.publish(self.built, VerificationCache()).version)

    @property
    def variables(self) -> dict[str, str]:
        return {"ASSAYER_CORPUS__SOURCE": self.address, **LOOKING}


async def _list_open_shards(corpora: PooledCorpora) -> dict[str, list[int]]:
    """Return the shards each process has open, by process name."""
    broadcast: Any = corpora.pools[0].handle.broadcast(IndexReplica.list_held_shards.__name__)
    answers = await asyncio.to_thread(broadcast.results, timeout_s=30, return_exceptions=True)
    return {answer[0]: answer[1] for answer in answers if not isinstance(answer, BaseException)}


def _assign_shards(open_shards: dict[str, list[int]]) -> dict[str, list[int]]:
    """Return the shards each process should have open, by process name."""
    assignment: dict[str, list[int]] = {name: [] for name in open_shards}
    for shard in range(SHARDS):
        for name in order_by_rendezvous(shard, open_shards)[:COPIES]:
            assignment[name].append(shard)
    return assignment


def _is_balanced(open_shards: dict[str, list[int]]) -> bool:
    """Whether every process holds what falls to it, and no more."""
    return len(open_shards) == PROCESSES and open_shards == _assign_shards(open_shards)


def _is_rebalanced(open_shards: dict[str, list[int]], before: dict[str, list[int]]) -> bool:
    """Whether another process has come and holds what falls to it, and the others hold what falls to them, beside what
    they were asked for meanwhile."""
    assignment = _assign_shards(open_shards)
    new_names = open_shards.keys() - before.keys()
    return (
        len(open_shards) == PROCESSES
        and len(new_names) == 1
        and all(open_shards[name] == assignment[name] for name in new_names)
        and all({*assignment[name]} <= {*shards} for name, shards in open_shards.items())
    )


async def test_each_replica_holds_its_share_of_shards_and_search_matches_local(tmp_path: Path) -> None:
    bucket = Bucket(tmp_path)
    version = await bucket.build()
    async with serve_pools(tmp_path / "copy", SHARDS, EMBEDDER, PROCESSES, COPIES, bucket.variables) as corpora:
        open_shards = await wait_until_async(lambda: _list_open_shards(corpora), _is_balanced)
        assert sum(map(len, open_shards.values())) == SHARDS * COPIES
        served = await corpora.current()
        local = Corpus.open(bucket.built, EMBEDDER)
        assert served.version == version
        assert await served.search([ON_TOPIC, "bees"], 10, OPEN) == await local.search([ON_TOPIC, "bees"], 10, OPEN)
        assert await served.snippets(["bees"], 5, OPEN) == await local.snippets(["bees"], 5, OPEN)
        local.close()
        assert _is_balanced(await _list_open_shards(corpora)), "asking has opened nothing elsewhere"


async def test_killed_shard_replica_is_replaced_without_failed_searches(tmp_path: Path) -> None:
    bucket, editions, stop = Bucket(tmp_path), Editions(), asyncio.Event()
    editions.add(await bucket.build(), 0)
    async with serve_pools(tmp_path / "copy", SHARDS, EMBEDDER, PROCESSES, COPIES, bucket.variables) as corpora:
        before = await wait_until_async(lambda: _list_open_shards(corpora), _is_balanced)
        traffic = Traffic(corpora, per_second=20, max_open_searches=4)
        task = asyncio.create_task(traffic.run(stop))
        await wait_until_async(lambda: _count_answers(traffic), lambda count: count > 20)
        os.kill(await corpora.pools[0].ask(IndexReplica.process_id), signal.SIGKILL)
        after = await wait_until_async(
            lambda: _list_open_shards(corpora), lambda open_shards: _is_rebalanced(open_shards, before)
        )
        remaining = after.keys() & before.keys()
        assert len(remaining) == PROCESSES - 1
        assert all({*before[name]} <= {*after[name]} for name in remaining), "no shard moves away from who is left"
        editions.add(version := await bucket.update(1), 1)
        await wait_until_async(lambda: _get_newest_version(traffic), version.__eq__)
        stop.set()
        await task
    assert traffic.list_failures() == []
    assert traffic.find_mixed_answers(editions) == []
    assert {answer.version for answer in traffic.answers} == set(editions.by_version)


async def _count_answers(traffic: Traffic) -> int:
    return len(traffic.answers)


async def _get_newest_version(traffic: Traffic) -> str:
    return traffic.answers[-1].version
