"""URLs of a paper's open-access copies, from its identifiers and from source records, best first.

With a cutoff, only copies known to have existed before it are used: the preprint version available by then, and copies
at publishers, which do not change. `JournalledPdfLocator` queries sources that locate further copies."""

import datetime as dt
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from typing import NamedTuple
from urllib.parse import quote, urlsplit, urlunsplit

from assayer.errors import SourceError
from assayer.literature.paper_addresses import find_identifiers
from assayer.models import OPEN, Identifiers, Paper, PreprintVersions, Window
from assayer.run.run import Run
from workers.full_texts.settings import HostSettings
from workers.literature_apis.capabilities import LocatesPdfs
from workers.literature_apis.record_fields import compute_last_day
from workers.outbound.source_requests import RequestContext

_ID_MONTH = re.compile(r"^(?:[a-zA-Z.-]{1,20}/)?(?P<year>\d{2})(?P<month>\d{2})", re.ASCII)
_FIRST_ARXIV_YEAR = 91
"""First year of arXiv, in two digits. Smaller numbers belong to the 2000s."""


class PdfLocation(NamedTuple):
    source: str
    """Source of the copy: `arxiv_files`, `acl_files`, `pmc_files`, `openreview_files` or `open_access_files`."""
    url: str


def list_known_pdf_locations(paper: Paper, hosts: HostSettings, window: Window = OPEN) -> tuple[PdfLocation, ...]:
    """Return a paper's distinct PDF URLs. Repositories, which always serve the PDF, come first; probable landing pages
    come last."""
    identifiers = [paper.identifiers, *(find_identifiers(url) for url in (paper.url, *paper.pdf_urls) if _is_web(url))]
    if window.before is None:
        return _remove_duplicates(
            (*_list_repository_locations(identifiers, hosts), *_list_web_locations(paper.pdf_urls))
        )
    identifiers_by_cutoff = [_rewind_identifiers(window.before, item, paper) for item in identifiers]
    return _remove_duplicates(
        (*_list_repository_locations(identifiers_by_cutoff, hosts), *_list_publisher_locations(paper.pdf_urls, hosts))
    )


def list_additional_pdf_locations(
    urls: Iterable[str], tried_locations: Iterable[PdfLocation], hosts: HostSettings, window: Window = OPEN
) -> tuple[PdfLocation, ...]:
    """Return the locations of those URLs that have not been tried yet."""
    urls = tuple(url for url in urls if _is_web(url))
    identifiers = [find_identifiers(url) for url in urls]
    tried_keys = {_build_url_key(candidate.url) for candidate in tried_locations}
    if window.before is None:
        locations = _remove_duplicates((*_list_repository_locations(identifiers, hosts), *_list_web_locations(urls)))
    else:
        identifiers_by_cutoff = [_rewind_identifiers(window.before, item) for item in identifiers]
        locations = _remove_duplicates(
            (*_list_repository_locations(identifiers_by_cutoff, hosts), *_list_publisher_locations(urls, hosts))
        )
    return tuple(candidate for candidate in locations if _build_url_key(candidate.url) not in tried_keys)


def _rewind_identifiers(day: dt.date, identifiers: Identifiers, paper: Paper | None = None) -> Identifiers:
    """Return the identifiers of copies as they were on `day`: without OpenReview, whose copies change, and with the
    arXiv id's version on that day, or without the arXiv id if that version is unknown.

    Copies at a publisher, the ACL Anthology or PubMed Central are the paper as published."""
    versions = paper.versions if paper is not None and paper.identifiers.arxiv == identifiers.arxiv else None
    version = find_version_by(day, identifiers.arxiv, versions) if identifiers.arxiv else None
    return identifiers.model_copy(
        update={"openreview": "", "arxiv": f"{identifiers.arxiv}v{version}" if version else ""}
    )


def find_version_by(day: dt.date, arxiv: str, versions: PreprintVersions | None) -> int | None:
    """Return the newest preprint version known to have existed on `day`; None if there is none. Sources state only the
    dates of the first and the newest version; without them, the month in the id dates the first."""
    if versions is not None and versions.newest_day <= day:
        return versions.newest
    first_day = versions.first if versions is not None else _find_month(arxiv)
    return 1 if first_day is not None and first_day <= day else None


