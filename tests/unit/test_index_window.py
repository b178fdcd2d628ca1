"""Searches in a window of days give what a comparison with every single paper gives: in one piece, with rows that later
segments hide, and in shards."""

import asyncio
import datetime as dt
from collections.abc import Iterator, Sequence
from contextlib import closing
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from assayer.models import OPEN, Filters, Paper, PaperId, Window
from index import BuildOptions, Corpus, Delta, build_corpus, build_shards, update_corpus, update_shards
from index.records.paper_record import PaperRecord
from index.segments.passages import build_paper_text
from tests.corpus_papers import write_jsonl
from workers.embedding.hashing_embedder import HashingEmbedder

EMBEDDER = HashingEmbedder()
WORDS = ("bees", "moths", "clover", "meadow", "nectar", "hedge", "orchard", "lichen")
FIRST, LAST = dt.date(2014, 3, 1), dt.date(2016, 5, 31)
HIGH_LIMIT = 1000
"""More than there is to be found."""


def make_paper(number: int, **changed: Any) -> dict[str, Any]:
    """Return a paper: one per month from 2012 on, every seventh without a date."""
    words = [WORDS[(number * step + shift) % len(WORDS)] for step, shift in ((1, 0), (3, 1), (5, 2), (7, 5))]
    fields = {
        "id": f"p{number}",
        "title": f"On {words[0]} and {words[1]}, part {number}",
        "abstract": f"We count {' '.join(words)} in field {number}.",
        "publication_date": None if number % 7 == 3 else f"{2012 + number // 12}-{number % 12 + 1:02d}-15",
        "venue": "Hedge Letters" if number % 3 else "",
        "retracted": number % 11 == 0,
        "references": [f"p{number - 1}", f"p{number // 2}"] if number else [],
        "sections": [{"title": "Method", "text": f"Transect {number} crosses a {words[3]}."}],
    }
    return fields | changed


PAPERS = [make_paper(number) for number in range(60)]
CHANGED_PAPERS = [
    make_paper(5, publication_date="2015-01-15"),
    make_paper(30, publication_date="2013-01-15"),
    make_paper(31, title="On owls"),
]
NEW_PAPERS = [make_paper(number) for number in range(60, 66)]
REMOVED_IDS = ("p24", "p38", "p40")
CURRENT_PAPERS = {item["id"]: item for item in (*PAPERS, *CHANGED_PAPERS, *NEW_PAPERS) if item["id"] not in REMOVED_IDS}


async def build_and_update(folder: Path, shards: int | None) -> Path:
    """Build a corpus with several segments, and update it so that rows of every segment are hidden."""
    source, options, directory = (
        write_jsonl(folder / "p.jsonl", PAPERS),
        BuildOptions(papers_per_segment=20),
        folder / "c",
    )
    delta = Delta(
        [PaperRecord.model_validate(item) for item in (*CHANGED_PAPERS, *NEW_PAPERS)],
        [PaperId(item) for item in REMOVED_IDS],
    )
    if shards:
        await build_shards([source], shards, directory, EMBEDDER, options=options)
        await update_shards(delta, directory, EMBEDDER, options=options)
    else:
        await build_corpus([source], directory, EMBEDDER, options=options)
        await update_corpus(delta, directory, EMBEDDER, options=options)
    return directory


@pytest.fixture(params=[None, 3], ids=["one piece", "shards"], scope="module")
def corpus(request: pytest.FixtureRequest, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Corpus]:
    directory = asyncio.run(build_and_update(tmp_path_factory.mktemp("corpus"), request.param))
    with closing(Corpus.open(directory, EMBEDDER)) as opened:
        yield opened


WINDOWS = [
    OPEN,
    Window(after=FIRST),
    Window(before=LAST),
    Window(after=FIRST, before=LAST),
    Window(after=dt.date(2014, 2, 15), before=dt.date(2014, 2, 15)),
    Window(after=LAST, before=FIRST),
    Window(after=dt.date(2030, 1, 1)),
]


def is_within(item: dict[str, Any], window: Window) -> bool:
    day = item["publication_date"]
    return window.before is None if day is None else window.contains(dt.date.fromisoformat(day))


def list_ids_in(window: Window, **values: Any) -> set[str]:
    every = (item for item in CURRENT_PAPERS.values() if is_within(item, window))
    return {item["id"] for item in every if all(item[name] == value for name, value in values.items())}


