"""Search traffic goes on while versions are published and swapped: none fails, none mixes two of them."""

import asyncio
from pathlib import Path

import pytest

from assayer.models import OPEN
from benchmarks.index.traffic import Editions, Traffic, build_edition
from index import BuildOptions, CorpusVersionCache, Delta, build_corpus, build_shards, update_corpus, update_shards
from tests.corpus_papers import write_jsonl
from tests.polling import wait_until_async
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()
PAPERS = 60


async def _get_newest_version(traffic: Traffic) -> str:
    """Version of the newest answer."""
    return traffic.answers[-1].version


@pytest.mark.parametrize("shards", [0, pytest.param(2, marks=pytest.mark.slow)])
async def test_searches_neither_fail_nor_mix_versions_during_publishing(tmp_path: Path, shards: int) -> None:
    directory, editions, stop = tmp_path / "corpus", Editions(), asyncio.Event()
    records = [item.model_dump(mode="json", exclude={"year"}) for item in build_edition(0, PAPERS)]
    source = write_jsonl(tmp_path / "papers.jsonl", records)
    if shards:
        await build_shards([source], shards, directory, EMBEDDER)
    else:
        await build_corpus([source], directory, EMBEDDER)
    update = update_shards if shards else update_corpus
    corpora = CorpusVersionCache(directory, EMBEDDER)
    corpus = await corpora.current()
    editions.add(corpus.version, 0)
    traffic = Traffic(corpora, per_second=50, max_open_searches=16)
    task = asyncio.create_task(traffic.run(stop))
    for number in range(1, 5):
        done = await update(Delta(build_edition(number, PAPERS)), directory, EMBEDDER, options=BuildOptions(keep=1))
        editions.add(done.manifest.version, number)
        await wait_until_async(lambda: _get_newest_version(traffic), done.manifest.version.__eq__)
    (hits,) = await corpus.search(["bees"], 5, OPEN)
    stop.set()
    await task
    await corpora.aclose()
    assert all(hit.paper.title.startswith("Edition 0:") for hit in hits)
    assert traffic.list_failures() == []
    assert traffic.find_mixed_answers(editions) == []
    assert {answer.version for answer in traffic.answers} == set(editions.by_version)
