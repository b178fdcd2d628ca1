"""Bibliographies as exported by reference managers and databases: BibTeX, amsrefs, RIS, EndNote, PubMed, Web of
Science, CSL-JSON and Zotero's CSV. The format of a file is recognised from its content."""

import csv
import io
import json
import re
from collections.abc import Iterator, Mapping, Sequence
from itertools import takewhile
from typing import Any, NamedTuple

from assayer.errors import InputError
from assayer.literature.paper_addresses import find_identifiers
from assayer.literature.paper_identity import parse_arxiv_id
from assayer.models import CitedWork
from assayer.reference_lists.bibtex import AMSREFS, amsrefs_as_bibtex, format_work, read_bibtex
from assayer.reference_lists.identifiers import dois_in
from assayer.reference_lists.tagged_records import (
    MEDLINE,
    WEB_OF_SCIENCE,
    WEB_OF_SCIENCE_TABLE,
    TaggedRecord,
    medline_records,
    read_rows,
    web_of_science_records,
)
from assayer.text.markup import strip_markup

_RIS = re.compile(r"^TY  -", re.MULTILINE)
_ENDNOTE = re.compile(r"^%0 ", re.MULTILINE)
_ENDNOTE_FIELD = re.compile(r"^%(?P<tag>\S) (?P<value>.*)$", re.MULTILINE)
_BIBTEX = re.compile(r"^[ \t]*@\s*\w+\s*[{(]", re.MULTILINE)
_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_DAY = re.compile(r"(\d{4})(?:[-/](\d{1,2}))?(?:[-/](\d{1,2}))?")
_REMEDY = "Export it from the reference manager as BibTeX, RIS or CSL JSON."
_XML_EXPORTS = {
    "<PubmedArticle": ("XML from PubMed", "In PubMed, choose Save, then the format PubMed."),
    "<modsCollection": ("MODS", _REMEDY),
    "<records": ("EndNote XML", "In EndNote, export with the output style RefMan (RIS) Export or BibTeX Export."),
}
_ZOTERO_COLUMNS = {"Item Type", "Title", "Author"}
_MAX_HEADER_CHARS = 100_000
"""Most characters in which a header of Zotero's CSV is looked for; a field of the csv module has at most 131,072."""


class BibliographyEntry(NamedTuple):
    key: str
    """Citation key used in texts; empty if the format has none."""
    work: CitedWork
    abstract: str = ""
    venue: str = ""
    url: str = ""
    date: str = ""
    """YYYY, YYYY-MM or YYYY-MM-DD; empty if the entry has no date."""


class BibliographyFile(NamedTuple):
    entries: Sequence[BibliographyEntry]
    unparsed_entries: Sequence[str]
    """Beginnings of entries that could not be parsed."""


def read_bibliography(text: str, source: str) -> BibliographyFile:
    """Read a bibliography. Raises InputError for an unknown format, for a table that cannot be read, or for a file
    without entries."""
    try:
        file = _parse_bibliography(text, source)
    except csv.Error as error:
        raise InputError(f"{source} cannot be read as a table: {error}.", _REMEDY) from None
    if not file.entries:
        raise InputError(f"{source} has no entry with a title.", _REMEDY)
    return file


def _parse_bibliography(text: str, source: str) -> BibliographyFile:
    """Read a bibliography. Raises InputError for an unknown format, and csv.Error for a malformed table."""
    stripped = text.lstrip("\ufeff \t\r\n")
    unparsed_entries: Sequence[str] = ()
    if stripped.startswith(("[", "{")) and not _BIBTEX.match(stripped):
        entries = list(_csl_entries(stripped, source))
    elif _RIS.search(text):
        entries = list(_ris_entries(text, source))
    elif _ENDNOTE.search(text):
        entries = list(_endnote_entries(text))
    elif MEDLINE.search(text):
        entries = list(_database_entries(medline_records(text)))
    elif WEB_OF_SCIENCE_TABLE.match(stripped) or WEB_OF_SCIENCE.search(text):
        entries = list(_database_entries(web_of_science_records(stripped)))
    elif _BIBTEX.search(text) or AMSREFS.search(text):
        parsed = read_bibtex(amsrefs_as_bibtex(text))
        entries = [_bibtex_entry(key, work, parsed.fields[key]) for key, work in parsed.works.items()]
        unparsed_entries = parsed.unparsed_entries
    elif set(next(csv.reader(stripped[:_MAX_HEADER_CHARS].splitlines()[:1]), ())) >= _ZOTERO_COLUMNS:
        entries = list(_zotero_entries(stripped))
    elif stripped.startswith("<"):
        export, remedy = next(
            (item for mark, item in _XML_EXPORTS.items() if mark in stripped[:4_000]), ("XML", _REMEDY)
        )
        raise InputError(f"{source} is {export}, which cannot be read as a bibliography.", remedy)
    else:
        formats = "BibTeX, RIS, EndNote, CSL JSON, PubMed's or Web of Science's text, or Zotero's CSV"
        raise InputError(f"{source} is not a bibliography in {formats}.", _REMEDY)
    return BibliographyFile(entries, unparsed_entries)