def _find_month(arxiv: str) -> dt.date | None:
    """Return the last day of the month in an arXiv id; None if the id contains none."""
    match = _ID_MONTH.search(arxiv)
    if match is None or not 1 <= int(match["month"]) <= 12:
        return None
    year = int(match["year"])
    return compute_last_day(year + (1900 if year >= _FIRST_ARXIV_YEAR else 2000), int(match["month"]))


def _list_publisher_locations(urls: Iterable[str], hosts: HostSettings) -> Iterator[PdfLocation]:
    return (url for url in _list_web_locations(urls) if _is_on_host(url.url, hosts.publishers))


def _is_on_host(url: str, hosts: Iterable[str]) -> bool:
    name = (urlsplit(url.strip()).hostname or "").casefold()
    return any(name == host or name.endswith(f".{host}") for host in hosts)


def _list_repository_locations(identifiers: Iterable[Identifiers], hosts: HostSettings) -> Iterator[PdfLocation]:
    identifiers_list = list(identifiers)
    for item in identifiers_list:
        if item.acl:
            yield PdfLocation("acl_files", f"{hosts.acl}/{quote(item.acl, safe='')}.pdf")
    for item in identifiers_list:
        if item.arxiv:
            yield PdfLocation("arxiv_files", f"{hosts.arxiv}/{quote(item.arxiv, safe='/')}")
    for item in identifiers_list:
        if item.openreview:
            yield PdfLocation("openreview_files", f"{hosts.openreview}?id={quote(item.openreview, safe='')}")
    for item in identifiers_list:
        if item.pmc:
            yield PdfLocation("pmc_files", f"{hosts.pmc}/{quote(item.pmc, safe='')}/pdf/")


def _list_web_locations(urls: Iterable[str]) -> Iterator[PdfLocation]:
    """Yield the locations of URLs, except repository URLs. `_list_repository_locations` covers those, with URLs
    of the PDF instead of its page."""
    page_urls = [
        url for url in urls if _is_web(url) and find_identifiers(url).model_copy(update={"doi": ""}) == Identifiers()
    ]
    yield from (PdfLocation("open_access_files", url) for url in sorted(page_urls, key=_rank_url))


def _is_web(url: str) -> bool:
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _rank_url(url: str) -> int:
    """Return 0 if the URL looks like a PDF, 2 if it is a resolver's landing page, and 1 otherwise, for sorting."""
    parts = urlsplit(url.strip())
    if (parts.hostname or "").removeprefix("dx.") == "doi.org":
        return 2
    return 0 if "pdf" in f"{parts.path}?{parts.query}".casefold() else 1


def _build_url_key(url: str) -> str:
    """Return the URL without scheme, `www.`, fragment and trailing slash, for comparing document URLs."""
    parts = urlsplit(url.strip())
    host = parts.netloc.casefold().removeprefix("www.")
    return urlunsplit(("", host, parts.path.rstrip("/"), parts.query, ""))


def _remove_duplicates(locations: Iterable[PdfLocation]) -> tuple[PdfLocation, ...]:
    first_by_key: dict[str, PdfLocation] = {}
    for candidate in locations:
        first_by_key.setdefault(_build_url_key(candidate.url), candidate)
    return tuple(first_by_key.values())


@dataclass(frozen=True)
class JournalledPdfLocator:
    """Wraps a source that locates PDFs, and records its results and failures in a run's journal. Implements
    LocatesPdfs."""

    source: LocatesPdfs
    run: Run

    @property
    def name(self) -> str:
        return self.source.name

    async def pdf_urls(self, paper: Identifiers, context: RequestContext) -> tuple[str, ...]:
        try:
            urls = await self.source.pdf_urls(paper, context)
        except SourceError as error:
            self.run.journal.record_source_failure(self.name, "open_access", error)
            raise
        self.run.journal.record_use(self.name, "open_access", results=len(urls))
        return urls
