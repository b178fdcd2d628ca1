"""Records in Crossref's form, and the retraction notices about some of them.

Simulated peculiarities: titles in lists, with entities and tags; dates of one, two or three parts, or [[null]]; DOIs in
the case in which they were deposited; abstracts in JATS; notices from both publishers and Retraction Watch, which are
in the record itself if the notice replaced the paper.
"""

import datetime as dt
import html
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from simulator.outside.library import Entry, Library, Notice

FIELDS = """
    abstract URL resource member posted score created degree update-policy short-title license ISSN container-title
    issued update-to issue prefix approved indexed article-number clinical-trial-number accepted author group-title
    DOI is-referenced-by-count updated-by event chair standards-body original-title funder translator published
    archive published-print alternative-id subject subtitle published-online publisher-location content-domain
    reference title link type publisher volume references-count ISBN issn-type assertion deposited page contributor
    content-created short-container-title relation editor
"""
"""Fields allowed in `select` on lists."""

_TYPES = {"retracted": "retraction", "withdrawn": "withdrawal", "concern": "expression_of_concern"}
_LABELS = {"retracted": "Retraction", "withdrawn": "Withdrawal", "concern": "Expression of concern"}


class Deposit(NamedTuple):
    """Item with a Crossref DOI: a paper, or a notice about one."""

    doi: str
    entry: Entry
    notice: Notice | None = None


def list_deposits(library: Library) -> Iterator[Deposit]:
    """Yield the papers with a DOI in the order of the library, each followed by its notice if that has its own DOI."""
    for entry in library.entries:
        if entry.doi:
            yield Deposit(entry.doi, entry)
            if entry.notice and not _is_in_place(entry):
                yield Deposit(entry.notice.doi, entry, entry.notice)


def get_type(deposit: Deposit) -> str:
    return "proceedings-article" if deposit.entry.acl and not deposit.notice else "journal-article"


def get_first_day(deposit: Deposit) -> dt.date | None:
    """Return the first day of a deposit, as its filters see it."""
    if deposit.notice:
        return deposit.notice.date
    parts = _get_date_parts(deposit.entry)
    return dt.date(*[*parts, 1, 1][:3]) if parts else None


def _is_in_place(entry: Entry) -> bool:
    """Return whether the publisher replaced the paper with its notice, under the paper's DOI."""
    return entry.corpus_id % 4 == 0


def _get_date_parts(entry: Entry) -> list[int]:
    """Return the date parts deposited by the publisher: year, year and month, or year, month and day; empty if
    unknown."""
    day = entry.record.publication_date
    if day is None or not entry.is_day_known:
        return [entry.record.year] if entry.record.year else []
    return [day.year, day.month] if entry.corpus_id % 3 == 0 else [day.year, day.month, day.day]


def _format_date(parts: Sequence[int]) -> dict[str, object]:
    return {"date-parts": [list(parts) if parts else [None]]}


def _format_moment(day: dt.date) -> dict[str, object]:
    return _format_date([day.year, day.month, day.day]) | {
        "date-time": f"{day.isoformat()}T00:00:00Z",
        "timestamp": int(dt.datetime(day.year, day.month, day.day, tzinfo=dt.UTC).timestamp() * 1000),
    }


def _build_update(doi: str, notice: Notice, source: str) -> dict[str, object]:
    update: dict[str, object] = {
        "DOI": doi,
        "type": _TYPES[notice.kind],
        "label": _LABELS[notice.kind],
        "source": source,
    }
    return (
        update
        | {"updated": _format_moment(notice.date)}
        | ({"record-id": "20946"} if source == "retraction-watch" else {})
    )


def _build_updates(entry: Entry) -> dict[str, object]:
    notice = entry.notice
    if notice is None:
        return {}
    if _is_in_place(entry):
        itself = [_build_update(entry.doi, notice, "publisher")]
        return {"update-to": itself, "updated-by": itself}
    correction = _build_update(f"{notice.doi}.c", notice, "publisher") | {"type": "correction", "label": "Correction"}
    sources = ("publisher", "retraction-watch") if entry.corpus_id % 2 else ("retraction-watch",)
    return {"updated-by": [correction, *(_build_update(notice.doi, notice, source) for source in sources)]}