def has_tagged_entries(text: str) -> bool:
    """Return whether a text contains entries in a format with tags or commands, other than BibTeX."""
    return any(pattern.search(text) for pattern in (_RIS, _ENDNOTE, MEDLINE, WEB_OF_SCIENCE, AMSREFS))


def _entry(key: str, fields: Mapping[str, Any], authors: Sequence[str], date: str, venue: str) -> BibliographyEntry:
    """Create an entry from fields with common names: title, abstract, doi, url, arxiv."""
    year = _YEAR.search(date)
    day = _DAY.search(date)
    url = str(fields.get("url") or "")
    at_url = find_identifiers(url)
    name = next(dois_in(str(fields.get("doi") or "")), "") or at_url.doi
    work = CitedWork(
        title=" ".join(strip_markup(str(fields.get("title") or "")).split()).rstrip("."),
        authors=tuple(authors),
        year=int(year[1]) if year else None,
        doi=name,
        arxiv=parse_arxiv_id(str(fields.get("arxiv") or "")) or at_url.arxiv or parse_arxiv_id(name),
    )
    work = work.model_copy(update={"raw": format_work(work, venue)})
    parts = [part for part in day.groups() if part] if day else []
    return BibliographyEntry(
        key,
        work,
        strip_markup(str(fields.get("abstract") or ""), 1_000_000),
        venue,
        url if url.startswith(("http://", "https://")) else "",
        "-".join([parts[0], *(part.zfill(2) for part in parts[1:])]) if parts else "",
    )


def _bibtex_entry(key: str, work: CitedWork, fields: Mapping[str, str]) -> BibliographyEntry:
    date = fields.get("date") or fields.get("year", "")
    venue = (
        fields.get("journal") or fields.get("journaltitle") or fields.get("booktitle") or fields.get("publisher", "")
    )
    known = {"title": work.title, "abstract": fields.get("abstract"), "doi": work.doi, "url": fields.get("url"),
             "arxiv": work.arxiv}  # fmt: skip
    return _entry(key, known, work.authors, date, venue)


def _ris_entries(text: str, source: str) -> Iterator[BibliographyEntry]:
    import rispy

    try:
        records = rispy.loads(text[text.index("TY  -") :], skip_unknown_tags=False)
    except (ValueError, OSError, KeyError, AttributeError) as error:
        raise InputError(f"{source} is not valid RIS: {error}.", "Export it again.") from None
    for record in records:
        title = record.get("title") or record.get("primary_title") or record.get("secondary_title")
        if not title:
            continue
        names = record.get("authors") or record.get("first_authors") or record.get("secondary_authors") or []
        urls = record.get("urls") or ([record["url"]] if record.get("url") else [])
        more = takewhile(lambda part: not part.startswith("http"), urls[1:])  # rispy splits addresses at semicolons
        fields = {"title": title, "abstract": record.get("abstract") or record.get("notes_abstract"),
                  "doi": record.get("doi"), "url": ";".join((*urls[:1], *more))}  # fmt: skip
        date = str(record.get("date") or record.get("year") or record.get("publication_year") or "")
        venue = record.get("secondary_title") or record.get("journal_name") or record.get("publisher") or ""
        authors = [_put_given_name_first(name) for name in names]
        yield _entry(str(record.get("id") or ""), fields, authors, date, venue if venue != title else "")


