"""Parse the fields shared by works in OpenAlex's API and in its snapshots."""

import re
from collections.abc import Iterable

from assayer.literature.paper_addresses import find_identifiers
from assayer.literature.paper_identity import add_arxiv_id, find_doi
from assayer.models import Identifiers

_WORK_ID = re.compile(r"(?:https://openalex\.org/)?(W\d{1,12})", re.IGNORECASE)
_DIGITS = re.compile(r"(?:PMC)?(\d{1,10})", re.IGNORECASE)


def parse_work_id(text: str) -> str:
    """Return the OpenAlex id, such as `W2741809807`, from an id or its URL; empty for any other text."""
    match = _WORK_ID.fullmatch(text.strip())
    return match[1].upper() if match else ""


def rebuild_abstract(positions: object) -> str:
    """Rebuild an abstract from OpenAlex's inverted index, which maps words to positions. Malformed entries are
    skipped."""
    positioned_words = [
        (position, word)
        for word, places in (positions.items() if isinstance(positions, dict) else ())
        for position in (places if isinstance(places, list) else ())
        if type(position) is int
    ]
    return " ".join(word for _, word in sorted(positioned_words))


def collect_work_identifiers(work: str, doi_text: str, pmid: str, pmcid: str, addresses: Iterable[str]) -> Identifiers:
    """Collect a work's identifiers; `work` is its OpenAlex id. `pmid` and `pmcid` are numbers or URLs; `addresses` are
    the URLs of landing pages and PDFs."""
    identifiers = [find_identifiers(address) for address in addresses]
    pmc = _parse_number(pmcid)
    return add_arxiv_id(
        Identifiers(
            doi=find_doi(doi_text) if doi_text.isprintable() else "",
            arxiv=next((item.arxiv for item in identifiers if item.arxiv), ""),
            openalex=work,
            pubmed=_parse_number(pmid),
            pmc=f"PMC{pmc}" if pmc else next((item.pmc for item in identifiers if item.pmc), ""),
            acl=next((item.acl for item in identifiers if item.acl), ""),
            openreview=next((item.openreview for item in identifiers if item.openreview), ""),
        )
    )


def _parse_number(url: str) -> str:
    match = _DIGITS.fullmatch(url.rstrip("/").rsplit("/", 1)[-1])
    return match[1] if match else ""
