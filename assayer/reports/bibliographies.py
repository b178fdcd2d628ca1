"""References as BibTeX and RIS, for reference managers."""

import itertools
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from assayer.literature.paper_addresses import find_identifiers
from assayer.literature.paper_identity import extract_family_name, find_doi
from assayer.models import Absent, OwnReference, Paper, ReferenceRecord, Report
from assayer.own_references.names import is_group
from assayer.text.folding import fold_text
from assayer.text.tex import escape_tex

_CONFERENCE = re.compile(r"\b(?:proceedings|conference|workshop|symposium|meeting)\b", re.IGNORECASE)
_STOP_WORDS = ("and", "are", "as", "at", "by", "for", "from", "how", "in", "is", "of", "on", "the", "to", "with")


class ListedWork(NamedTuple):
    title: str
    authors: tuple[str, ...] = ()
    year: int | None = None
    venue: str = ""
    url: str = ""
    doi: str = ""
    arxiv: str = ""
    note: str = ""


def convert_to_listed_work(record: Paper | ReferenceRecord, note: str = "") -> ListedWork:
    """Convert a record to a bibliography entry."""
    url_identifiers = find_identifiers(record.url)
    identifiers = record.identifiers if isinstance(record, Paper) else url_identifiers
    return ListedWork(
        title=record.title,
        authors=record.authors,
        year=record.publication_date.year if record.publication_date else None,
        venue=record.venue,
        url=record.url,
        doi=identifiers.doi or url_identifiers.doi or find_doi(record.id),
        arxiv=identifiers.arxiv or url_identifiers.arxiv,
        note=note,
    )


def correct_entries(report: Report) -> list[ListedWork]:
    """Return the proposal's own reference list, with each entry replaced by the record found for it. Entries without a
    record are kept as written, with a note."""
    own_references = report.own_references
    return (
        []
        if own_references is None or isinstance(own_references, Absent)
        else [_correct_entry(entry) for entry in own_references.entries]
    )


def _correct_entry(entry: OwnReference) -> ListedWork:
    if entry.record is None:
        return ListedWork(title=entry.text, note="As written in the proposal; no record was found.")
    note = " ".join(entry.differences)
    if entry.retraction is not None:
        note = f"Notice about this work: {entry.retraction.kind}. {note}".strip()
    return convert_to_listed_work(entry.record, note)


def render_bibtex(works: Iterable[ListedWork]) -> str:
    entries = []
    for key, work in _add_keys(works):
        kind, venue = "misc", "howpublished"
        if work.venue:
            kind, venue = ("inproceedings", "booktitle") if _CONFERENCE.search(work.venue) else ("article", "journal")
        texts = {"title": work.title, venue: work.venue, "note": work.note}
        fields = {name: escape_tex(_join_lines(text)) for name, text in texts.items()} | {
            "author": " and ".join(map(_format_bibtex_name, work.authors)),
            "year": str(work.year or ""),
            "doi": work.doi,
            "eprint": work.arxiv,
            "archiveprefix": "arXiv" if work.arxiv else "",
            "url": work.url,
        }
        lines = (f"\t{name} = {{{text}}},\n" for name, text in fields.items() if text)
        entries.append(f"@{kind}{{{key},\n{''.join(lines)}}}\n")
    return "\n".join(entries)


def render_ris(works: Iterable[ListedWork]) -> str:
    import rispy

    entries: list[dict[str, Any]] = []
    for key, work in _add_keys(works):
        kind = "GEN" if not work.venue else "CPAPER" if _CONFERENCE.search(work.venue) else "JOUR"
        fields = {
            "type_of_reference": kind,
            "id": key,
            "title": _join_lines(work.title),
            "authors": [_put_family_first(name) for name in work.authors],
            "year": str(work.year or ""),
            "secondary_title": _join_lines(work.venue),
            "doi": work.doi,
            "urls": [work.url] if work.url else [],
            "notes": [_join_lines(work.note)] if work.note else [],
        }
        entries.append({name: value for name, value in fields.items() if value})
    return str(rispy.dumps(entries))


def _add_keys(works: Iterable[ListedWork]) -> Iterator[tuple[str, ListedWork]]:
    """Yield each work with a unique key made from the first author's family name, the year and the first significant
    title word: `lee2021sparse`."""
    used_keys: set[str] = set()
    for work in works:
        family = fold_text(extract_family_name(work.authors[0])) if work.authors else ""
        words = (word for word in re.findall(r"[a-z]{2,}", fold_text(work.title)) if word not in _STOP_WORDS)
        key = re.sub(r"[^a-z0-9]", "", f"{family}{work.year or ''}{next(words, '')}") or "work"
        numbered_keys = (f"{key}-{number}" for number in itertools.count(2))
        key = next(name for name in itertools.chain([key], numbered_keys) if name not in used_keys)
        used_keys.add(key)
        yield key, work


def _put_family_first(name: str) -> str:
    name = _join_lines(name)
    family = extract_family_name(name)
    given_names = name.removesuffix(family).strip()
    return f"{family}, {given_names}" if given_names and given_names != name and not is_group(name) else name


def _format_bibtex_name(name: str) -> str:
    return f"{{{escape_tex(_join_lines(name))}}}" if is_group(name) else escape_tex(_put_family_first(name))


def _join_lines(text: str) -> str:
    return " ".join(text.split())