async def embed_papers(ids: Sequence[str]) -> dict[str, np.ndarray[Any, np.dtype[np.float64]]]:
    """Return the vectors as the corpus stores them, in half precision."""
    texts = [build_paper_text(CURRENT_PAPERS[item]["title"], CURRENT_PAPERS[item]["abstract"]) for item in ids]
    vectors = (await EMBEDDER.embed(texts, "passage")).astype(np.float16).astype(np.float64)
    return dict(zip(ids, vectors, strict=True))


@pytest.mark.parametrize("window", WINDOWS, ids=str)
async def test_search_and_snippets_return_exactly_the_papers_in_the_window(corpus: Corpus, window: Window) -> None:
    for hits in await corpus.search(["bees in a meadow", "part 12"], HIGH_LIMIT, window):
        assert {hit.paper.id for hit in hits} == list_ids_in(window)
    (passages,) = await corpus.snippets(["transect through clover"], HIGH_LIMIT, window)
    assert {(passage.paper.id, passage.section) for passage in passages} == {
        (item, section) for item in list_ids_in(window) for section in ("abstract", "Method")
    }


@pytest.mark.parametrize("window", WINDOWS, ids=str)
async def test_nearest_papers_in_window_match_brute_force_comparison(corpus: Corpus, window: Window) -> None:
    vectors, limit = await embed_papers(list(CURRENT_PAPERS)), 8
    queried_ids = [PaperId(text) for text in ("p0", "p5", "p33", "p62")]
    neighbours = await corpus.neighbours(queried_ids, limit, window)
    for item in queried_ids:
        cosines = {neighbour: vectors[neighbour] @ vectors[item] for neighbour in list_ids_in(window) - {item}}
        best = sorted(cosines.values(), reverse=True)[:limit]
        assert [hit.similarity for hit in neighbours[item]] == pytest.approx(best, abs=2e-3)
        assert all(hit.similarity == pytest.approx(cosines[hit.paper.id], abs=2e-3) for hit in neighbours[item])


@pytest.mark.parametrize("window", WINDOWS, ids=str)
async def test_filters_apply_within_the_window(corpus: Corpus, window: Window) -> None:
    filters = Filters(
        window=window, venues=frozenset({"hedge letters"}), retracted=False, without=frozenset({PaperId("p32")})
    )
    expected_ids = list_ids_in(window, venue="Hedge Letters", retracted=False) - {"p32"}
    (hits,) = await corpus.find(["nectar of an orchard"], HIGH_LIMIT, filters)
    assert {hit.paper.id for hit in hits} == expected_ids
    (passages,) = await corpus.find_passages(["nectar of an orchard"], HIGH_LIMIT, filters)
    assert {passage.paper.id for passage in passages} == expected_ids


@pytest.mark.parametrize("window", WINDOWS, ids=str)
async def test_window_applies_to_records_references_citations_and_latest_date(corpus: Corpus, window: Window) -> None:
    def list_ids(papers: Sequence[Paper]) -> set[str]:
        return {item.id for item in papers}

    counting, every = list_ids_in(window), [PaperId(item) for item in CURRENT_PAPERS]
    assert (await corpus.papers(every, window)).keys() == counting
    references = await corpus.references(every, HIGH_LIMIT, window)
    assert {item: list_ids(papers) for item, papers in references.items()} == {
        item: set(CURRENT_PAPERS[item]["references"]) & counting for item in every
    }
    citations = await corpus.citing(every, HIGH_LIMIT, window)
    assert {item: list_ids(papers) for item, papers in citations.items()} == {
        item: {citing for citing in counting if item in CURRENT_PAPERS[citing]["references"]} for item in every
    }
    days = [day for item in counting if (day := CURRENT_PAPERS[item]["publication_date"])]
    assert corpus.get_newest_date(window) == (dt.date.fromisoformat(max(days)) if days else None)


async def test_fit_counts_the_papers_of_the_window_and_says_which(corpus: Corpus) -> None:
    window = Window(after=FIRST, before=LAST)
    fit = await corpus.fit("We count bees and clover in a meadow.", window)
    assert f"of {len(list_ids_in(window))} papers published from 2014-03-01 to 2016-05-31" in fit.criterion
