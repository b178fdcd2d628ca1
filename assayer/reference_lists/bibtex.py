"""References in BibTeX: the entries of a `.bib` file, of an export from Zotero or Mendeley, or of a block in a text."""

import logging
import re
from collections.abc import Iterator, Mapping
from typing import TYPE_CHECKING, NamedTuple

from assayer.literature.paper_identity import arxiv_id
from assayer.models import CitedWork
from assayer.reference_lists.identifiers import arxiv_ids_in, dois_in
from assayer.text.tex import plain_tex

if TYPE_CHECKING:
    from bibtexparser.model import Entry

_YEAR = re.compile(r"(?<!\d)(1[5-9]\d\d|20\d\d)(?!\d)")
_ENTRY = re.compile(r"^\s{0,8}@[A-Za-z]{3,20}\s{0,3}[{(]\s{0,3}[^\s,{}]{1,200}\s{0,3},", re.MULTILINE)
AMSREFS = re.compile(r"\\bib\s*\{(?P<key>[^{}\s]{1,200})\}\s*\{(?P<type>\w{3,20})\}\s*\{")
"""Beginning of an entry of the LaTeX package amsrefs."""
_AMSREFS_AUTHOR = re.compile(r"\b(?P<field>author|editor)\s*=\s*\{(?P<name>(?:[^{}]|\{[^{}]*\})*)\}\s*,?")
_AND = re.compile(r"\s+and\s+(?![^{]*\})", re.IGNORECASE)
VENUES = ("journal", "journaltitle", "booktitle", "publisher")
"""Fields that name where a work appeared."""
_OTHERS = ("others", "et al", "et al.")
_LONGEST = 5_000_000
_SHOWN = 80


class BibtexEntries(NamedTuple):
    works: Mapping[str, CitedWork]
    """Works keyed by citation key, in file order."""
    fields: Mapping[str, Mapping[str, str]]
    """Fields of each entry as plain text, keyed by lower-case name; `entrytype` is the kind of the entry."""
    unread: tuple[str, ...]
    """Beginnings of entries that are broken."""


def holds_bibtex(text: str) -> bool:
    """Return whether a text contains a BibTeX entry."""
    return _ENTRY.search(text) is not None


def amsrefs_as_bibtex(text: str) -> str:
    """Return a text with the entries of amsrefs written as BibTeX: the key inside the braces, one field for all
    authors."""
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
    for block in _blocks(text[:_LONGEST]):
        if isinstance(block, str):
            unread.append(" ".join(block.split())[:_SHOWN])
            continue
        raw = {field.key.casefold(): str(field.value) for field in reversed(block.fields)}
        if block.key in works:
            continue
        fields[block.key] = {name: plain_tex(value) for name, value in raw.items()} | {"entrytype": block.entry_type}
        works[block.key] = _work(raw, fields[block.key])
    return BibtexEntries(works, fields, tuple(unread))


def _blocks(text: str) -> Iterator["Entry | str"]:
    """Yield the parsed entries, and the raw text of broken ones."""
    from bibtexparser.entrypoint import parse_string
    from bibtexparser.model import Block, DuplicateBlockKeyBlock, DuplicateFieldKeyBlock, Entry, ParsingFailedBlock

    logging.getLogger("bibtexparser").setLevel(logging.CRITICAL)
    for block in parse_string(text).blocks:
        inner: Block | None = block
        while isinstance(inner, DuplicateBlockKeyBlock | DuplicateFieldKeyBlock):
            inner = inner.ignore_error_block
        if isinstance(inner, Entry):
            yield inner
        elif isinstance(inner, ParsingFailedBlock):
            yield inner.raw or ""


def _work(raw: Mapping[str, str], plain: Mapping[str, str]) -> CitedWork:
    year = _YEAR.search(plain.get("year", "")) or _YEAR.search(plain.get("date", ""))
    addresses = " ".join(plain.get(name, "") for name in ("url", "howpublished", "note", "journal"))
    authors = names_in_bibtex(raw.get("author") or raw.get("editor") or "")
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
    return work.model_copy(update={"raw": printed(work, venue)})


def printed(work: CitedWork, venue: str) -> str:
    """Return a work as a reference entry for human readers."""
    identifier = f"doi:{work.doi}" if work.doi else f"arXiv:{work.arxiv}" if work.arxiv else ""
    parts = ("; ".join(work.authors), work.title, venue, str(work.year or ""), identifier)
    return ". ".join(part.rstrip(".") for part in parts if part) + "."


def names_in_bibtex(field: str) -> tuple[str, ...]:
    """Return the names of an `author` field, each with the family name last as in running text."""
    names = (plain_tex(name) for name in _AND.split(" ".join(field.split())))
    return tuple(_in_order(name) for name in names if name and name.casefold() not in _OTHERS)


def _in_order(name: str) -> str:
    """Turn `Family, Given` and `Family, Jr, Given` into `Given Family`."""
    parts = [part.strip() for part in name.split(",")]
    if len(parts) == 1 or not parts[-1]:
        return name
    return " ".join((parts[-1], *parts[:-1]))
