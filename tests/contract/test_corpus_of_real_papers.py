"""The corpus with the packaged embedding model: on the invented example papers, and on real ones."""

import asyncio
import datetime as dt
import gzip
import json
from collections.abc import Iterator
from itertools import islice
from pathlib import Path

import pytest

from assayer.models import OPEN, Window
from index import Corpus, build_corpus
from tests.corpus_papers import REAL_PAPERS, write_jsonl
from workers.embedding.embedder import SentenceTransformerEmbedder

pytestmark = pytest.mark.slow

EXAMPLES = Path(__file__).parents[2] / "examples"
PAPERS = 120


def build(source: Path, directory: Path, embedding_model: SentenceTransformerEmbedder) -> Corpus:
    asyncio.run(build_corpus([source], directory, embedding_model))
    return Corpus.open(directory, embedding_model)


@pytest.fixture(scope="module")
def examples(
    tmp_path_factory: pytest.TempPathFactory, embedding_model: SentenceTransformerEmbedder
) -> Iterator[Corpus]:
    corpus = build(EXAMPLES / "corpus.jsonl", tmp_path_factory.mktemp("examples"), embedding_model)
    yield corpus
    corpus.close()


@pytest.fixture(scope="module")
def real(tmp_path_factory: pytest.TempPathFactory, embedding_model: SentenceTransformerEmbedder) -> Iterator[Corpus]:
    if not REAL_PAPERS.is_file():
        pytest.skip(f"{REAL_PAPERS} is not there: it holds the real papers")
    directory = tmp_path_factory.mktemp("real")
    with gzip.open(REAL_PAPERS, "rt", encoding="utf-8") as lines:
        some = [json.loads(line) for line in islice(lines, 0, None, 210)][:PAPERS]
    corpus = build(write_jsonl(directory / "papers.jsonl", some), directory / "corpus", embedding_model)
    yield corpus
    corpus.close()


@pytest.mark.parametrize(
    ("idea", "levels"),
    [
        ("quote-then-abstain.md", {"good"}),
        ("pairwise-idea-ranking.json", {"good"}),
        ("coral-acoustics.txt", {"poor"}),
    ],
)
async def test_fit_of_a_small_corpus_distinguishes_its_topic_from_another_field(
    examples: Corpus, idea: str, levels: set[str]
) -> None:
    fit = await examples.fit((EXAMPLES / "ideas" / idea).read_text("utf-8"), OPEN)
    assert fit.level in levels, fit


async def test_example_snippets_include_passages_from_full_texts(examples: Corpus) -> None:
    (passages,) = await examples.snippets(["citation graphs and random walks in literature search"], 40, OPEN)
    assert {passage.section for passage in passages} > {"abstract"}
    for passage in passages:
        assert 0 < len(passage.text.split()) <= 300


async def test_search_for_a_title_finds_its_paper(real: Corpus) -> None:
    papers = await real.papers([hit.paper.id for hit in (await real.search(["learning"], 40, OPEN))[0]], OPEN)
    answers = await real.search([paper.title for paper in papers.values()], 1, OPEN)
    right = sum(hits[0].paper.id == paper_id for hits, paper_id in zip(answers, papers, strict=True))
    assert right >= 39


async def test_cutoff_removes_exactly_the_later_papers_from_search(real: Corpus) -> None:
    cutoff = dt.date(2020, 12, 31)
    (hits,) = await real.search(["graph neural networks"], PAPERS, Window.until(cutoff))
    (all_hits,) = await real.search(["graph neural networks"], PAPERS, OPEN)
    known = {hit.paper.id for hit in all_hits if hit.paper.publication_date and hit.paper.publication_date <= cutoff}
    assert {hit.paper.id for hit in hits} == known
    assert 0 < len(hits) < len(all_hits) == PAPERS


async def test_search_does_not_block_event_loop_and_serves_concurrent_queries(real: Corpus) -> None:
    single_hits = [(await real.search([f"topic {n} of learning"], 5, OPEN))[0] for n in range(20)]
    work = asyncio.gather(*(real.search([f"topic {n} of learning"], 5, OPEN) for n in range(20)))
    for _ in range(3):  # a search on the loop's own thread would be over after two turns of the loop
        await asyncio.sleep(0)
    assert not work.done()
    assert [hits for (hits,) in await work] == single_hits


async def test_neighbours_are_nearer_than_most_papers(real: Corpus) -> None:
    (hits,) = await real.search(["reinforcement learning"], 1, OPEN)
    paper = hits[0].paper
    answer = await real.neighbours([paper.id], 10, OPEN)
    nearest = {hit.paper.id: hit.similarity for hit in answer[paper.id]}
    (all_hits,) = await real.search(["learning"], PAPERS, OPEN)
    cosines = await real.similarity(f"{paper.title}\n{paper.abstract}", [hit.paper.id for hit in all_hits])
    assert {key: pytest.approx(value, abs=0.02) for key, value in nearest.items()} == {
        key: cosines[key] for key in nearest
    }
    other_cosines = [cosine for key, cosine in cosines.items() if key not in nearest and key != paper.id]
    assert len(other_cosines) == PAPERS - 11
    assert max(other_cosines) < min(nearest.values()) + 0.02
    assert sorted(other_cosines)[len(other_cosines) // 2] < min(nearest.values()) - 0.1
