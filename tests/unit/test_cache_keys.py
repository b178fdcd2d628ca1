"""Cache keys, pinned to the byte: a key that changes makes everybody pay again for every stored answer."""

import asyncio
import datetime as dt
from collections.abc import Callable, Coroutine
from dataclasses import replace
from typing import Any

import pytest

from assayer.llm import Task
from assayer.models import Identifiers, Window
from cluster.clock import SystemClock
from cluster.evidence_sources import DATASET_SOURCES
from cluster.settings_loading import load_settings
from tests.contract.weighing import WEIGHING, Question, Weighing, a_question, a_run, an_answer
from workers.code.github import GitHub
from workers.literature_apis.arxiv import Arxiv
from workers.literature_apis.crossref import Crossref
from workers.literature_apis.google_scholar import GoogleScholar
from workers.literature_apis.openalex import OpenAlex
from workers.literature_apis.semantic_scholar import SemanticScholar
from workers.literature_apis.unpaywall import Unpaywall
from workers.llm import LlmSettings
from workers.llm.batches.batch_tier import compute_request_key
from workers.llm.chat_completion import ChatMessage, ChatRequest, ChatResult, Requester
from workers.llm.completion import Completion
from workers.llm.gateway import LlmGateway
from workers.outbound.source_requests import RequestContext, SourceRequest, SourceResponse
from workers.outbound.source_retries import SourceAddress
from workers.outbound.store import InMemoryAnswerStore
from workers.web.search import WebSearch

SETTINGS: dict[str, Any] = {"base_url": "https://api.example.org/v1", "model": "m"}


class OneAnswer:
    """Transport that gives the same answer to every request and records the requests."""

    address = "nowhere"

    def __init__(self) -> None:
        self.requests: list[ChatRequest] = []

    async def complete(self, request: ChatRequest, requester: Requester) -> ChatResult:
        self.requests.append(request)
        return ChatResult(Completion(an_answer(), "", "stop", 10, 10))

    async def reach(self) -> dict[str, int]:
        return {}

    async def probe(self, model: str) -> None: ...

    async def aclose(self) -> None: ...


async def compute_keys(
    task: Task[Question, Weighing], settings: dict[str, Any], answers_of: str, statement: str
) -> tuple[str, str]:
    """Return the key of the answer, and that of the same request in a batch."""
    answers, transport = InMemoryAnswerStore(), OneAnswer()
    async with LlmGateway(
        LlmSettings.model_validate(SETTINGS | settings), answers, SystemClock(), transport
    ) as gateway:
        await gateway.run(task, a_question(statement), replace(a_run(), answers_of=answers_of))
    return answers.ledger[0].key, compute_request_key(transport.requests[0])


LLM_KEYS: list[tuple[dict[str, Any], dict[str, Any], str, str, str]] = [
    # changes of the task, changes of the settings, answers_of, key of the answer, key in a batch
    (
        {},
        {},
        "",
        "4995186313a39bafb62215d90b7af77a2f9a9c7e0ea580a21db8b81bdcbd32ef",
        "1656075e564a9e77f7424b5c40c4ea73c11e11f20315909a3e859c0ecabac8e3",
    ),
    (
        {"max_tokens": 900},
        {},
        "",
        "d8cb759312b8229d4ce4ec79c29fde840d8e18bfa92a684769e5cf384d558da9",
        "002ae526a9ec8cbfbf339656907035638134d487ccef419530dbfe9fbcd7dc25",
    ),
    (
        {"temperature": 0.7, "sample": 2},
        {"seed": 5},
        "",
        "f9ab5518548c352bef193ff52cbf0a3a6104c8f5316f402b9f1c07fc850bdbce",
        "22f256bf0c4310d61ffa396563aaffb2717d1652bd9d001b341be7e8e14195bd",
    ),
    (
        {"tier": "strong"},
        {"fast_model": "small", "temperature": None},
        "",
        "e09bc4f7d75a3b143aeb6546ee2b74d46ee850ee7dff6de1f01772b095e61e90",
        "9e253757246a91b50e855069ba835a609c161b1b851f95473c7ec5532b334966",
    ),
    (
        {},
        {"fast_model": "small"},
        "",
        "6887afac2781478c787099f5f4b28878e2a4b14dab780fa8ca388645ca86b14f",
        "859d6c940ee2eff5538c6db56cfcc311d48a333d4bade43665e90612d6b7b5cf",
    ),
    (
        {"model": "named"},
        {},
        "tenant",
        "5ee8a643417d59a67af39b2d326ca88320929fe9441cbd4af84eaa4a230c47ac",
        "7b218ee6c4196f09ea03b2e76d15f2e3d42b6dc84f119df878569dce37b6815b",
    ),
    (
        {"name": "tests.other"},
        {"endpoint_name": "ours"},
        "",
        "fa0c34021ca51a84db40b29cf74b572c45e9253b2176df84985823ce5ee724e7",
        "5c588fa0c52c51d66599f83e34c2d839d233ce087f88c621cb937c29c79bdf3a",
    ),
    (
        {},
        {"base_url": "http://user:word@localhost:8000/v1/", "structured": "json_object"},
        "",
        "9c2eed0e8b67117d9260138700d0f00634887b023d0068daeb332b55d86f652c",
        "1656075e564a9e77f7424b5c40c4ea73c11e11f20315909a3e859c0ecabac8e3",
    ),
]


