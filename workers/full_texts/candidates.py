"""Where a free copy of a paper may lie: from its identifiers and from what sources say, best first."""

from collections.abc import Iterable, Iterator
from typing import NamedTuple
from urllib.parse import quote, urlsplit, urlunsplit

from assayer.identity import identifiers_in
from assayer.models import Identifiers, Paper
from workers.full_texts.settings import HostSettings

__all__ = ["Candidate", "candidates", "located"]


class Candidate(NamedTuple):
    source: str
    """Whose copy it is: `arxiv_files`, `acl_files`, `pmc_files`, `openreview_files`, `open_access_files`."""
    url: str


def candidates(paper: Paper, hosts: HostSettings) -> tuple[Candidate, ...]:
    """Distinct addresses. Repositories that always give the PDF itself come first, landing pages in disguise last."""
    known = [paper.identifiers, *(identifiers_in(url) for url in (paper.url, *paper.pdf_urls) if _is_web(url))]
    return _distinct((*_of_identifiers(known, hosts), *_of_urls(paper.pdf_urls)))


def located(urls: Iterable[str], tried: Iterable[Candidate], hosts: HostSettings) -> tuple[Candidate, ...]:
    """What a locator of free copies adds to the candidates that were tried."""
    urls = tuple(url for url in urls if _is_web(url))
    known = [identifiers_in(url) for url in urls]
    before = {_key(candidate.url) for candidate in tried}
    found = _distinct((*_of_identifiers(known, hosts), *_of_urls(urls)))
    return tuple(candidate for candidate in found if _key(candidate.url) not in before)


def _of_identifiers(known: Iterable[Identifiers], hosts: HostSettings) -> Iterator[Candidate]:
    names = list(known)
    for one in names:
        if one.acl:
            yield Candidate("acl_files", f"{hosts.acl}/{quote(one.acl, safe='')}.pdf")
    for one in names:
        if one.arxiv:
            yield Candidate("arxiv_files", f"{hosts.arxiv}/{quote(one.arxiv, safe='/')}")
    for one in names:
        if one.openreview:
            yield Candidate("openreview_files", f"{hosts.openreview}?id={quote(one.openreview, safe='')}")
    for one in names:
        if one.pmc:
            yield Candidate("pmc_files", f"{hosts.pmc}/{quote(one.pmc, safe='')}/pdf/")


def _of_urls(urls: Iterable[str]) -> Iterator[Candidate]:
    """Addresses of repositories are left to their identifiers, which give the PDF and not the page about it."""
    rest = [url for url in urls if _is_web(url) and identifiers_in(url) in (Identifiers(), _doi_only(url))]
    yield from (Candidate("open_access_files", url) for url in sorted(rest, key=_looks_like_page))


def _doi_only(url: str) -> Identifiers:
    found = identifiers_in(url)
    return Identifiers(doi=found.doi) if found.doi and not found.arxiv else Identifiers()


def _is_web(url: str) -> bool:
    try:
        parts = urlsplit(url.strip())
    except ValueError:
        return False
    return parts.scheme in ("http", "https") and bool(parts.hostname)


def _looks_like_page(url: str) -> int:
    """0 for what looks like a PDF, 1 for what may be anything, 2 for a resolver's landing page."""
    parts = urlsplit(url.strip())
    if (parts.hostname or "").removeprefix("dx.") == "doi.org":
        return 2
    return 0 if "pdf" in f"{parts.path}?{parts.query}".casefold() else 1


def _key(url: str) -> str:
    """Equal for addresses of one document: without scheme, `www.`, fragment and closing slash."""
    parts = urlsplit(url.strip())
    host = parts.netloc.casefold().removeprefix("www.")
    return urlunsplit(("", host, parts.path.rstrip("/"), parts.query, ""))


def _distinct(found: Iterable[Candidate]) -> tuple[Candidate, ...]:
    first: dict[str, Candidate] = {}
    for candidate in found:
        first.setdefault(_key(candidate.url), candidate)
    return tuple(first.values())
