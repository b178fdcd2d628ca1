"""Checks for `assayer doctor`: what is configured, what responds, what is missing.

Each configured remote service is sent one cheap request, through the same client as in evaluations."""

import asyncio
import os
import platform
import re
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator, Sequence
from importlib.metadata import version
from typing import Literal, NamedTuple

from aiohttp import ClientSession

from assayer.errors import AssayerError, ConfigurationError
from assayer.models import Identifiers, Window
from assayer.version import __version__
from cluster.clock import SystemClock
from cluster.corpus_source import get_followed_bucket
from cluster.database import open_database
from cluster.endpoint_check import ask_with_largest_schema
from cluster.mail import get_mail_sender
from cluster.settings import Settings
from index import Corpus, VersionStore, is_sharded
from index.faiss_build import list_faiss_packages, load_faiss
from index.object_storage.local_copy import LocalCopy
from index.segments.gpus import open_gpus
from index.versions.verification_cache import VerificationCache
from workers.datasets.adapter import DatasetSource
from workers.datasets.datacite import DataCite
from workers.datasets.kaggle import Kaggle
from workers.embedding.bge_m3 import find_folder_with_heads
from workers.embedding.embedder import create_local_embedder
from workers.flag_embedding import require_flag_embedding
from workers.full_texts.grobid_client import fetch_version, is_alive
from workers.full_texts.settings import GrobidSettings
from workers.literature_apis.arxiv import Arxiv
from workers.literature_apis.capabilities import ResolvesIdentifiers
from workers.literature_apis.crossref import Crossref
from workers.literature_apis.google_scholar import GoogleScholar
from workers.literature_apis.openalex import OpenAlex
from workers.literature_apis.semantic_scholar import SemanticScholar
from workers.literature_apis.unpaywall import Unpaywall
from workers.llm import LlmSettings
from workers.llm.batches.remote_batches import RemoteBatches
from workers.llm.endpoint import LlmEndpoint
from workers.llm.errors import PermanentLlmFailure, TransientLlmFailure
from workers.llm.gateway import LlmGateway
from workers.llm.providers import list_keys_set
from workers.outbound.source_gateway import SourceGateway
from workers.outbound.source_requests import RequestContext, SourceFetcher, SourceRequest
from workers.outbound.store import InMemoryAnswerStore, InMemoryResponseCache, InMemorySharedState
from workers.reranking.llm_reranker import find_language_model_folder
from workers.web.search import WebSearch

_OLDEST_POSTGRESQL = 16


class Finding(NamedTuple):
    """Result of one check."""

    subject: str
    state: Literal["ok", "absent", "broken"]
    text: str


async def run_health_checks(settings: Settings) -> AsyncIterator[Finding]:
    """Run the checks one after another, then those of the remote sources concurrently. If a check itself fails, that
    becomes a finding, and the other checks continue."""
    yield Finding("assayer", "ok", f"{__version__}, Python {platform.python_version()}, {os.cpu_count()} cores.")
    yield await _run_guarded("data directory", asyncio.to_thread(_check_data_directory, settings))
    yield await _run_guarded("database", _check_database(settings))
    for finding in _check_flag_embedding(settings):
        yield finding
    yield await _run_guarded("corpus", asyncio.to_thread(_check_corpus, settings))
    yield await _run_guarded("FAISS", asyncio.to_thread(_check_faiss, settings))
    yield (answers := await _run_guarded("language model", _check_language_model(settings)))
    if settings.llm is not None and answers.state == "ok":
        yield await _run_guarded("structured answers", _check_structured_answer(settings.llm))
    if settings.llm is not None and settings.llm.batch.enabled:
        yield await _run_guarded("batches of the language model", _check_batches(settings.llm))
    yield _check_webhooks(settings)
    yield await _run_guarded("mail", _check_mail(settings))
    for finding in await check_remote_services(settings):
        yield finding


async def _run_guarded(subject: str, check: Awaitable[Finding]) -> Finding:
    """Return a check's finding; an unexpected error becomes a finding too."""
    try:
        return await check
    except ModuleNotFoundError as error:
        return Finding(subject, "broken", f"{error.name} is not installed.")
    except OSError as error:
        file_prefix = f"{error.filename}: " if error.filename is not None else ""
        return Finding(subject, "broken", f"{file_prefix}{error.strerror or error}.")
    except Exception as error:  # noqa: BLE001 - the other checks go on, whatever happens in this one
        return Finding(subject, "broken", str(error) if isinstance(error, AssayerError) else repr(error))


