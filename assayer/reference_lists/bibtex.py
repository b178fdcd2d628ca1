"""References in BibTeX: the entries of a `.bib` file, of an export from Zotero or Mendeley, or of a block in a text."""

import re
from collections.abc import Iterator, Mapping
from typing import NamedTuple

from assayer.literature.paper_identity import arxiv_id
from assayer.models import CitedWork
from assayer.reference_lists.identifiers import arxiv_ids_in, dois_in
from assayer.text.tex import strip_tex

_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_ENTRY = re.compile(r"^\s{0,8}@[A-Za-z]{3,20}\s{0,3}[{(]\s{0,3}[^\s,{}]{1,200}\s{0,3},", re.MULTILINE)
_BEGINNING = re.compile(r"^[^\S\n]*(?=@[A-Za-z]{1,40}\s{0,9}[{(])", re.MULTILINE)
_OPENING = re.compile(r"@(?P<kind>[A-Za-z]{1,40})\s{0,9}(?P<bracket>[{(])")
_KEY = re.compile(r"(?P<key>[^,={}]*+)(?:,|(?=\}))")
_BETWEEN = re.compile(r"[\s,]*(?:%[^\n]*[\s,]*)*")
_NAME = re.compile(r"(?P<name>[^,={}()\"#]{1,80}?)\s*=\s*")
_BARE = {"}": re.compile(r"[^,#}\n]*"), ")": re.compile(r"[^,#)\n]*")}
_NEXT_PART = re.compile(r"\s*#\s*")
_BRACKETS = re.compile(r"\\.|[{}\"]", re.DOTALL)
AMSREFS = re.compile(r"\\bib\s*\{(?P<key>[^{}\s]{1,200})\}\s*\{(?P<type>\w{3,20})\}\s*\{")
"""Pattern for the beginning of an entry of the LaTeX package amsrefs."""
_AMSREFS_AUTHOR = re.compile(r"\b(?P<field>author|editor)\s*=\s*\{(?P<name>(?:[^{}]|\{[^{}]*\})*)\}\s*,?")
_AND = re.compile(r"\s+and\s+(?![^{]*\})", re.IGNORECASE)
VENUES = ("journal", "journaltitle", "booktitle", "publisher")
"""Fields that name the venue in which a work appeared."""
_OTHERS = ("others", "et al", "et al.")
_MAX_CHARS = 5_000_000
_SHOWN = 80


class BibtexEntries(NamedTuple):
    works: Mapping[str, CitedWork]
    """Works keyed by citation key, in file order."""
    fields: Mapping[str, Mapping[str, str]]
    """Fields of each entry as plain text, keyed by lower-case name; `entrytype` is the kind of the entry."""
    unread: tuple[str, ...]
    """Beginnings of entries that could not be parsed."""


def has_bibtex_entry(text: str) -> bool:
    """Return whether a text contains a BibTeX entry."""
    return _ENTRY.search(text) is not None


def amsrefs_as_bibtex(text: str) -> str:
    """Convert the amsrefs entries in a text to BibTeX: the key moves inside the braces, and the authors share one
    field."""
    parts = AMSREFS.split(text)
    written = [parts[0]]
    for key, kind, body in zip(parts[1::3], parts[2::3], parts[3::3], strict=True):
        names: dict[str, list[str]] = {}
        for match in _AMSREFS_AUTHOR.finditer(body):
            names.setdefault(match["field"], []).append(match["name"])
        listed = "".join(f"{field}={{{' and '.join(people)}}},\n" for field, people in names.items())
        written.append(f"\n@{kind}{{{key},\n{listed}{_AMSREFS_AUTHOR.sub('', body)}")
    return "".join(written)


def read_bibtex(text: str) -> BibtexEntries:
    """Read BibTeX entries. Text around them is ignored; a broken entry does not affect the others. If several entries
    have the same key, the first is kept."""
    works: dict[str, CitedWork] = {}
    fields: dict[str, Mapping[str, str]] = {}
    unread: list[str] = []
    for number, entry in enumerate(_entries(text[:_MAX_CHARS]), 1):
        if isinstance(entry, str):
            unread.append(" ".join(entry.split())[:_SHOWN])
            continue
        key = entry.key or f"entry-{number}"
        if key in works:
            continue
        fields[key] = {name: strip_tex(value) for name, value in entry.fields.items()} | {"entrytype": entry.kind}
        works[key] = _work(entry.fields, fields[key])
    return BibtexEntries(works, fields, tuple(unread))


class _Entry(NamedTuple):
    kind: str
    key: str
    fields: Mapping[str, str]
    """Fields as written, keyed by lower-case name; of several fields with one name, the first is kept."""


