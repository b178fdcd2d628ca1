"""Citations both ways in corpora that are odd: cycles, works that everybody cites, lists that are long or missing."""

import asyncio
import datetime as dt
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from assayer.models import OPEN, Filters, PaperId, Window
from index import BuildOptions, Corpus, Manifest, VersionStore, build_corpus, build_shards, read_manifest
from index.building.update import read_delta, update_corpus
from index.search.local_reader import LocalReader
from index.search.version_reader import VersionReader
from index.shards.sharded_queries import CorpusQueries
from tests.corpus_papers import record, write_jsonl
from tests.memory_corpus import MemoryCorpus
from workers.embedding.hashing_embedder import HashingEmbedder

HUB = PaperId("bee-00")
CITING_TEXT: dict[str, Any] = {
    "sections": [{"title": "Methods", "text": "We walked as in earlier studies. " * 3}],
    "cited_in_text": [{"id": "bee-03", "at": [[0, 4]]}, {"id": "bee-00", "at": [[0, 9]]}],
}


async def build_on_disk(folder: Path, records: list[dict[str, Any]]) -> Corpus:
    source = write_jsonl(folder / "papers.jsonl", records)
    await build_corpus([source], folder / "corpus", HashingEmbedder())
    return Corpus.open(folder / "corpus", HashingEmbedder())


def open_manifest(folder: Path) -> tuple[VersionStore, Manifest]:
    versions = VersionStore(folder / "corpus")
    return versions, read_manifest(versions.find_current_path())


def count_loaded_records(reader: VersionReader) -> int:
    """Records that were read from disk."""
    caches: list[Any] = [segment.store.get_paper for segment in reader.segments]
    return sum(cache.cache_info().misses for cache in caches)


async def test_papers_that_cite_each_other_and_themselves_are_found_once(tmp_path: Path) -> None:
    lists = {1: ["bee-02", "bee-01"], 2: ["bee-01", "bee-02", "bee-01"]}
    corpus = await build_on_disk(tmp_path, [record(number, references=some) for number, some in lists.items()])
    cited_ids = [PaperId("bee-01"), PaperId("bee-02")]
    assert {item: {paper.id for paper in some} for item, some in (await corpus.citing(cited_ids, 9, OPEN)).items()} == {
        item: set(cited_ids) for item in cited_ids
    }
    assert [paper.id for paper in (await corpus.references(cited_ids, 9, OPEN))[cited_ids[1]]] == ["bee-01", "bee-02"]


async def test_missing_reference_lists_yield_empty_citations(tmp_path: Path) -> None:
    corpus = await build_on_disk(tmp_path, [record(1), record(2)])
    cited_ids = [PaperId("bee-01"), PaperId("bee-02")]
    assert await corpus.citing(cited_ids, 9, OPEN) == {item: [] for item in cited_ids}
    assert await corpus.references(cited_ids, 9, OPEN) == {}


async def test_only_requested_records_are_read_among_20000_citations(tmp_path: Path) -> None:
    """Five hundred papers that name the hub forty times each."""
    papers = [record(0), *(record(number, references=[HUB] * 40) for number in range(1, 501))]
    corpus = await build_on_disk(tmp_path, papers)
    reader = VersionReader.open(*open_manifest(tmp_path))
    citing_papers = reader.get_papers_at([item.unit for item in reader.find_citing_units([HUB], 7, Filters())[HUB]])
    assert len(citing_papers) == 7
    assert count_loaded_records(reader) == 7
    assert citing_papers == (await corpus.citing([HUB], 500, OPEN))[HUB][:7]
    assert len((await corpus.citing([HUB], 1_000, OPEN))[HUB]) == 500


async def test_only_requested_records_are_read_from_list_of_20000_references(tmp_path: Path) -> None:
    unknown = [f"elsewhere-{number}" for number in range(20_000)]
    papers = [record(0, references=[*unknown, *(f"bee-{number:02}" for number in range(1, 41))])]
    await build_on_disk(tmp_path, papers + [record(number) for number in range(1, 41)])
    with closing(await asyncio.to_thread(LocalReader.open, *open_manifest(tmp_path))) as reader:
        reference_map = await CorpusQueries([reader]).references([HUB], 3, OPEN)
        assert [paper.id for paper in reference_map[HUB]] == ["bee-01", "bee-02", "bee-03"]
        assert count_loaded_records(reader.reader) == 3


async def test_newest_citing_papers_are_merged_across_all_shards(tmp_path: Path) -> None:
    days = {number: f"20{10 + number % 7}-0{1 + number % 9}-{number:02}" for number in range(1, 25)}
    papers = [record(0), *(record(item, references=[HUB], publication_date=day) for item, day in days.items())]
    full_corpus = await build_on_disk(tmp_path, papers)
    source = write_jsonl(tmp_path / "again.jsonl", papers)
    await build_shards([source], 3, tmp_path / "shards", HashingEmbedder())
    shards = Corpus.open(tmp_path / "shards", HashingEmbedder())
    for limit in (5, 100):
        assert await shards.citing([HUB], limit, OPEN) == await full_corpus.citing([HUB], limit, OPEN)
    newest = [paper.publication_date for paper in (await shards.citing([HUB], 5, OPEN))[HUB]]
    assert newest == sorted(newest, key=str, reverse=True)


@pytest.mark.parametrize("kind", ["segments", "shards", "memory"])
@pytest.mark.parametrize("limit", [2, 100])
async def test_citation_ids_match_references_and_citing_papers(tmp_path: Path, kind: str, limit: int) -> None:
    """Papers replaced and removed, undated ones, several segments, and one whose text alone says what it cites."""
    papers = [
        record(
            number,
            references=[f"bee-{other_number:02}" for other_number in (number - 1, number // 2, 77, number - 1, 0)],
        )
        for number in range(1, 40)
    ]
    papers += [record(0), record(40, publication_date=None, year=None, references=[HUB]), record(41, **CITING_TEXT)]
    corpus: Corpus | MemoryCorpus
    if kind == "shards":
        await build_shards([write_jsonl(tmp_path / "all.jsonl", papers)], 3, tmp_path / "corpus", HashingEmbedder())
        corpus = Corpus.open(tmp_path / "corpus", HashingEmbedder())
    else:
        (await build_on_disk(tmp_path, papers)).close()
        coming = write_jsonl(
            tmp_path / "coming.jsonl", [record(5, references=["bee-42"]), record(42, references=[HUB])]
        )
        removed = tmp_path / "removed.txt"
        removed.write_text("bee-07\n")
        options = BuildOptions(papers_per_segment=20)
        await update_corpus(read_delta([coming], removed), tmp_path / "corpus", HashingEmbedder(), options=options)
        corpus = Corpus.open(tmp_path / "corpus", HashingEmbedder())
    asked_ids = [PaperId(f"bee-{number:02}") for number in range(43)]
    if kind == "memory":
        known = await corpus.papers(asked_ids, OPEN)
        lists = {
            item: [paper.id for paper in some] for item, some in (await corpus.references(asked_ids, 99, OPEN)).items()
        }
        corpus = MemoryCorpus(list(known.values()), HashingEmbedder(), lists)
    for window in (OPEN, Window.until(dt.date(2017, 6, 1))):
        citation_map = await corpus.citations(asked_ids, limit, window)
        cited, citing = await corpus.references(asked_ids, limit, window), await corpus.citing(asked_ids, limit, window)
        assert list(citation_map) == list(citing)
        for item, (some, others) in citation_map.items():
            assert some == [paper.id for paper in cited.get(item, ())]
            assert others == [paper.id for paper in citing[item]]
