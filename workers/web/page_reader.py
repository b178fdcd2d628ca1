"""Reads a web page from an address in data: guarded download, robots.txt, a sandboxed parser, sanitised text."""

import asyncio
import tempfile
from collections.abc import Iterable
from importlib.util import find_spec
from typing import IO

from pydantic import TypeAdapter, ValidationError

from assayer.errors import ConfigurationError, Unreadable
from assayer.models import Frozen, UnreadableCause, WebPage
from assayer.models.idea import TextFlag
from assayer.ports import Clock
from assayer.text.sanitise import clean_text, hidden_flags, sanitise
from workers.fetching.downloader import Download, Downloader
from workers.fetching.ssrf_guard import loggable_url
from workers.remote.metrics import PARSE_FAILURES
from workers.sandbox.runner import KilledCause, ParserKilled, run_sandboxed
from workers.sources.record_fields import parse_date
from workers.web.settings import PageSettings

__all__ = ["PageReader"]

_COMMENT = "a comment"


class _Refusal(Frozen):
    error: UnreadableCause


class _Article(Frozen):
    title: str
    site: str
    published: str
    text: str
    hidden: tuple[tuple[str, str], ...]
    """Why it cannot be seen, and what it says."""


_ANSWER = TypeAdapter[_Refusal | _Article](_Refusal | _Article)


class PageReader:
    def __init__(self, downloader: Downloader, settings: PageSettings, clock: Clock) -> None:
        """Raises ConfigurationError when the libraries that read pages are not installed."""
        if find_spec("trafilatura") is None:
            raise ConfigurationError("Web pages cannot be read: trafilatura is not installed.", "Install assayer[web].")
        self._downloader = downloader
        self._settings = settings
        self._clock = clock
        self._parsers = asyncio.Semaphore(settings.at_once)

    async def read(self, url: str) -> WebPage:
        """Raises AddressRefused, DownloadRefused (also when robots.txt closes it), DownloadFailed, Unreadable."""
        download, body = await self._downloader.read(url, ("html", "text"), self._settings.download, robots=True)
        if download.kind == "text":
            return _plain_text_page(download, body)
        async with self._parsers:
            with tempfile.TemporaryFile() as file:
                await asyncio.to_thread(_write_and_rewind, file, body)
                article = await self._parse(file, download)
        return _web_page(article, download)

    async def _parse(self, file: IO[bytes], download: Download) -> _Article:
        limits = self._settings
        numbers = (limits.memory_bytes, limits.cpu_seconds, limits.characters)
        words = (download.charset, loggable_url(download.url), self._clock.now().date().isoformat())
        command = ("-m", "workers.sandbox.page_parser", *map(str, numbers), *words)
        try:
            output = await run_sandboxed(command, file, limits.wall_seconds, 8 * limits.characters + 2_000_000)
            answer = _ANSWER.validate_json(output)
        except ParserKilled as killed:
            raise self._unreadable(killed.cause, download) from None
        except ValidationError:
            raise self._unreadable("broken_parser", download) from None
        if isinstance(answer, _Refusal):
            raise self._unreadable(answer.error, download)
        return answer

    def _unreadable(self, cause: UnreadableCause | KilledCause, download: Download) -> Unreadable:
        PARSE_FAILURES.labels("web", cause).inc()
        limits = self._settings
        words: dict[UnreadableCause, str] = {
            "too_much_text": f"has more than {limits.characters:,} characters",
            "time": f"takes more than {limits.wall_seconds:g} s to read",
            "computing_time": f"takes more than {limits.cpu_seconds} s of computing to read",
            "memory": f"needs more than {limits.memory_bytes // 1_000_000} MB of memory to read",
            "no_text": "holds no article",
            "markup": "is nested too deeply",
        }
        return Unreadable(f"{loggable_url(download.url)} {words.get(cause, 'breaks the parser')}.", cause=cause)


def _write_and_rewind(file: IO[bytes], body: bytes) -> None:
    file.write(body)
    file.seek(0)


def _plain_text_page(download: Download, body: bytes) -> WebPage:
    text, flags = sanitise(_decoded(body, download.charset))
    if not text.strip():
        raise Unreadable(f"{loggable_url(download.url)} is empty.", cause="empty")
    return WebPage(url=download.url, title="", site="", text=text.strip(), flags=flags)


def _decoded(body: bytes, charset: str) -> str:
    try:
        return body.decode(charset or "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def _web_page(article: _Article, download: Download) -> WebPage:
    text, flags = sanitise(article.text)
    return WebPage(
        url=download.url,
        title=" ".join(clean_text(article.title).split()),
        site=" ".join(clean_text(article.site).split()),
        text=text,
        published=parse_date(article.published),
        flags=(*flags, *_hidden_flags(article.hidden)),
    )


def _hidden_flags(hidden: Iterable[tuple[str, str]]) -> tuple[TextFlag, ...]:
    """Every page has comments; only those that look like orders are worth a flag."""
    quiet = [pair for pair in hidden if pair[0] != _COMMENT]
    spoken = [
        pair
        for pair in hidden
        if pair[0] == _COMMENT and any(flag.kind == "suspected_injection" for flag in hidden_flags([pair]))
    ]
    return hidden_flags([*quiet, *spoken])