def _build_titles(entry: Entry) -> dict[str, object]:
    title, colon, subtitle = entry.record.title.partition(": ")
    if colon and entry.corpus_id % 3 == 0:
        return {"title": [html.escape(title, quote=False)], "subtitle": [html.escape(subtitle, quote=False)]}
    text = html.escape(entry.record.title, quote=False)
    return {"title": [f"<i>{text}</i>" if entry.corpus_id % 7 == 0 else text], "subtitle": []}


def _build_authors(entry: Entry) -> list[dict[str, object]]:
    authors = list[dict[str, object]]()
    for position, name in enumerate(entry.record.authors):
        given_names, _, family = name.rpartition(" ")
        author = {"given": given_names, "family": family} if given_names else {"family": family}
        authors.append({**author, "sequence": "additional" if position else "first", "affiliation": list[str]()})
    return authors


def _build_abstract(entry: Entry) -> dict[str, object]:
    """Return the abstract, for a third of the papers."""
    if entry.corpus_id % 3 or not entry.record.abstract:
        return {}
    text = html.escape(entry.record.abstract, quote=False)
    return {"abstract": f"<jats:title>Abstract</jats:title>\n          <jats:p>{text}</jats:p>"}


def _build_references(library: Library, entry: Entry) -> dict[str, object]:
    """Return the references, which half of the papers have deposited; each has a DOI if the cited paper has one."""
    if entry.corpus_id % 2:
        return {"reference-count": 0, "references-count": 0}
    references = [
        {"key": f"ref{number}", "unstructured": reference.record.title, "year": str(reference.record.year)}
        | ({"doi-asserted-by": "publisher", "DOI": reference.doi} if reference.doi else {})
        for number, reference in enumerate(library.list_references(entry), 1)
    ]
    return {"reference-count": len(references), "references-count": len(references), "reference": references}


def build_record(library: Library, deposit: Deposit, score: float = 0.0) -> dict[str, object]:
    """Return the complete record of a deposit."""
    entry, notice = deposit.entry, deposit.notice
    doi = f"{deposit.doi.split('/')[0]}/{deposit.doi.split('/', 1)[1].upper()}" if entry.corpus_id % 3 else deposit.doi
    common: dict[str, object] = {
        "indexed": _format_moment(dt.date(2026, 9, 30)),
        "publisher": "Simulated Society",
        "content-domain": {"domain": [], "crossmark-restriction": False},
        "short-container-title": [],
        "DOI": doi,
        "type": get_type(deposit),
        "created": _format_moment(get_first_day(deposit) or dt.date(2020, 1, 1)),
        "source": "Crossref",
        "prefix": deposit.doi.split("/")[0],
        "member": "78",
        "container-title": [entry.record.venue] if entry.record.venue else [],
        "original-title": [],
        "deposited": _format_moment(dt.date(2026, 1, 15)),
        "score": score,
        "resource": {"primary": {"URL": entry.record.url}},
        "short-title": [],
        "URL": f"https://doi.org/{doi}",
        "ISSN": [],
        "subject": [],
    }
    if notice is not None:
        title = f"{_LABELS[notice.kind]}: {html.escape(entry.record.title, quote=False)}"
        return common | {
            "title": [title],
            "subtitle": [],
            "is-referenced-by-count": 0,
            "issued": _format_date([notice.date.year, notice.date.month, notice.date.day]),
            "published": _format_date([notice.date.year, notice.date.month, notice.date.day]),
            "update-to": [_build_update(entry.doi, notice, "publisher")],
            "relation": {},
        }
    date = _format_date(_get_date_parts(entry))
    preprint = {"id-type": "doi", "id": f"10.48550/arXiv.{entry.arxiv}", "asserted-by": "subject"}
    return common | {
        **_build_titles(entry),
        **_build_abstract(entry),
        **_build_references(library, entry),
        **_build_updates(entry),
        "author": _build_authors(entry),
        "is-referenced-by-count": entry.record.citation_count,
        "issued": date,
        **({"published": date, "published-online": date} if _get_date_parts(entry) else {}),
        "relation": {"has-preprint": [preprint]} if entry.arxiv and entry.corpus_id % 2 else {},
    }
