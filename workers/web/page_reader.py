"""Read web pages from untrusted URLs: download them safely, respect robots.txt, parse them in a sandbox, and sanitise
their text."""

import asyncio
from collections.abc import Iterable
from importlib.util import find_spec
from typing import get_args

from pydantic import TypeAdapter

from assayer.errors import ConfigurationError, Unreadable
from assayer.models import Frozen, TextFlag, UnreadableCause, WebPage
from assayer.ports import Clock
from assayer.text.sanitise import build_hidden_flags, clean_text, sanitise
from workers.fetching.downloader import Download, Downloader
from workers.fetching.ssrf_guard import make_loggable
from workers.literature_apis.record_fields import parse_date
from workers.outbound.metrics import PARSE_FAILURES
from workers.sandbox.runner import Refused, parse_in_sandbox
from workers.web.settings import PageSettings

_COMMENT = "a comment"
_CAUSES: dict[str, UnreadableCause] = {cause: cause for cause in get_args(UnreadableCause)}


class _Article(Frozen):
    title: str
    site: str
    published: str
    text: str
    hidden: tuple[tuple[str, str], ...]
    """Hidden texts, as pairs of reason and text."""


_ANSWER = TypeAdapter(_Article)


class PageReader:
    def __init__(self, downloader: Downloader, settings: PageSettings, clock: Clock) -> None:
        """Create a reader. Raises ConfigurationError if the libraries for reading pages are not installed."""
        if find_spec("trafilatura") is None:
            raise ConfigurationError(
                "Web pages cannot be read: trafilatura is not installed.",
                "Install it with: pip install 'assayer-research[web]'",
            )
        self._downloader = downloader
        self._settings = settings
        self._clock = clock
        self._parsers = asyncio.Semaphore(settings.at_once)

    async def read(self, url: str) -> WebPage:
        """Read a page. Raises AddressRefused, DownloadRefused (also if robots.txt disallows the page) or DownloadFailed
        if it cannot be fetched, and Unreadable if it cannot be parsed."""
        download, body = await self._downloader.read(url, ("html", "text"), self._settings.download, robots=True)
        if download.kind == "text":
            return _build_text_page(download, body)
        async with self._parsers:
            article = await self._parse(body, download)
        return _build_web_page(article, download)

    async def _parse(self, page: bytes, download: Download) -> _Article:
        options = {
            "charset": download.charset,
            "url": make_loggable(download.url),
            "today": self._clock.now().date().isoformat(),
            "characters": self._settings.characters,
        }
        try:
            return await parse_in_sandbox(
                "workers.sandbox.page_extraction:extract_article", page, self._settings, _ANSWER, **options
            )
        except Refused as refused:
            raise self._build_unreadable(refused.cause, download) from None

    def _build_unreadable(self, cause: str, download: Download) -> Unreadable:
        PARSE_FAILURES.labels("web", cause).inc()
        limits = self._settings
        descriptions = {
            "too_much_text": f"has more than {limits.characters:,} characters",
            "time": f"could not be read within the limit of {limits.wall_seconds:g} s",
            "computing_time": f"could not be read within the limit of {limits.cpu_seconds} s of CPU time",
            "memory": f"could not be read within the limit of {limits.memory_bytes // 1_000_000} MB of memory",
            "no_text": "contains no article",
            "nested": "is nested too deeply",
            "encoding": "has an encoding that could not be detected",
        }
        message = f"{make_loggable(download.url)} {descriptions.get(cause, 'crashed the parser')}."
        return Unreadable(message, cause=_CAUSES.get(cause, "markup"))


def _build_text_page(download: Download, body: bytes) -> WebPage:
    text, flags = sanitise(_decode(body, download.charset))
    if not text.strip():
        raise Unreadable(f"{make_loggable(download.url)} is empty.", cause="empty")
    return WebPage(url=download.url, title="", site="", text=text.strip(), flags=flags)


def _decode(body: bytes, charset: str) -> str:
    try:
        return body.decode(charset or "utf-8", "replace")
    except LookupError:
        return body.decode("utf-8", "replace")


def _build_web_page(article: _Article, download: Download) -> WebPage:
    text, flags = sanitise(article.text)
    return WebPage(
        url=download.url,
        title=" ".join(clean_text(article.title).split()),
        site=" ".join(clean_text(article.site).split()),
        text=text,
        published=parse_date(article.published),
        flags=(*flags, *_build_hidden_flags(article.hidden)),
    )


def _build_hidden_flags(hidden: Iterable[tuple[str, str]]) -> tuple[TextFlag, ...]:
    """Return flags for hidden text. HTML comments are flagged only if they look like prompt injection, because almost
    every page has comments."""
    hidden_texts = [pair for pair in hidden if pair[0] != _COMMENT]
    suspicious_comments = [
        pair
        for pair in hidden
        if pair[0] == _COMMENT and any(flag.kind == "suspected_injection" for flag in build_hidden_flags([pair]))
    ]
    return build_hidden_flags([*hidden_texts, *suspicious_comments])