def _endnote_entries(text: str) -> Iterator[BibliographyEntry]:
    for record in _ENDNOTE.split(text)[1:]:
        fields: dict[str, list[str]] = {}
        for match in _ENDNOTE_FIELD.finditer(record):
            fields.setdefault(match["tag"], []).append(match["value"].strip())
        first = {tag: values[0] for tag, values in fields.items()}
        if "T" in first:
            known = {"title": first["T"], "abstract": first.get("X"), "doi": first.get("R"), "url": first.get("U")}
            authors = [_put_given_name_first(name) for name in fields.get("A", fields.get("E", []))]
            yield _entry(first.get("F", ""), known, authors, first.get("D", ""), first.get("J", first.get("B", "")))


def _database_entries(records: Iterator[TaggedRecord]) -> Iterator[BibliographyEntry]:
    for record in records:
        if record.title:
            fields = {"title": record.title, "abstract": record.abstract, "doi": record.doi, "url": record.url}
            yield _entry(record.key, fields, record.authors, record.date, record.venue)


def _csl_entries(text: str, source: str) -> Iterator[BibliographyEntry]:
    try:
        content = json.loads(text)
    except (ValueError, RecursionError) as error:
        raise InputError(f"{source} is not valid JSON: {error}.", "Export it again.") from None
    items = content.get("items", [content]) if isinstance(content, dict) else content
    return object_entries(items if isinstance(items, list) else [])


def object_entries(items: Sequence[Any]) -> Iterator[BibliographyEntry]:
    """Yield the entries in decoded JSON: CSL-JSON, Zotero's JSON, or objects with `title`, `authors` and `year`."""
    for item in items:
        if not isinstance(item, dict) or not isinstance(item.get("title"), str) or not item["title"].strip():
            continue
        names = item.get("author") or item.get("authors") or item.get("creators") or item.get("editor") or []
        people = re.split(r"\s*;\s*|\s+and\s+", names) if isinstance(names, str) else names
        authors = [name for person in people if (name := _csl_name(person))]
        fields = {"title": item["title"], "abstract": item.get("abstract") or item.get("abstractNote"),
                  "doi": item.get("DOI") or item.get("doi"), "url": item.get("URL") or item.get("url"),
                  "arxiv": item.get("arxiv") or item.get("arxiv_id")}  # fmt: skip
        venue = item.get("container-title") or item.get("publicationTitle") or item.get("publisher") or item.get(
            "venue") or item.get("journal") or ""  # fmt: skip
        key = item.get("citation-key") or item.get("citationKey") or item.get("id") or item.get("key") or ""
        yield _entry(str(key), fields, authors, _csl_date(item), venue if isinstance(venue, str) else "")


def _csl_name(person: Any) -> str:
    if isinstance(person, str):
        return _put_given_name_first(person.strip()) if person.count(",") == 1 else person.strip()
    if not isinstance(person, dict):
        return ""
    parts = [person.get("given") or person.get("firstName") or person.get("first"),
             person.get("non-dropping-particle"), person.get("family") or person.get("lastName") or person.get("last"),
             person.get("suffix")]  # fmt: skip
    named = " ".join(part for part in parts if isinstance(part, str) and part)
    return named or str(person.get("literal") or person.get("name") or "")


def _csl_date(item: Mapping[str, Any]) -> str:
    issued = item.get("issued") or item.get("date") or item.get("year") or ""
    if isinstance(issued, dict):
        parts = issued.get("date-parts")
        if isinstance(parts, list) and parts and isinstance(parts[0], list):
            return "-".join(str(part) for part in parts[0][:3] if part)
        return str(issued.get("raw") or issued.get("literal") or "")
    return str(issued)


def _zotero_entries(text: str) -> Iterator[BibliographyEntry]:
    """Yield the entries of a CSV exported from Zotero."""
    for row in read_rows(csv.DictReader(io.StringIO(text, newline=""))):
        if row.get("Title"):
            authors = [
                _put_given_name_first(name.strip()) for name in (row.get("Author") or "").split(";") if name.strip()
            ]
            fields = {"title": row["Title"], "abstract": row.get("Abstract Note"), "doi": row.get("DOI"),
                      "url": row.get("Url")}  # fmt: skip
            date = row.get("Date") or row.get("Publication Year") or ""
            yield _entry(row.get("Key") or "", fields, authors, date, row.get("Publication Title") or "")


def _put_given_name_first(name: str) -> str:
    """Turn `Family, Given` and `Family, Given, Suffix` into `Given Family`."""
    family, _, given = name.partition(",")
    return " ".join(filter(None, (given.replace(",", " ").strip(), family.strip())))
