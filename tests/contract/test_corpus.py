"""Contract tests of Literature, for the corpus on disk and its in-memory twin."""

import datetime as dt
from asyncio import gather
from collections.abc import AsyncIterator
from pathlib import Path

import pytest

from assayer.models import OPEN, Absent, Paper, PaperId, Window
from assayer.ports import Literature
from index import Corpus, CorpusFullTexts, build_corpus
from index.records.paper_record import PaperRecord
from tests.corpus_papers import OFF_FIELD, ON_TOPIC, RECORDS, write_jsonl
from tests.memory_corpus import MemoryCorpus
from workers.embedding.hashing_embedder import HashingEmbedder

CUTOFF = dt.date(2015, 6, 15)
BEFORE_CUTOFF = Window.until(CUTOFF)
"""The day on which `bee-05` was published."""
BEE, HANDBOOK, UNDATED, UNKNOWN = (PaperId(text) for text in ("bee-05", "bee-12", "bee-13", "nobody-knows"))
QUERIES = ("bumblebees in meadows after late mowing", "transects for counting pollinators")


def build_paper(record: PaperRecord) -> Paper:
    fields = record.model_dump(exclude={"year", "sections", "references", "cited_in_text", "fields", "retracted"})
    return Paper(source="corpus", **fields)


async def build_on_disk(directory: Path) -> Corpus:
    source = write_jsonl(directory / "papers.jsonl", RECORDS)
    await build_corpus([source], directory / "corpus", HashingEmbedder())
    return Corpus.open(directory / "corpus", HashingEmbedder())


def build_in_memory() -> MemoryCorpus:
    records = [PaperRecord.model_validate(record) for record in RECORDS]
    references = {
        PaperId(record.id): [PaperId(reference) for reference in record.references]
        for record in records
        if record.references is not None
    }
    return MemoryCorpus([build_paper(record) for record in records], HashingEmbedder(), references)


@pytest.fixture(params=["disk", "memory"])
async def literature(request: pytest.FixtureRequest, tmp_path: Path) -> AsyncIterator[Literature]:
    if request.param == "memory":
        yield build_in_memory()
        return
    corpus = await build_on_disk(tmp_path)
    yield corpus
    corpus.close()


@pytest.fixture
async def corpus(tmp_path: Path) -> AsyncIterator[Corpus]:
    corpus = await build_on_disk(tmp_path)
    yield corpus
    corpus.close()


async def test_search_answers_every_query_in_order_with_whole_records(literature: Literature) -> None:
    meadows, transects = await literature.search(QUERIES, 3, OPEN)
    assert (len(meadows), len(transects)) == (3, 3)
    assert meadows[0].paper.title == "How bumblebees use late mowing in meadows"
    assert transects[0].paper.id == HANDBOOK
    assert meadows[0].paper == build_paper(PaperRecord.model_validate(RECORDS[2]))
    assert all(-1 <= hit.similarity <= 1 for hit in meadows + transects)


async def test_search_without_queries_is_empty_and_large_limit_returns_all_papers(literature: Literature) -> None:
    assert await literature.search([], 3, OPEN) == []
    assert len((await literature.search(["bees"], 1000, OPEN))[0]) == len(RECORDS)


async def test_search_before_cutoff_excludes_later_and_undated_papers(literature: Literature) -> None:
    for hits in await literature.search(QUERIES, 100, BEFORE_CUTOFF):
        dates = [hit.paper.publication_date for hit in hits]
        assert None not in dates
        assert max(date for date in dates if date) == CUTOFF
    assert await literature.search(QUERIES, 100, Window.until(dt.date(1999, 1, 1))) == [[], []]


async def test_snippets_come_from_papers_before_the_cutoff(literature: Literature) -> None:
    for passages in await literature.snippets(QUERIES, 5, BEFORE_CUTOFF):
        assert len(passages) == 5
        assert all(passage.paper.publication_date <= CUTOFF for passage in passages)  # type: ignore[operator]
        assert all(passage.text in passage.paper.abstract for passage in passages)
        assert all(passage.section == "abstract" for passage in passages)


async def test_neighbours_exclude_the_paper_itself_and_unknown_papers(literature: Literature) -> None:
    answer = await literature.neighbours([BEE, UNKNOWN, UNDATED], 4, BEFORE_CUTOFF)
    assert set(answer) == {BEE, UNDATED}
    assert len(answer[BEE]) == 4
    assert BEE not in [hit.paper.id for hit in answer[BEE]]
    similarities = [hit.similarity for hit in answer[BEE]]
    assert similarities == sorted(similarities, reverse=True)
    assert all(hit.paper.publication_date <= CUTOFF for hit in answer[UNDATED])  # type: ignore[operator]


async def test_references_contain_known_papers_before_cutoff(literature: Literature) -> None:
    async def list_cited(limit: int, window: Window) -> dict[PaperId, list[str]]:
        answer = await literature.references([HANDBOOK, BEE, UNDATED], limit, window)
        return {paper: [item.id for item in papers] for paper, papers in answer.items()}

    assert await list_cited(10, OPEN) == {HANDBOOK: ["bee-00", "bee-05", "bee-03"], UNDATED: []}
    assert await list_cited(2, OPEN) == {HANDBOOK: ["bee-00", "bee-05"], UNDATED: []}
    assert await list_cited(10, Window.until(dt.date(2014, 1, 1))) == {HANDBOOK: ["bee-00", "bee-03"], UNDATED: []}


