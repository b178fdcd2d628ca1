"""The twins of OpenAlex, Crossref and Unpaywall answer as the real ones do, to plain HTTP without our clients."""

from collections.abc import AsyncIterator, Iterator
from typing import Any, NamedTuple

import aiohttp
import pytest

from simulator.outside.library import Library
from simulator.outside.process import OutsideWorld
from simulator.outside.sample import SAMPLE

LIBRARY = Library(SAMPLE)
MAIL = "mailto=somebody@example.org"


class Answer(NamedTuple):
    status: int
    headers: dict[str, str]
    """Names in lower case."""
    text: str
    json: Any


class Asker:
    def __init__(self, world: OutsideWorld, session: aiohttp.ClientSession) -> None:
        self.world = world
        self._session = session

    async def __call__(self, path: str, **params: str) -> Answer:
        async with self._session.get(self.world.url(path), params=params, allow_redirects=False) as response:
            text = await response.text()
            headers = {name.lower(): value for name, value in response.headers.items()}
            json = await response.json() if response.content_type == "application/json" else None
            return Answer(response.status, headers, text, json)


@pytest.fixture(scope="module")
def world() -> Iterator[OutsideWorld]:
    with OutsideWorld() as world:
        yield world


@pytest.fixture
async def ask(world: OutsideWorld) -> AsyncIterator[Asker]:
    """Asker with the limits of the real services, except the rate."""
    for service in ("openalex", "crossref", "unpaywall"):
        world.configure(service, per_second=None)
    world.configure("openalex", per_day=10_000, api_key=None)
    world.reset()
    async with aiohttp.ClientSession() as session:
        yield Asker(world, session)


async def test_openalex_reports_request_cost_and_remaining_credits(ask: Asker) -> None:
    costs = []
    for path, params in (
        (f"openalex/works/{LIBRARY.entries[0].openalex}", {}),
        ("openalex/works", {"filter": "to_publication_date:2020-01-01"}),
        ("openalex/works", {"search": "graph"}),
    ):
        answer = await ask(path, api_key="mine", **params)
        costs.append(answer.headers["x-ratelimit-credits-used"])
    assert costs == ["0", "1", "10"]
    assert answer.headers["x-ratelimit-limit"] == "10000"
    assert answer.headers["x-ratelimit-remaining"] == "9989"
    assert answer.headers["x-ratelimit-remaining-usd"] == "0.9989"
    assert 0 < int(answer.headers["x-ratelimit-reset"]) <= 86_400


async def test_openalex_rejects_keyless_requests_beyond_a_tenth_of_the_budget(ask: Asker) -> None:
    ask.world.configure("openalex", per_day=200)
    statuses = [(await ask("openalex/works", search="graph")).status for _ in range(3)]
    refusal = await ask("openalex/works", search="graph")
    assert statuses == [200, 200, 429]
    assert refusal.json["error"] == "Rate limit exceeded"
    assert refusal.json["message"].startswith("Insufficient budget.")
    assert int(refusal.headers["retry-after"]) > 3600
    assert (await ask(f"openalex/works/{LIBRARY.entries[0].openalex}")).status == 200
    assert (await ask("openalex/works", search="graph", api_key="mine")).status == 200


@pytest.mark.parametrize(
    ("params", "words"),
    [
        ({"filter": "author_name:x"}, "author_name is not a valid field"),
        ({"filter": "title.search:Hello, John"}, "title.search is not a valid field"),
        ({"filter": "doi:" + "|".join(f"10.1/{number}" for number in range(101))}, "Maximum number of values exceeded"),
        ({"filter": "doi:10.1/a|!10.1/b"}, "The ! operator can only be used at the beginning"),
        ({"search": "does it help?"}, "Wildcards (* or ?) require exact"),
        ({"search": "!graph"}, "does not support the ! operator"),
        ({"select": "id,open_access.is_oa"}, "open_access.is_oa is not a valid select field"),
        ({"per_page": "201"}, "per_page parameter must be between"),
        ({"page": "101", "per_page": "100"}, "Maximum results size of 10,000 records is exceeded"),
        ({"limit": "3"}, "limit is not a valid parameter"),
    ],
)
async def test_openalex_rejects_invalid_parameters_with_its_messages(
    ask: Asker, params: dict[str, str], words: str
) -> None:
    answer = await ask("openalex/works", **params)
    assert answer.status == 400
    assert words in answer.json["message"]


async def test_openalex_handles_wrong_key_long_url_unknown_and_merged_works(ask: Asker) -> None:
    ask.world.configure("openalex", api_key="right")
    assert (await ask("openalex/works", api_key="wrong")).status == 401
    assert (await ask("openalex/works", search="w" * 5000)).status == 414
    unknown = await ask("openalex/works/W1")
    assert (unknown.status, unknown.json) == (404, None)
    entry = LIBRARY.entries[3]
    merged = await ask(f"openalex/works/W2{entry.openalex[2:]}", select="id")
    assert (merged.status, merged.headers["location"]) == (301, f"/openalex/works/{entry.openalex}?select=id")


async def test_crossref_reports_rate_limits_per_pool(ask: Asker) -> None:
    ask.world.configure("crossref", per_second=3.0, concurrent=3)
    doi = next(entry.doi for entry in LIBRARY.entries if entry.doi)
    outcomes = []
    for path in ("crossref/works?rows=1&", f"crossref/works/{doi}?"):
        for mail in (MAIL, ""):
            ask.world.reset()
            headers = (await ask(path + mail)).headers
            names = ("x-api-pool", "x-rate-limit-limit", "x-concurrency-limit")
            outcomes.append(tuple(headers[name] for name in names))
    assert outcomes == [
        ("polite-array", "3", "3"),
        ("public-array", "1", "1"),
        ("polite-single", "10", "3"),
        ("public-single", "5", "1"),
    ]


@pytest.mark.parametrize(
    ("params", "kind"),
    [
        ({"filter": "reference.doi:10.1/a"}, "filter-not-available"),
        ({"filter": "doi:10.1/a,b"}, "filter-not-available"),
        ({"filter": "from-pub-date:soon"}, "date-not-valid"),
        ({"select": "DOI,institution"}, "select-not-available"),
        ({"rows": "1001"}, "integer-not-valid"),
        ({"limit": "3"}, "parameter-not-allowed"),
    ],
)
async def test_crossref_rejects_invalid_parameters_with_problem_type(
    ask: Asker, params: dict[str, str], kind: str
) -> None:
    answer = await ask("crossref/works", **params)
    assert (answer.status, answer.json["message-type"]) == (400, "validation-failure")
    assert answer.json["message"][0]["type"] == kind


async def test_crossref_returns_404_for_arxiv_dois(ask: Asker) -> None:
    entry = next(entry for entry in LIBRARY.entries if entry.arxiv)
    answer = await ask(f"crossref/works/10.48550/arXiv.{entry.arxiv}")
    assert (answer.status, answer.text) == (404, "Resource not found.")


@pytest.mark.parametrize("email", ["", "nobody", "somebody@example.com"])
async def test_unpaywall_rejects_missing_and_placeholder_email_addresses(ask: Asker, email: str) -> None:
    answer = await ask("unpaywall/v2/10.1000/x", email=email)
    assert (answer.status, answer.json["HTTP_status_code"]) == (422, 422)