def _check_data_directory(settings: Settings) -> Finding:
    try:
        settings.home.mkdir(parents=True, exist_ok=True)
    except OSError as error:
        text = f"{settings.home} is not usable: {error.strerror}. Set ASSAYER_HOME to a writable folder."
        return Finding("data directory", "broken", text)
    writable = os.access(settings.home, os.W_OK)
    text = f"{settings.home} (ASSAYER_HOME)" + ("." if writable else " is not writable.")
    return Finding("data directory", "ok" if writable else "broken", text)


async def _check_database(settings: Settings) -> Finding:
    try:
        async with open_database(settings) as database:
            health = await database.ping()
    except AssayerError as error:
        return Finding("database", "broken", str(error))
    if health.problem:
        return Finding("database", "broken", health.problem)
    number = re.search(r"\d+", health.server or "")
    age_note = (
        " assayer is not tested with versions before 16." if number and int(number[0]) < _OLDEST_POSTGRESQL else ""
    )
    return Finding("database", "ok", f"{health.server}, {health.address}.{age_note}")


def _check_flag_embedding(settings: Settings) -> Iterator[Finding]:
    """Yield a finding for each configured FlagEmbedding model, without loading or downloading it."""
    models_by_subject = {
        "embedding model": (settings.embedder.library, settings.embedder.model, find_folder_with_heads),
        "reranking model": (settings.reranker.library, settings.reranker.model, find_language_model_folder),
    }
    for subject, (library, model, find_folder) in models_by_subject.items():
        if library != "FlagEmbedding" or model is None:
            continue
        try:
            require_flag_embedding(f"The {subject}")
            if model.startswith(("/", ".", "~")):
                find_folder(model)
        except ConfigurationError as error:
            yield Finding(subject, "broken", str(error))
        else:
            yield Finding(subject, "ok", f"{model}, with FlagEmbedding {version('FlagEmbedding')}.")


def _check_corpus(settings: Settings) -> Finding:
    if settings.corpus.source is not None:
        return _check_published_corpus(settings)
    try:
        corpus = Corpus.open(settings.corpus_path, create_local_embedder(settings.embedder))
    except AssayerError as error:
        is_built = VersionStore(settings.corpus_path).read_current_version() or is_sharded(settings.corpus_path)
        return Finding("corpus", "broken" if is_built else "absent", str(error))
    return Finding("corpus", "ok", f"{corpus.version} with {len(corpus)} papers in {settings.corpus_path}.")


def _check_faiss(settings: Settings) -> Finding:
    try:
        module, gpus = load_faiss(), open_gpus(settings.corpus.device)
    except ConfigurationError as error:
        return Finding("FAISS", "broken", str(error))
    device_text = "the CPU" if gpus is None else f"{gpus.count} GPU{'s' * (gpus.count > 1)}"
    packages = list_faiss_packages()
    if len(packages) > 1:
        text = f"{' and '.join(packages)} are installed but provide the same module. Uninstall all but one."
        return Finding("FAISS", "broken", text)
    return Finding("FAISS", "ok", f"{' '.join(packages) or 'faiss'} {module.__version__}, searches on {device_text}.")


def _check_published_corpus(settings: Settings) -> Finding:
    """Check the published corpus from which this machine pulls, without pulling it."""
    verified = VerificationCache(settings.verified_path)
    try:
        bucket = get_followed_bucket(settings)
        if bucket is None:
            return Finding("corpus", "absent", "no source is configured.")
        newest = bucket.fetch_latest()
    except AssayerError as error:
        local_version = LocalCopy(settings.corpus_path, verified).find_newest_version()
        fallback = f" Searches on this machine continue with version {local_version}." if local_version else ""
        return Finding("corpus", "broken", f"{error}{fallback}")
    version = newest.current.version
    sentence = f"{version} with {newest.current.papers} papers in {bucket.storage.address}, "
    sentence += f"published {newest.current.published:%Y-%m-%d %H:%M} UTC"
    if not LocalCopy(settings.corpus_path, verified).holds(version):
        size = bucket.read_inventory(version).count_bytes() / 2**20
        sentence += f"; not yet pulled completely to {settings.corpus_path} ({size:,.0f} MiB in total)."
        return Finding("corpus", "ok", sentence)
    try:
        Corpus.open(settings.corpus_path, create_local_embedder(settings.embedder), newest.current.version, verified)
    except AssayerError as error:
        return Finding("corpus", "broken", str(error))
    return Finding("corpus", "ok", f"{sentence}, pulled to {settings.corpus_path}.")


