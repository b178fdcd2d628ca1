"""The corpus in pools: one for each shard, every process with the version that whoever asks began with."""

import asyncio
import datetime as dt
from collections.abc import Sequence
from contextlib import closing
from pathlib import Path

import numpy as np
import pytest

from assayer.errors import CorpusError
from assayer.models import OPEN, PaperId, Window
from benchmarks.index.pools import serve_pools
from benchmarks.index.traffic import Editions, Traffic, build_edition
from cluster.serving.index_pool import IndexReplica, PooledCorpora, VersionGone
from index import BuildOptions, Corpus, Delta, build_corpus, build_shards, update_corpus, update_shards
from index.records.paper_record import PaperRecord
from index.search.version_reader import VersionReader
from index.segments.row_filter import NO_FILTERS
from tests.corpus_papers import ON_TOPIC, RECORDS, record, write_jsonl
from tests.polling import wait_until_async
from workers.embedding.hashing_embedder import HashingEmbedder

pytestmark = [pytest.mark.slow, pytest.mark.usefixtures("cluster")]

EMBEDDER = HashingEmbedder()
KEEP = BuildOptions(keep=1)


async def build_version(folder: Path, records: Sequence[PaperRecord], shards: int) -> Path:
    source, directory = folder / "papers.jsonl", folder / "corpus"
    write_jsonl(source, [item.model_dump(mode="json", exclude={"year"}) for item in records])
    if shards:
        await build_shards([source], shards, directory, EMBEDDER)
    else:
        await build_corpus([source], directory, EMBEDDER)
    return directory


def load_papers() -> list[PaperRecord]:
    return [PaperRecord.model_validate(item) for item in RECORDS]


@pytest.mark.parametrize("shards", [0, 2])
async def test_served_corpus_answers_like_the_local_corpus(tmp_path: Path, shards: int) -> None:
    directory = await build_version(tmp_path, load_papers(), shards)
    ids = [PaperId("bee-00"), PaperId("bee-12"), PaperId("unknown")]
    async with serve_pools(directory, shards, EMBEDDER) as corpora:
        served = await corpora.current()
        with closing(Corpus.open(directory, EMBEDDER)) as local:
            assert (served.version, served.source, len(served)) == (local.version, local.source, len(local))
            for last in (None, dt.date(2016, 12, 31), dt.date(1999, 1, 1)):
                window = Window.until(last)
                assert served.get_newest_date(window) == local.get_newest_date(window)
                assert await served.search([ON_TOPIC], 5, window) == await local.search([ON_TOPIC], 5, window)
                assert await served.snippets(["bees"], 5, window) == await local.snippets(["bees"], 5, window)
                assert await served.neighbours(ids, 3, window) == await local.neighbours(ids, 3, window)
                assert await served.references(ids, 3, window) == await local.references(ids, 3, window)
                assert await served.citing(ids, 3, window) == await local.citing(ids, 3, window)
                assert await served.papers(ids, window) == await local.papers(ids, window)
                assert await served.fit(ON_TOPIC, window) == await local.fit(ON_TOPIC, window)
            papers = list((await local.papers(ids, OPEN)).values())
            assert await served.similarity(ON_TOPIC, ids) == await local.similarity(ON_TOPIC, ids)
            assert await served.full_texts(ids) == await local.full_texts(ids)
            assert await served.retractions(papers) == await local.retractions(papers)
            assert np.array_equal(await served.embed_queries([ON_TOPIC]), await local.embed_queries([ON_TOPIC]))


async def _get_current_version(corpora: PooledCorpora) -> str:
    return (await corpora.current()).version


async def _wait_for_search(traffic: Traffic, version: str) -> None:
    """Wait until a search has used the version."""

    async def list_versions() -> set[str]:
        return {answer.version for answer in traffic.answers}

    await wait_until_async(list_versions, lambda versions: version in versions)


@pytest.mark.parametrize("shards", [0, 2])
async def test_searches_neither_fail_nor_mix_versions_during_publication(tmp_path: Path, shards: int) -> None:
    directory = await build_version(tmp_path, build_edition(0, 40), shards)
    editions, stop = Editions(), asyncio.Event()
    async with serve_pools(directory, shards, EMBEDDER, replicas=2) as corpora:
        corpus = await corpora.current()
        editions.add(corpus.version, 0)
        traffic = Traffic(corpora, per_second=50, max_open_searches=4)
        task = asyncio.create_task(traffic.run(stop))
        await _wait_for_search(traffic, corpus.version)
        update = update_shards if shards else update_corpus
        for number in range(1, 4):
            done = await update(Delta(build_edition(number, 40)), directory, EMBEDDER, options=KEEP)
            editions.add(done.manifest.version, number)
            await wait_until_async(lambda: _get_current_version(corpora), done.manifest.version.__eq__)
            await _wait_for_search(traffic, done.manifest.version)
        (hits,) = await corpus.search(["bees"], 5, OPEN)
        stop.set()
        await task
    assert all(hit.paper.title.startswith("Edition 0:") for hit in hits), "who began with a version keeps it"
    assert traffic.list_failures() == []
    assert traffic.find_mixed_answers(editions) == []
    assert {answer.version for answer in traffic.answers} == set(editions.by_version)


async def test_earlier_version_is_reopened_and_unknown_version_is_rejected(tmp_path: Path) -> None:
    directory = await build_version(tmp_path, load_papers(), shards=0)
    with closing(Corpus.open(directory, EMBEDDER)) as first:
        changed = PaperRecord.model_validate(record(3, title="Lichens"))
        await update_corpus(Delta([changed]), directory, EMBEDDER, options=KEEP)
        async with serve_pools(directory, 0, EMBEDDER) as corpora:
            corpus, current = await corpora.at(first.version), await corpora.current()
            ids = [PaperId("bee-03")]
            assert (await corpus.papers(ids, OPEN))[ids[0]].title == record(3)["title"]
            assert (await current.papers(ids, OPEN))[ids[0]].title == "Lichens"
            with pytest.raises(CorpusError):
                await corpora.at("another")
            with pytest.raises(VersionGone, match="is no longer available"):
                await corpora.pools[0].ask(
                    IndexReplica.ask, 0, "another", VersionReader.count_passing, (NO_FILTERS,), {}
                )