def _entries(text: str) -> Iterator[_Entry | str]:
    """Yield the entries, and the raw text of broken ones. Every entry that begins on its own line is parsed separately,
    so that an unclosed brace breaks only one entry."""
    macros: dict[str, str] = {}
    for part in _BEGINNING.split(text)[1:]:
        position = 0
        while opening := _OPENING.search(part, position):
            kind, inside = opening["kind"].lower(), opening.end()
            if kind in ("comment", "preamble"):
                position = _closed(part, inside - 1) or len(part)
                continue
            key = None if kind == "string" else _KEY.match(part, inside)
            closing = "}" if opening["bracket"] == "{" else ")"
            fields: dict[str, str] = {}
            end = _read_fields(part, key.end() if key else inside, closing, macros, fields)
            if end is None:
                yield part[opening.start() :]
                break
            position = end
            if kind == "string":
                macros |= fields
            else:
                yield _Entry(kind, key["key"].strip() if key else "", fields)


def _read_fields(
    text: str, position: int, closing: str, macros: Mapping[str, str], fields: dict[str, str]
) -> int | None:
    """Add the fields from a position on. Returns the position after the closing bracket, or None if there is none."""
    while not text.startswith(closing, position := _find_end(_BETWEEN, text, position)):
        name = _NAME.match(text, position)
        parts: list[str] = []
        end = None if name is None else _read_value(text, name.end(), closing, macros, parts)
        if name is None or end is None:
            return None
        position = end
        fields.setdefault(name["name"].casefold(), "".join(parts))
    return position + 1


def _read_value(text: str, position: int, closing: str, macros: Mapping[str, str], parts: list[str]) -> int | None:
    """Add the parts of a value, joined by `#`. Returns the position after it, or None if a part is not closed."""
    while True:
        if text.startswith(("{", '"'), position):
            end = _closed(text, position)
            if end is None:
                return None
            parts.append(text[position + 1 : end - 1])
        else:
            end = _find_end(_BARE[closing], text, position)
            bare = text[position:end].strip()
            parts.append(macros.get(bare.casefold(), bare))
        following = _NEXT_PART.match(text, end)
        if following is None:
            return end
        position = following.end()


def _find_end(pattern: re.Pattern[str], text: str, position: int) -> int:
    """Return where the pattern's match at the position ends; the position itself if there is no match."""
    match = pattern.match(text, position)
    return match.end() if match else position


def _closed(text: str, start: int) -> int | None:
    """Return the position after the braces or quotation marks that open at `start`; None if they are not closed."""
    quoted, depth = text[start] == '"', 0
    for mark in _BRACKETS.finditer(text, start + quoted):
        depth += {"{": 1, "}": -1}.get(mark[0], 0)
        if not depth and mark[0] == ('"' if quoted else "}"):
            return mark.end()
    return None


def _work(raw: Mapping[str, str], plain: Mapping[str, str]) -> CitedWork:
    year = _YEAR.search(plain.get("year", "")) or _YEAR.search(plain.get("date", ""))
    addresses = " ".join(plain.get(name, "") for name in ("url", "howpublished", "note", "journal"))
    authors = parse_bibtex_names(raw.get("author") or raw.get("editor") or "")
    eprint = plain.get("eprint", "")
    identified = f"{plain.get('doi', '')} {addresses}".replace("\\_", "_")
    work = CitedWork(
        title=plain.get("title", "").rstrip("."),
        authors=authors,
        year=int(year[1]) if year else None,
        doi=next(dois_in(identified), ""),
        arxiv=arxiv_id(eprint) or next(arxiv_ids_in(f"arXiv:{eprint} {addresses}"), ""),
    )
    venue = next((plain[name] for name in VENUES if plain.get(name)), "")
    return work.model_copy(update={"raw": format_work(work, venue)})


def format_work(work: CitedWork, venue: str) -> str:
    """Return a work as a reference entry for human readers."""
    identifier = f"doi:{work.doi}" if work.doi else f"arXiv:{work.arxiv}" if work.arxiv else ""
    parts = ("; ".join(work.authors), work.title, venue, str(work.year or ""), identifier)
    return ". ".join(part.rstrip(".") for part in parts if part) + "."


def parse_bibtex_names(field: str) -> tuple[str, ...]:
    """Return the names of an `author` field, each with the family name last as in running text."""
    names = (strip_tex(name) for name in _AND.split(" ".join(field.split())))
    return tuple(_put_given_name_first(name) for name in names if name and name.casefold() not in _OTHERS)


def _put_given_name_first(name: str) -> str:
    """Turn `Family, Given` and `Family, Jr, Given` into `Given Family`."""
    parts = [part.strip() for part in name.split(",")]
    if len(parts) == 1 or not parts[-1]:
        return name
    return " ".join((parts[-1], *parts[:-1]))
