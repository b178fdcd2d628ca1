"""arXiv's OAI-PMH responses: lists of records by datestamp, in pages linked by resumption tokens."""

import datetime as dt
from collections.abc import Sequence
from html import escape
from typing import NamedTuple

from simulator.datasets.editions import Edition, EditionPaper, compute_datestamp
from simulator.outside.arxiv_feeds import remove_invalid_characters
from simulator.outside.library import Entry

_PAGE_SIZE = 100
_NAMESPACES = (
    'xmlns="http://www.openarchives.org/OAI/2.0/" xmlns:xsi="http://www.w3.org/2001/XMLSchema-instance" '
    'xsi:schemaLocation="http://www.openarchives.org/OAI/2.0/ http://www.openarchives.org/OAI/2.0/OAI-PMH.xsd"'
)


class ListedEntry(NamedTuple):
    entry: Entry
    paper: EditionPaper | None
    """Paper in this edition; None if the record was deleted."""
    datestamp: dt.date


def list_entries(edition: Edition, first: dt.date, last: dt.date) -> list[ListedEntry]:
    """Return the records changed from `first` to `last`, in the order of the library. Papers that are not in the first
    edition yet are omitted rather than listed as deleted."""
    is_second = edition.number == 2
    listed_entries = []
    for entry in edition.library.entries:
        paper = edition.papers.get(entry.number)
        if not entry.arxiv or (paper is None and not is_second):
            continue
        datestamp = compute_datestamp(paper, entry, is_second)
        if first <= datestamp <= last:
            listed_entries.append(ListedEntry(entry, paper, datestamp))
    return listed_entries


def build_page(records: Sequence[ListedEntry], start: int, window: str) -> str:
    """Return a page of the list. Its resumption token contains `window` and the position of the next page."""
    if not records:
        return build_error("noRecordsMatch", "No records match the criteria")
    end = start + _PAGE_SIZE
    token = f"{window}|{end}" if end < len(records) else ""
    tag = f'<resumptionToken cursor="{start}" completeListSize="{len(records)}">{token}</resumptionToken>'
    body = "".join(_format_record(record) for record in records[start:end])
    return _build_document(f"<ListRecords>{body}{tag if token or start else ''}</ListRecords>")


def build_error(code: str, message: str) -> str:
    return _build_document(f'<error code="{code}">{escape(message)}</error>')


def _build_document(content: str) -> str:
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<OAI-PMH {_NAMESPACES}>'
        "<responseDate>2026-11-20T00:00:00Z</responseDate>"
        f'<request verb="ListRecords">http://oaipmh.arxiv.org/oai</request>{content}</OAI-PMH>'
    )


def _format_record(listed_entry: ListedEntry) -> str:
    status = "" if listed_entry.paper else ' status="deleted"'
    header = (
        f"<header{status}><identifier>oai:arXiv.org:{listed_entry.entry.arxiv}</identifier>"
        f"<datestamp>{listed_entry.datestamp}</datestamp><setSpec>cs:cs:LG</setSpec></header>"
    )
    metadata = _format_metadata(listed_entry.entry, listed_entry.paper) if listed_entry.paper else ""
    return f"<record>{header}{metadata}</record>"


def _format_metadata(entry: Entry, paper: EditionPaper) -> str:
    record = entry.record
    withdrawn = entry.notice is not None and entry.notice.kind == "withdrawn"
    fields = {
        "id": entry.arxiv,
        "created": str(entry.arxiv_date),
        "title": remove_invalid_characters(record.title),
        "categories": "cs.LG stat.ML",
        "comments": "This paper has been withdrawn by the authors" if withdrawn else "9 pages",
        "journal-ref": record.venue,
        "doi": entry.doi,
        "abstract": f"  {remove_invalid_characters(paper.abstract)}\n",
    }
    authors = "".join(f"<author>{_format_name(name)}</author>" for name in record.authors)
    elements = "".join(f"<{tag}>{escape(text, quote=False)}</{tag}>" for tag, text in fields.items() if text)
    return f'<metadata><arXiv xmlns="http://arxiv.org/OAI/arXiv/"><authors>{authors}</authors>{elements}</arXiv></metadata>'


def _format_name(name: str) -> str:
    given_names, _, family = remove_invalid_characters(name).rpartition(" ")
    forenames = f"<forenames>{escape(given_names, quote=False)}</forenames>" if given_names else ""
    return f"<keyname>{escape(family, quote=False)}</keyname>{forenames}"