async def test_citing_papers_are_within_the_window_and_newest_first(literature: Literature) -> None:
    asked_ids = [PaperId("bee-00"), HANDBOOK, UNKNOWN]
    answer = await literature.citing(asked_ids, 10, OPEN)
    assert {paper: [item.id for item in papers] for paper, papers in answer.items()} == {
        "bee-00": ["bee-12"],
        HANDBOOK: [],
    }
    assert (await literature.citing(asked_ids, 0, OPEN))[PaperId("bee-00")] == []
    assert (await literature.citing(asked_ids, 10, Window.until(dt.date(2000, 1, 1))))[PaperId("bee-00")] == []


async def test_papers_returns_known_papers_before_cutoff(literature: Literature) -> None:
    assert set(await literature.papers([BEE, UNDATED, UNKNOWN, HANDBOOK], OPEN)) == {BEE, UNDATED, HANDBOOK}
    assert set(await literature.papers([BEE, UNDATED, UNKNOWN, HANDBOOK], BEFORE_CUTOFF)) == {BEE}


async def test_similarity_covers_known_papers_and_peaks_for_own_text(literature: Literature) -> None:
    known = await literature.papers([BEE], OPEN)
    cosines = await literature.similarity(f"{known[BEE].title} {known[BEE].abstract}", [HANDBOOK, BEE, UNKNOWN])
    assert set(cosines) == {HANDBOOK, BEE}
    assert cosines[BEE] > max(0.9, cosines[HANDBOOK])


async def test_repeated_and_batched_searches_return_same_results(literature: Literature) -> None:
    assert await literature.search(QUERIES, 10, BEFORE_CUTOFF) == await literature.search(QUERIES, 10, BEFORE_CUTOFF)
    single_hits = [(await literature.search([query], 10, BEFORE_CUTOFF))[0] for query in QUERIES]
    assert single_hits == await literature.search(QUERIES, 10, BEFORE_CUTOFF)


async def test_concurrent_searches_return_same_results_as_sequential(literature: Literature) -> None:
    queries = [record["title"] for record in RECORDS if record.get("title")]
    windows = (OPEN, BEFORE_CUTOFF)
    single_hits = [await literature.search([query], 5, window) for query in queries for window in windows]
    together = await gather(*(literature.search([query], 5, window) for query in queries for window in windows))
    assert together == single_hits


async def test_snippets_of_full_texts_name_their_section(corpus: Corpus) -> None:
    (passages,) = await corpus.snippets(["overdispersed counts negative binomial regression"], 3, OPEN)
    assert (passages[0].paper.id, passages[0].section) == (HANDBOOK, "Statistics")
    assert passages[0].text == "Counts are overdispersed, so we fit a negative binomial regression."
    (before,) = await corpus.snippets(["overdispersed counts negative binomial regression"], 100, BEFORE_CUTOFF)
    assert HANDBOOK not in [passage.paper.id for passage in before]


async def test_snippets_end_with_whole_sentences(corpus: Corpus) -> None:
    (passages,) = await corpus.snippets(["thermometers are read before every walk"], 2, OPEN)
    assert passages[0].section == "Counting protocol"
    assert passages[0].text.endswith("afterwards.")


async def test_full_text_or_reason_for_absence_is_returned(corpus: Corpus) -> None:
    known = await corpus.papers([HANDBOOK, BEE], OPEN)
    unknown = known[BEE].model_copy(update={"id": UNKNOWN})
    answer = await CorpusFullTexts(corpus).get([known[HANDBOOK], known[BEE], unknown], OPEN)
    handbook = answer[HANDBOOK]
    assert not isinstance(handbook, Absent)
    assert [section.title for section in handbook.sections] == ["Counting protocol", "Statistics"]
    assert answer[BEE] == Absent(reason="the corpus contains only the abstract")
    assert answer[UNKNOWN] == Absent(reason="the paper is not in the corpus")


async def test_fit_is_higher_on_the_topic_of_the_corpus_than_in_another_field(corpus: Corpus) -> None:
    on_topic, off_field = await corpus.fit(ON_TOPIC, OPEN), await corpus.fit(OFF_FIELD, OPEN)
    assert off_field.level == "poor"
    assert on_topic.value > 2 * off_field.value
    assert "14 papers" in on_topic.criterion


async def test_fit_with_few_papers_before_the_cutoff_is_reported_as_poor(corpus: Corpus) -> None:
    for cutoff in (dt.date(2012, 1, 1), dt.date(1999, 1, 1)):
        fit = await corpus.fit(ON_TOPIC, Window.until(cutoff))
        assert fit.level == "poor"
        assert "fewer than 10" in fit.criterion
    assert (await corpus.fit(ON_TOPIC, Window.until(dt.date(1999, 1, 1)))).value == 0.0
