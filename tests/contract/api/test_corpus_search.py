"""Papers by one query or by many."""

from collections.abc import AsyncIterator, Sequence
from pathlib import Path

import httpx2
import pytest

from assayer.errors import CorpusError
from assayer.models import Filters, Hit
from assayer_client.corpus import CorpusSearch
from index import CorpusVersionCache, Delta, build_corpus, update_corpus
from index.records.paper_record import PaperRecord
from tests.contract.api.problems import check_problem, get_first_error
from tests.contract.api.service import Service
from tests.corpus_papers import RECORDS, record, write_jsonl
from tests.in_memory import MemoryCorpusVersions
from tests.memory_corpus import MemoryCorpus
from workers.embedding.hashing_embedder import HashingEmbedder

QUERY = "bumblebees in meadows after late mowing"


class DamagedCorpus(MemoryCorpus):
    async def find(self, queries: Sequence[str], limit: int, filters: Filters) -> list[list[Hit]]:
        raise CorpusError("/srv/corpus/shard-3 is damaged.")


@pytest.fixture
async def corpora(tmp_path: Path) -> AsyncIterator[CorpusVersionCache]:
    source = write_jsonl(tmp_path / "papers.jsonl", RECORDS)
    await build_corpus([source], tmp_path / "corpus", HashingEmbedder())
    corpora = CorpusVersionCache(tmp_path / "corpus", HashingEmbedder())
    yield corpora
    await corpora.aclose()


@pytest.fixture
async def client(service: Service, corpora: CorpusVersionCache) -> AsyncIterator[httpx2.AsyncClient]:
    async with service.with_services(corpora=corpora).open_caller("read") as caller:
        yield caller


async def test_search_returns_hits_by_score_with_the_corpus_version(
    client: httpx2.AsyncClient, corpora: CorpusVersionCache
) -> None:
    answer = await client.get("/v1/corpus/search", params={"q": QUERY, "limit": 3})
    result_page = CorpusSearch.model_validate_json(answer.content)
    assert result_page.corpus == (await corpora.current()).version
    (search_answer,) = result_page.answers
    assert (search_answer.query, len(search_answer.hits), search_answer.passages) == (QUERY, 3, None)
    assert "bumblebees" in search_answer.hits[0].title
    assert search_answer.hits[0].year is not None
    assert [hit.score for hit in search_answer.hits] == sorted((hit.score for hit in search_answer.hits), reverse=True)


async def test_papers_after_the_date_or_without_a_date_are_excluded(client: httpx2.AsyncClient) -> None:
    query = {"q": QUERY, "limit": "100", "before": "2015-06-15"}
    result_page = CorpusSearch.model_validate_json((await client.get("/v1/corpus/search", params=query)).content)
    dates = [hit.publication_date for hit in result_page.answers[0].hits]
    assert dates
    assert all(date is not None and str(date) <= "2015-06-15" for date in dates)


async def search_ids(client: httpx2.AsyncClient, **options: str | list[str]) -> set[str]:
    """Return the ids of all papers that a GET and a POST with the same filters find."""
    asked = await client.get("/v1/corpus/search", params={"q": QUERY, "limit": "100", **options})
    body = {"queries": [QUERY], "limit": 100, **options}
    response = await client.post("/v1/corpus/search", json=body)
    (result_page,), (other_result_page,) = (
        CorpusSearch.model_validate_json(item.content).answers for item in (asked, response)
    )
    assert result_page.hits == other_result_page.hits
    return {hit.id for hit in result_page.hits}


async def test_filters_narrow_the_search_results(client: httpx2.AsyncClient) -> None:
    all_ids = await search_ids(client)
    recent = await search_ids(client, after="2016-01-01", before="2018-12-31")
    assert set() < recent < all_ids
    assert await search_ids(client, venue=["Journal of Invented Pollination", "Nature"]) == all_ids
    assert await search_ids(client, venue=["nature"]) == set()
    assert await search_ids(client, field=["Ecology"]) == set()
    assert await search_ids(client, retracted="false") == all_ids
    assert await search_ids(client, exclude=["bee-03", "bee-04"]) == all_ids - {"bee-03", "bee-04"}


async def test_empty_date_range_is_rejected(client: httpx2.AsyncClient) -> None:
    answer = await client.get("/v1/corpus/search", params={"q": "x", "after": "2020-01-01", "before": "2019-01-01"})
    assert "must not be later than" in answer.text
    check_problem(answer, 422, "invalid-request")


async def test_new_corpus_version_is_searched_after_publication(
    client: httpx2.AsyncClient, corpora: CorpusVersionCache, tmp_path: Path
) -> None:
    changed = PaperRecord.model_validate(record(2, title="Lichens on walls"))
    manifest = (await update_corpus(Delta([changed]), tmp_path / "corpus", HashingEmbedder())).manifest
    await client.get("/v1/corpus/search", params={"q": "lichens"})
    await corpora.wait_until_open()
    result_page = CorpusSearch.model_validate_json(
        (await client.get("/v1/corpus/search", params={"q": "lichens"})).content
    )
    assert result_page.corpus == manifest.version
    assert result_page.answers[0].hits[0].title == "Lichens on walls"


async def test_many_queries_are_answered_in_their_order_with_passages(client: httpx2.AsyncClient) -> None:
    body = {"queries": [QUERY, "transects for counting pollinators"], "limit": 2, "snippets": True}
    result_page = CorpusSearch.model_validate_json((await client.post("/v1/corpus/search", json=body)).content)
    assert [answer.query for answer in result_page.answers] == body["queries"]
    for answer in result_page.answers:
        assert answer.passages
        assert all(passage.text for passage in answer.passages)


@pytest.mark.parametrize(
    ("query", "parameter"),
    [
        ("", "q"),
        ("q=%20", "q"),
        ("q=x&limit=0", "limit"),
        ("q=x&before=soon", "before"),
        ("q=x&retracted=perhaps", "retracted"),
        ("q=x&snipets=1", "snipets"),
    ],
)
async def test_wrong_parameter_is_named(client: httpx2.AsyncClient, query: str, parameter: str) -> None:
    error = get_first_error(await client.get(f"/v1/corpus/search?{query}"))
    assert error.parameter == parameter


async def test_search_without_a_corpus_returns_503_with_retry_after(service: Service) -> None:
    answer = await service.machine.get("/v1/corpus/search", params={"q": QUERY})
    assert "no corpus" in check_problem(answer, 503, "not-ready").detail
    assert int(answer.headers["retry-after"]) > 0


async def test_corpus_failure_is_reported_without_file_paths(service: Service) -> None:
    damaged = DamagedCorpus([], HashingEmbedder())
    async with service.with_services(corpora=MemoryCorpusVersions(damaged)).open_caller() as client:
        answer = await client.get("/v1/corpus/search", params={"q": QUERY})
    assert check_problem(answer, 503, "unavailable").detail == "The search failed: the local corpus failed."
    assert "/srv" not in answer.text