async def _check_language_model(settings: Settings) -> Finding:
    if settings.llm is None:
        text = "not configured; reports quote extracts instead. Pass --model PROVIDER/NAME, or set ASSAYER_LLM__MODEL."
        keys = "".join(f" {variable} is set: --model {name}/…" for name, variable in list_keys_set(os.environ))
        return Finding("language model", "absent", text + keys)
    async with LlmGateway(settings.llm, InMemoryAnswerStore(), SystemClock()) as gateway:
        try:
            return Finding("language model", "ok", await gateway.probe())
        except AssayerError as error:
            return Finding("language model", "broken", str(error))


async def _check_structured_answer(settings: LlmSettings) -> Finding:
    """Send a real request with the largest answer schema. This takes as long as the model needs to answer."""
    clock = SystemClock()
    endpoint = LlmEndpoint(settings, clock)
    try:
        return Finding("structured answers", "ok", str(await ask_with_largest_schema(endpoint, settings, clock)))
    except AssayerError as error:
        return Finding("structured answers", "broken", str(error))
    finally:
        await endpoint.aclose()


async def _check_batches(settings: LlmSettings) -> Finding:
    """Check the endpoint's batch API, which overnight jobs use."""
    endpoint = LlmEndpoint(settings, SystemClock())
    try:
        await RemoteBatches(endpoint, settings.batch.window, settings.batch.most_bytes).reach()
    except (TransientLlmFailure, PermanentLlmFailure) as failure:
        text = (
            f"the batch API of {endpoint.address} is not usable: {failure}. "
            "Overnight jobs would send live requests at full price."
        )
        return Finding("batches of the language model", "broken", text)
    finally:
        await endpoint.aclose()
    return Finding("batches of the language model", "ok", f"{endpoint.address} has a batch API for overnight jobs.")


def _check_webhooks(settings: Settings) -> Finding:
    if settings.webhooks.keys:
        return Finding("webhooks", "ok", "secrets are encrypted with the first of ASSAYER_WEBHOOKS__KEYS.")
    if settings.database.url is None:
        return Finding("webhooks", "ok", "secrets are encrypted with a key in the data directory.")
    text = "not available: with an external database, webhooks need an encryption key. Set ASSAYER_WEBHOOKS__KEYS."
    return Finding("webhooks", "absent", text)


async def _check_mail(settings: Settings) -> Finding:
    """Connect to the mail server and sign in, without sending anything."""
    if settings.mail.host is None:
        text = "not configured; no email is sent. Set ASSAYER_MAIL__HOST and __SENDER."
        return Finding("mail", "absent", text)
    try:
        sender = get_mail_sender(settings)
        from workers.mail.smtp import SmtpConnection

        async with SmtpConnection(settings.mail) as server:
            answer = await server.reach()
    except AssayerError as error:
        return Finding("mail", "broken", str(error))
    except ImportError as error:
        return Finding("mail", "broken", f"{error.name} is not installed: pip install 'assayer-research[api]'.")
    return Finding("mail", "ok", f"{answer} Emails are sent from {sender.addr_spec}.")


_PROBED_PAPER = Identifiers(doi="10.18653/v1/n19-1423", arxiv="1810.04805")
"""Paper that the probes look up (BERT). A source that does not know it still responds."""
_PATIENCE_SECONDS = 20.0

Probe = Callable[[SourceFetcher, RequestContext], Awaitable[object]]


def _resolve_paper(kind: Callable[[SourceFetcher], ResolvesIdentifiers]) -> Probe:
    return lambda remote, context: kind(remote).resolve([_PROBED_PAPER], context)


async def _find_copies(remote: SourceFetcher, context: RequestContext) -> object:
    return await Unpaywall(remote).pdf_urls(_PROBED_PAPER, context)


async def _search_scholar(remote: SourceFetcher, context: RequestContext) -> object:
    return await GoogleScholar(remote).search("research idea evaluation", 1, Window(), context)


