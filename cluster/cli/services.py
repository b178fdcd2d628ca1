"""Asks each configured service of the outside one cheap question, through the client that evaluations use."""

import asyncio
from collections.abc import Awaitable, Callable, Sequence
from typing import NamedTuple

from aiohttp import ClientSession

from assayer.errors import AssayerError
from assayer.models import Identifiers
from cluster.cli.findings import Finding
from cluster.settings import Settings
from workers.full_texts.grobid import is_alive, version_of
from workers.full_texts.settings import GrobidSettings
from workers.remote.call import Ask, Call, Remote
from workers.remote.courier import Courier
from workers.remote.replies import MemoryReplies
from workers.remote.turns import MemoryTurns
from workers.sources import Arxiv, Crossref, OpenAlex, Resolves, SemanticScholar, Unpaywall, Window
from workers.web.search import WebSearch

__all__ = ["examine_services"]

_KNOWN = Identifiers(doi="10.18653/v1/n19-1423", arxiv="1810.04805")
"""A paper that every source knows (BERT); a source that does not know it still answers."""
_PATIENCE_SECONDS = 20.0

Probe = Callable[[Remote, Ask], Awaitable[object]]


def _record(kind: Callable[[Remote], Resolves]) -> Probe:
    return lambda remote, ask: kind(remote).resolve([_KNOWN], ask)


async def _copies(remote: Remote, ask: Ask) -> object:
    return await Unpaywall(remote).pdf_urls(_KNOWN, ask)


async def _page(remote: Remote, ask: Ask) -> object:
    return await WebSearch(remote).search("research idea evaluation", 1, Window(), ask)


async def _limits(remote: Remote, ask: Ask) -> object:
    return await remote.fetch(Call("github", "code", "rate_limit"), ask)


class _Service(NamedTuple):
    what: str
    source: str
    setting: str
    """The part of the settings tree that is its own."""
    probe: Probe


_SERVICES = (
    _Service("Semantic Scholar", "semantic_scholar", "S2", _record(SemanticScholar)),
    _Service("arXiv", "arxiv", "ARXIV", _record(Arxiv)),
    _Service("OpenAlex", "openalex", "OPENALEX", _record(OpenAlex)),
    _Service("Crossref", "crossref", "CROSSREF", _record(Crossref)),
    _Service("Unpaywall", "unpaywall", "UNPAYWALL", _copies),
    _Service("web search", "web", "WEB", _page),
    _Service("GitHub", "github", "GITHUB", _limits),
)


async def examine_services(settings: Settings) -> Sequence[Finding]:
    """All side by side, in a fixed order."""
    from cluster.clock import SystemClock

    clock = SystemClock()
    once = {name: one.model_copy(update={"attempts": 1}) for name, one in settings.sources.items() if one.on}
    async with Courier(once, MemoryReplies(clock), MemoryTurns(clock), clock) as courier:
        services = [_examine(service, settings, courier) for service in _SERVICES]
        return await asyncio.gather(*services, _grobid(settings.grobid))


async def _examine(service: _Service, settings: Settings, courier: Courier) -> Finding:
    own = settings.sources[service.source]
    if own.base_url is None:
        text = f"not configured (ASSAYER_{service.setting}__BASE_URL, or --profile online)."
        return Finding(service.what, "absent", text)
    if own.lacks:
        text = f"{own.base_url} is not asked without ASSAYER_{service.setting}__{own.lacks.upper()}."
        return Finding(service.what, "absent", text)
    try:
        await service.probe(courier, Ask(asker="doctor", patience=_PATIENCE_SECONDS))
    except AssayerError as error:
        return Finding(service.what, "broken", str(error))
    return Finding(service.what, "ok", f"{own.base_url} answers.")


async def _grobid(settings: GrobidSettings) -> Finding:
    if not settings.urls:
        return Finding("GROBID", "absent", "not configured (ASSAYER_GROBID__URLS); PDFs are read with pypdfium2.")
    async with ClientSession() as session:
        answers = await asyncio.gather(*(_server(session, url, settings.alive_seconds) for url in settings.urls))
    alive = sum(version is not None for version in answers)
    told = (
        f"{url} is version {version}" if version is not None else f"{url} does not answer"
        for url, version in zip(settings.urls, answers, strict=True)
    )
    return Finding("GROBID", "ok" if alive == len(answers) else "broken", f"{'; '.join(told)}.")


async def _server(session: ClientSession, url: str, seconds: float) -> str | None:
    """Its version; None when it is not alive."""
    if not await is_alive(session, url, seconds):
        return None
    return await version_of(session, url, seconds) or "unknown"
