"""What an idea should cite, asked for over HTTP and answered at once."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path
from typing import Any

import httpx2
import pytest

from assayer.errors import CorpusError
from assayer.models import Hit, Window
from assayer_client import AsyncClient, IdeaBody, ReferencesBody
from index import CorpusVersionCache, build_corpus
from index.memory_corpus import MemoryCorpus, MemoryCorpusVersions
from orchestrator.api.routes.references import SuggestedReferences
from tests.contract.api.service import Service
from tests.contract.api.test_problems import problem
from tests.corpus_papers import record, write_jsonl
from tests.unit.scicompanion_world import PAPERS
from workers.embedding.hashing_embedder import HashingEmbedder

TEXT = (
    "# Bumblebees after late mowing\n\nWe count bumblebees in meadows that are mown late, on transects over three "
    "summers, and compare visits to flowers with meadows that are mown early."
)
IDEA = {"text": TEXT}
CITING = [record(number, references=["bee-05", "bee-06"] if number in (2, 11) else []) for number in range(12)]


class DamagedCorpus(MemoryCorpus):
    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Hit]]:
        raise CorpusError("/srv/corpus/shard-3 is damaged.")


@pytest.fixture
async def corpora(tmp_path: Path) -> AsyncIterator[CorpusVersionCache]:
    source = write_jsonl(tmp_path / "papers.jsonl", CITING)
    await build_corpus([source], tmp_path / "corpus", HashingEmbedder())
    corpora = CorpusVersionCache(tmp_path / "corpus", HashingEmbedder())
    yield corpora
    await corpora.aclose()


@pytest.fixture
async def client(service: Service, corpora: CorpusVersionCache) -> AsyncIterator[httpx2.AsyncClient]:
    async with service.with_services(corpora=corpora).caller("read") as opened:
        yield opened


async def suggested(client: httpx2.AsyncClient, **options: Any) -> SuggestedReferences:
    answer = await client.post("/v1/references", json={"idea": IDEA, **options})
    assert answer.status_code == 200, answer.text
    return SuggestedReferences.model_validate_json(answer.content)


async def test_papers_come_best_first_with_how_each_was_found(
    client: httpx2.AsyncClient, corpora: CorpusVersionCache
) -> None:
    found = await suggested(client, limit=5)
    assert found.corpus == (await corpora.current()).version
    assert [one.rank for one in found.references] == [1, 2, 3, 4, 5]
    assert "bumblebees" in found.references[0].title
    assert all(one.found for one in found.references)


async def test_citations_that_led_to_a_paper_are_told(client: httpx2.AsyncClient) -> None:
    found = await suggested(client, limit=100)
    (cited,) = (one for one in found.references if one.id == "bee-05")
    assert ("reference", "bee-02") in {(way.kind, way.from_id) for way in cited.found}
    assert all(way.from_title for one in found.references for way in one.found if way.from_id)
    assert found.note is None


async def test_papers_that_the_idea_names_or_the_caller_knows_are_left_out(client: httpx2.AsyncClient) -> None:
    assert {"bee-02", "bee-05"} <= {one.id for one in (await suggested(client, limit=100)).references}
    named = {"text": f"{TEXT}\n\nAs in “{record(2)['title']}”."}
    body = {"idea": named, "limit": 100, "without": ["bee-05"]}
    answer = SuggestedReferences.model_validate_json((await client.post("/v1/references", json=body)).content)
    left = {one.id for one in answer.references}
    assert left
    assert not left & {"bee-02", "bee-05"}


async def test_later_papers_are_left_out_before_a_cutoff(client: httpx2.AsyncClient) -> None:
    found = await suggested(client, limit=100, cutoff="2015-06-15")
    assert found.references
    assert all(str(one.publication_date) <= "2015-06-15" for one in found.references)


async def test_without_hops_only_words_lead_to_papers(client: httpx2.AsyncClient) -> None:
    found = await suggested(client, limit=100, hops=0)
    assert {way.kind for one in found.references for way in one.found} == {"dense"}


async def test_an_idea_without_neighbours_gets_none_and_a_note(client: httpx2.AsyncClient) -> None:
    found = await suggested(client, cutoff="1990-01-01")
    assert (found.references, found.corpus_fit) == ((), "poor")
    assert found.note is not None
    assert "no paper near this idea" in found.note


async def test_a_corpus_without_citations_suggests_by_words_and_says_so(service: Service) -> None:
    corpora = MemoryCorpusVersions(MemoryCorpus(PAPERS, HashingEmbedder()))
    async with service.with_services(corpora=corpora).caller("read") as client:
        found = await suggested(client)
    assert len(found.references) == 10
    assert found.note is not None
    assert "No citation leads" in found.note


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
async def test_what_cannot_be_used_is_named(client: httpx2.AsyncClient, body: dict[str, Any], pointer: str) -> None:
    refused = problem(await client.post("/v1/references", json=body), 422, "invalid-request")
    assert refused.errors is not None
    assert refused.errors[0].pointer == pointer


async def test_a_body_beyond_the_limit_is_refused(client: httpx2.AsyncClient) -> None:
    problem(await client.post("/v1/references", json={"idea": {"text": "bees " * 500_000}}), 413, "content-too-large")


async def test_service_without_a_corpus_says_so_and_when_to_come_back(service: Service) -> None:
    async with service.caller() as client:
        answer = await client.post("/v1/references", json={"idea": IDEA})
    assert "no corpus" in problem(answer, 503, "not-ready").detail
    assert int(answer.headers["retry-after"]) > 0


async def test_corpus_that_fails_is_a_problem_without_its_paths(service: Service) -> None:
    corpora = MemoryCorpusVersions(DamagedCorpus([], HashingEmbedder()))
    async with service.with_services(corpora=corpora).caller() as client:
        answer = await client.post("/v1/references", json={"idea": IDEA})
    assert problem(answer, 503, "unavailable").detail == "The search failed: the local corpus failed."
    assert "/srv" not in answer.text


async def test_the_client_asks_for_them(service: Service, corpora: CorpusVersionCache) -> None:
    transport = httpx2.ASGITransport(service.with_services(corpora=corpora).app)
    async with AsyncClient("http://service", await service.key("read"), transport=transport) as client:
        found = await client.references(ReferencesBody(idea=IdeaBody(text=TEXT), limit=3))
    assert len(found.references) == 3