async def _search_web(remote: SourceFetcher, context: RequestContext) -> object:
    return await WebSearch(remote).search("research idea evaluation", 1, Window(), context)


def _search_datasets(kind: Callable[[SourceFetcher], DatasetSource]) -> Probe:
    return lambda remote, context: kind(remote).search("temperature", 1, Window(), context)


async def _read_rate_limit(remote: SourceFetcher, context: RequestContext) -> object:
    return await remote.fetch(SourceRequest("github", "code", "rate_limit"), context)


class _RemoteService(NamedTuple):
    name: str
    source: str
    setting: str
    """Name of the service's section in environment variables (ASSAYER_<section>__…)."""
    probe: Probe


_REMOTE_SERVICES = (
    _RemoteService("Semantic Scholar", "semantic_scholar", "S2", _resolve_paper(SemanticScholar)),
    _RemoteService("arXiv", "arxiv", "ARXIV", _resolve_paper(Arxiv)),
    _RemoteService("OpenAlex", "openalex", "OPENALEX", _resolve_paper(OpenAlex)),
    _RemoteService("Crossref", "crossref", "CROSSREF", _resolve_paper(Crossref)),
    _RemoteService("Unpaywall", "unpaywall", "UNPAYWALL", _find_copies),
    _RemoteService("Google Scholar", "google_scholar", "GOOGLE_SCHOLAR", _search_scholar),
    _RemoteService("web search", "web", "WEB", _search_web),
    _RemoteService("GitHub", "github", "GITHUB", _read_rate_limit),
    _RemoteService("Kaggle", "kaggle", "KAGGLE", _search_datasets(Kaggle)),
    _RemoteService("DataCite", "datacite", "DATACITE", _search_datasets(DataCite)),
)


async def check_remote_services(settings: Settings) -> Sequence[Finding]:
    """Check all remote services concurrently; return the findings in a fixed order."""
    clock = SystemClock()
    single_attempt = {
        name: source.model_copy(update={"attempts": 1}) for name, source in settings.sources.items() if source.on
    }
    cache, state = InMemoryResponseCache(clock), InMemorySharedState(clock)
    async with SourceGateway(single_attempt, cache, state, clock) as gateway:
        services = [
            _run_guarded(service.name, _check_service(service, settings, gateway)) for service in _REMOTE_SERVICES
        ]
        return await asyncio.gather(*services, _run_guarded("GROBID", _check_grobid(settings.grobid)))


async def _check_service(service: _RemoteService, settings: Settings, gateway: SourceGateway) -> Finding:
    source_settings = settings.sources[service.source]
    if source_settings.base_url is None:
        text = f"not configured (set ASSAYER_{service.setting}__BASE_URL, or use --profile online)."
        return Finding(service.name, "absent", text)
    if source_settings.missing_setting:
        variable = f"ASSAYER_{service.setting}__{source_settings.missing_setting.upper()}"
        text = f"{source_settings.base_url} is not used without {variable}."
        return Finding(service.name, "absent", text)
    try:
        await service.probe(gateway, RequestContext(owner="doctor", patience=_PATIENCE_SECONDS))
    except AssayerError as error:
        return Finding(service.name, "broken", str(error))
    return Finding(service.name, "ok", f"{source_settings.base_url} responds.")


async def _check_grobid(settings: GrobidSettings) -> Finding:
    if not settings.urls:
        return Finding("GROBID", "absent", "not configured (ASSAYER_GROBID__URLS); PDFs are read with pypdfium2.")
    async with ClientSession() as session:
        answers = await asyncio.gather(
            *(_fetch_grobid_version(session, url, settings.alive_seconds) for url in settings.urls)
        )
    alive = sum(version is not None for version in answers)
    states = (
        f"{url} is version {version}" if version is not None else f"{url} does not respond"
        for url, version in zip(settings.urls, answers, strict=True)
    )
    return Finding("GROBID", "ok" if alive == len(answers) else "broken", f"{'; '.join(states)}.")


async def _fetch_grobid_version(session: ClientSession, url: str, seconds: float) -> str | None:
    """Return the server's version, or None if the server does not respond."""
    if not await is_alive(session, url, seconds):
        return None
    return await fetch_version(session, url, seconds) or "unknown"
