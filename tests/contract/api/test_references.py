"""Papers an idea should cite, requested over HTTP and answered immediately."""

from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import httpx2
import pytest

from assayer_client.references import SuggestedReferences
from index import CorpusVersionCache, build_corpus
from tests.contract.api.problems import check_problem, get_first_error
from tests.contract.api.service import Service
from tests.corpus_papers import record, write_jsonl
from tests.in_memory import MemoryCorpusVersions
from tests.memory_corpus import MemoryCorpus
from tests.unit.scicompanion_world import PAPERS
from workers.embedding.hashing_embedder import HashingEmbedder

TEXT = (
    "# Bumblebees after late mowing\n\nWe count bumblebees in meadows that are mown late, on transects over three "
    "summers, and compare visits to flowers with meadows that are mown early."
)
IDEA = {"text": TEXT}
CITING = [record(number, references=["bee-05", "bee-06"] if number in (2, 11) else []) for number in range(12)]


@pytest.fixture
async def corpora(tmp_path: Path) -> AsyncIterator[CorpusVersionCache]:
    source = write_jsonl(tmp_path / "papers.jsonl", CITING)
    await build_corpus([source], tmp_path / "corpus", HashingEmbedder())
    corpora = CorpusVersionCache(tmp_path / "corpus", HashingEmbedder())
    yield corpora
    await corpora.aclose()


@pytest.fixture
async def client(service: Service, corpora: CorpusVersionCache) -> AsyncIterator[httpx2.AsyncClient]:
    async with service.with_services(corpora=corpora).open_caller("read") as caller:
        yield caller


async def suggest_references(client: httpx2.AsyncClient, **options: Any) -> SuggestedReferences:
    answer = await client.post("/v1/references", json={"idea": IDEA, **options})
    assert answer.status_code == 200, answer.text
    return SuggestedReferences.model_validate_json(answer.content)


async def test_suggested_papers_are_ranked_and_explain_how_each_was_found(
    client: httpx2.AsyncClient, corpora: CorpusVersionCache
) -> None:
    suggestions = await suggest_references(client, limit=5)
    assert suggestions.corpus == (await corpora.current()).version
    assert [reference.rank for reference in suggestions.references] == [1, 2, 3, 4, 5]
    assert "bumblebees" in suggestions.references[0].title
    assert all(reference.search_paths for reference in suggestions.references)


async def test_citation_path_to_a_paper_is_reported(client: httpx2.AsyncClient) -> None:
    suggestions = await suggest_references(client, limit=100)
    (cited,) = (reference for reference in suggestions.references if reference.id == "bee-05")
    assert ("reference", "bee-02") in {(way.kind, way.from_id) for way in cited.search_paths}
    assert all(way.from_title for reference in suggestions.references for way in reference.search_paths if way.from_id)
    assert suggestions.note is None


async def test_papers_named_in_the_idea_or_excluded_by_the_caller_are_omitted(client: httpx2.AsyncClient) -> None:
    assert {"bee-02", "bee-05"} <= {
        reference.id for reference in (await suggest_references(client, limit=100)).references
    }
    named_idea = {"text": f"{TEXT}\n\nAs in “{record(2)['title']}”."}
    body = {"idea": named_idea, "limit": 100, "exclude": ["bee-05"]}
    answer = SuggestedReferences.model_validate_json((await client.post("/v1/references", json=body)).content)
    remaining_ids = {reference.id for reference in answer.references}
    assert remaining_ids
    assert not remaining_ids & {"bee-02", "bee-05"}


async def test_papers_after_the_cutoff_are_excluded(client: httpx2.AsyncClient) -> None:
    suggestions = await suggest_references(client, limit=100, cutoff="2015-06-15")
    assert suggestions.references
    assert all(str(reference.publication_date) <= "2015-06-15" for reference in suggestions.references)


async def test_papers_are_found_only_by_text_without_citation_hops(client: httpx2.AsyncClient) -> None:
    suggestions = await suggest_references(client, limit=100, hops=0)
    assert {way.kind for reference in suggestions.references for way in reference.search_paths} == {"dense"}


async def test_idea_without_similar_papers_returns_a_note(client: httpx2.AsyncClient) -> None:
    suggestions = await suggest_references(client, cutoff="1990-01-01")
    assert (suggestions.references, suggestions.corpus_fit) == ((), "poor")
    assert suggestions.note is not None
    assert "no further paper close to this idea" in suggestions.note


async def test_corpus_without_citations_suggests_papers_by_text_with_a_note(service: Service) -> None:
    corpora = MemoryCorpusVersions(MemoryCorpus(PAPERS, HashingEmbedder()))
    async with service.with_services(corpora=corpora).open_caller("read") as client:
        suggestions = await suggest_references(client)
    assert len(suggestions.references) == 10
    assert suggestions.note is not None
    assert "All of these papers were found by similarity to the idea's text" in suggestions.note


@pytest.mark.parametrize(
    ("body", "pointer"),
    [
        ({}, "/idea"),
        ({"idea": {"text": ""}}, "/idea/text"),
        ({"idea": {"text": "bees"}}, "/idea/text"),
        ({"idea": {"text": f"{TEXT} {'word ' * 200_000}"}}, "/idea/text"),
        ({"idea": {"text": f"{TEXT} {'word ' * 30_000}"}}, "/idea"),
        ({"idea": IDEA, "limit": 0}, "/limit"),
        ({"idea": IDEA, "hops": 5}, "/hops"),
        ({"idea": IDEA, "cutoff": "2150-01-01"}, "/cutoff"),
        ({"idea": IDEA, "hopps": 1}, "/hopps"),
    ],
)
async def test_invalid_field_is_named(client: httpx2.AsyncClient, body: dict[str, Any], pointer: str) -> None:
    error = get_first_error(await client.post("/v1/references", json=body))
    assert error.pointer == pointer


async def test_a_body_beyond_the_limit_is_refused(client: httpx2.AsyncClient) -> None:
    check_problem(
        await client.post("/v1/references", json={"idea": {"text": "bees " * 500_000}}), 413, "content-too-large"
    )