@pytest.mark.parametrize(("task", "settings", "answers_of", "key", "batch_key"), LLM_KEYS)
async def test_llm_request_keeps_its_cache_key(
    task: dict[str, Any], settings: dict[str, Any], answers_of: str, key: str, batch_key: str
) -> None:
    assert await compute_keys(replace(WEIGHING, **task), settings, answers_of, "Weights help, é ✓.") == (key, batch_key)


def test_repaired_llm_request_keeps_its_batch_tier_key() -> None:
    messages = (ChatMessage("system", "Be fair."), ChatMessage("user", "Weigh."))
    repair = (ChatMessage("assistant", "{}"), ChatMessage("user", "Again."))
    request = ChatRequest("m", "t", messages, repair, '{"type":"object"}', 500, 0.0, None, 1, 0, "tenant")
    assert compute_request_key(request) == "a38e785948c65b6cc288e68b91c7691d5e99c3b7a5bf74540145306aa0c73956"


class RecordingFetcher:
    """Fetcher that finds nothing and records the requests."""

    def __init__(self) -> None:
        self.requests: list[SourceRequest] = []

    async def fetch(self, request: SourceRequest, context: RequestContext) -> SourceResponse:
        self.requests.append(request)
        return SourceResponse(404, b"", dt.datetime(2026, 1, 1, tzinfo=dt.UTC), cached=False)


CONTEXT = RequestContext("evaluation", 60.0)
WINDOW = Window(before=dt.date(2024, 5, 6))
PAPER = Identifiers(doi="10.1234/abc.5", arxiv="2401.01234", s2="0" * 40, openalex="W12", acl="P18-1001")
QUERY = "sparse attention for é translation"

Ask = Callable[[RecordingFetcher], Coroutine[Any, Any, object]]

