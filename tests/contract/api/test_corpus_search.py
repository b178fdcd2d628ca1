"""Papers by one query or by many."""

from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from assayer.errors import CorpusError
from index import Corpus, build_corpus
from index.memory import MemoryCorpus
from orchestrator.api.corpus_resources import CorpusSearch
from tests.contract.api.service import Service
from tests.contract.api.test_problems import problem
from tests.corpus_papers import RECORDS, write_jsonl
from workers.embedding_hashing import HashingEmbedder

QUERY = "bumblebees in meadows after late mowing"


class DamagedCorpus(MemoryCorpus):
    @property
    def version(self) -> str:
        raise CorpusError("/srv/corpus/shard-3 is damaged.")


@pytest.fixture
async def corpus(tmp_path: Path) -> AsyncIterator[Corpus]:
    source = write_jsonl(tmp_path / "papers.jsonl", RECORDS)
    await build_corpus([source], tmp_path / "corpus", HashingEmbedder())
    opened = Corpus.open(tmp_path / "corpus", HashingEmbedder())
    yield opened
    opened.close()


@pytest.fixture
async def client(service: Service, corpus: Corpus) -> AsyncIterator[httpx2.AsyncClient]:
    async with service.with_services(corpus=corpus).caller("read") as opened:
        yield opened


async def test_query_is_answered_best_first_with_the_corpus_named(client: httpx2.AsyncClient, corpus: Corpus) -> None:
    answer = await client.get("/v1/corpus/search", params={"q": QUERY, "limit": 3})
    found = CorpusSearch.model_validate_json(answer.content)
    assert found.corpus == corpus.version
    (one,) = found.answers
    assert (one.query, len(one.hits), one.passages) == (QUERY, 3, None)
    assert "bumblebees" in one.hits[0].title
    assert one.hits[0].year is not None
    assert [hit.score for hit in one.hits] == sorted((hit.score for hit in one.hits), reverse=True)


async def test_later_and_undated_papers_are_left_out_before_a_day(client: httpx2.AsyncClient) -> None:
    query = {"q": QUERY, "limit": "100", "before": "2015-06-15"}
    found = CorpusSearch.model_validate_json((await client.get("/v1/corpus/search", params=query)).content)
    dates = [hit.publication_date for hit in found.answers[0].hits]
    assert dates
    assert all(date is not None and str(date) <= "2015-06-15" for date in dates)


async def test_many_queries_are_answered_in_their_order_with_passages(client: httpx2.AsyncClient) -> None:
    body = {"queries": [QUERY, "transects for counting pollinators"], "limit": 2, "snippets": True}
    found = CorpusSearch.model_validate_json((await client.post("/v1/corpus/search", json=body)).content)
    assert [answer.query for answer in found.answers] == body["queries"]
    for answer in found.answers:
        assert answer.passages
        assert all(passage.text for passage in answer.passages)


@pytest.mark.parametrize(
    ("query", "parameter"),
    [("", "q"), ("q=%20", "q"), ("q=x&limit=0", "limit"), ("q=x&before=soon", "before"), ("q=x&snipets=1", "snipets")],
)
async def test_wrong_parameter_is_named(client: httpx2.AsyncClient, query: str, parameter: str) -> None:
    refused = problem(await client.get(f"/v1/corpus/search?{query}"), 422, "invalid-request")
    assert refused.errors is not None
    assert refused.errors[0].parameter == parameter


async def test_service_without_a_corpus_says_so_and_when_to_come_back(service: Service) -> None:
    async with service.caller() as client:
        answer = await client.get("/v1/corpus/search", params={"q": QUERY})
    assert "no corpus" in problem(answer, 503, "not-ready").detail
    assert int(answer.headers["retry-after"]) > 0


async def test_corpus_that_fails_is_a_problem_without_its_paths(service: Service) -> None:
    damaged = DamagedCorpus([], HashingEmbedder())
    async with service.with_services(corpus=damaged).caller() as client:
        answer = await client.get("/v1/corpus/search", params={"q": QUERY})
    assert problem(answer, 503, "unavailable").detail == "The search failed: the local corpus failed."
    assert "/srv" not in answer.text