SOURCE_KEYS: dict[str, tuple[str, Ask, str]] = {
    "semantic_scholar search": (
        "semantic_scholar",
        lambda r: SemanticScholar(r).search(QUERY, 10, WINDOW, CONTEXT),
        "e6beb1a82dda150d4c351f02e9220da65cf2d261157153e01703e69bc246247d",
    ),
    "semantic_scholar records": (
        "semantic_scholar",
        lambda r: SemanticScholar(r).resolve([PAPER], CONTEXT),
        "21f59fa9b4f08e9be3d43aeb61c2d0fc6cc8876acf14a46caef1d53173a56704",
    ),
    "semantic_scholar references": (
        "semantic_scholar",
        lambda r: SemanticScholar(r).references(PAPER, 9, CONTEXT),
        "83b6dab7e9e33e2842878433797f50aa237a41a7b92459ac4797dd5bee4a29cc",
    ),
    "openalex search": (
        "openalex",
        lambda r: OpenAlex(r).search(QUERY, 10, WINDOW, CONTEXT),
        "e28234169594a0a89355957c954d787d029ec229cdfc0bddb70edd7f64215429",
    ),
    "openalex records": (
        "openalex",
        lambda r: OpenAlex(r).resolve([PAPER], CONTEXT),
        "09cdb75b2ec8287b179eee029273be67cd524bc3c30065ead359fc5c0556f283",
    ),
    "crossref search": (
        "crossref",
        lambda r: Crossref(r).search(QUERY, 10, WINDOW, CONTEXT),
        "5d7684105bba0350cea77a45bb91846c42845b8992bcdebd73c4be0dd692ccb4",
    ),
    "crossref records": (
        "crossref",
        lambda r: Crossref(r).resolve([PAPER], CONTEXT),
        "ef20d3193c8ff329c453199df0b7c21971c6a8e505d0c4271fc5bbf38ee4cbe5",
    ),
    "arxiv search": (
        "arxiv",
        lambda r: Arxiv(r).search(QUERY, 10, WINDOW, CONTEXT),
        "926412b8a4cf1ba210a4ae003e912671bfe948597ca94f98d127aefbec761ab6",
    ),
    "arxiv records": (
        "arxiv",
        lambda r: Arxiv(r).resolve([PAPER], CONTEXT),
        "676f9ae60b30d60946161632948d84c6e4d0809d57b98afcd2922fe590e7678e",
    ),
    "google_scholar search": (
        "google_scholar",
        lambda r: GoogleScholar(r).search(QUERY, 10, WINDOW, CONTEXT),
        "49fde61129dbedc66345973141032ff075aafa1b65dca8fdd5363b4f6022eb39",
    ),
    "unpaywall": (
        "unpaywall",
        lambda r: Unpaywall(r).pdf_urls(PAPER, CONTEXT),
        "4a514c9d312cfe463c3e5150c3e03924690fc747ac25557b5b9e611fb0505aed",
    ),
    "web search": (
        "web",
        lambda r: WebSearch(r).search(QUERY, 10, WINDOW, CONTEXT),
        "6da3505308a3126cdcea191f1428e1fd26af4855eae5d6d80c61d28a1604e227",
    ),
    "github search": (
        "github",
        lambda r: GitHub(r).search(QUERY, 10, WINDOW, CONTEXT),
        "524b2c744d2f94dadc9e2758671d92e6a9592d2c957fd59a3a4985993bc07e43",
    ),
    "kaggle search": (
        "kaggle",
        lambda r: DATASET_SOURCES["kaggle"](r).search(QUERY, 10, WINDOW, CONTEXT),
        "30a4b70446327e13ae30dad1118339737ac72a648f1705ed1445d3ab84b64d2a",
    ),
    "datacite search": (
        "datacite",
        lambda r: DATASET_SOURCES["datacite"](r).search(QUERY, 10, WINDOW, CONTEXT),
        "4ddd2aa07c3e617a10b8fbd81b3577170d19ebd05d74ade124b363a61051298e",
    ),
}


@pytest.mark.parametrize(("source", "ask", "key"), SOURCE_KEYS.values(), ids=SOURCE_KEYS)
async def test_source_request_keeps_its_cache_key(source: str, ask: Ask, key: str) -> None:
    recording = RecordingFetcher()
    await asyncio.gather(ask(recording), return_exceptions=True)  # what a source makes of no answer matters elsewhere
    settings = load_settings("online").sources[source]
    address = SourceAddress(source, settings, settings.base_url or f"https://{source}.example.org")
    assert address.build_cache_key(recording.requests[0]) == key


def test_source_cache_key_includes_body_and_ignores_parameter_order() -> None:
    settings = load_settings("online").sources["semantic_scholar"]
    address = SourceAddress("semantic_scholar", settings, "https://api.semanticscholar.org")
    posted = SourceRequest("semantic_scholar", "papers", "graph/v1/paper/batch", (("b", "2"), ("a", "1")), '{"ids":[]}')
    assert address.build_cache_key(posted) == "6e28ac4f8169974d70b85a4ac831ae1650142e21878b55a54b1723c5e3ffbe22"
    assert address.build_cache_key(replace(posted, params=posted.params[::-1])) == address.build_cache_key(posted)
