"""Parse a list of references in plain text, Markdown or BibTeX into works."""

import re

from assayer.models import CitedWork
from assayer.reference_lists.bibliography_files import has_tagged_entries, read_bibliography
from assayer.reference_lists.bibtex import has_bibtex_entry, read_bibtex
from assayer.reference_lists.entry_fields import fields_of
from assayer.reference_lists.entry_names import authors_in
from assayer.reference_lists.entry_shape import begins_with_names, is_published, year_of
from assayer.reference_lists.entry_splitting import split_entries
from assayer.reference_lists.entry_title import EntryFields
from assayer.reference_lists.identifiers import ADDRESS, arxiv_ids_in, dois_in, rejoin_identifiers
from assayer.reference_lists.title_first import names_after_title
from assayer.text.sanitise import clean_text

_MAX_ENTRIES = 2_000
_MAX_LIST_CHARS = 400_000
"""Maximum characters that are parsed."""
_MAX_ENTRY_CHARS = 1_500
"""Maximum characters of an entry; a longer entry was not split correctly, and only its identifiers are kept."""
_MAX_READ_CHARS = 4_000
"""Maximum characters of an entry in which identifiers are looked for."""
_LINK = re.compile(
    r"\[(?P<words>[^\[\]]{1,400})\]\(<?(?P<address>[^()\s<>]{1,400}(?:\([^()\s]{0,80}\)[^()\s<>]{0,80}){0,3})>?\)"
)
_EMPHASIS = re.compile(r"\*{1,3}|(?<!\w)_{1,3}(?=\S)|(?<=[^\s_])_{1,3}(?!\w)|`")
_STRONG_FIRST = re.compile(r"\*\*(?P<words>[^*\[\]]{10,300}[^*\[\]\s])\*\*")
"""Title in bold type at the beginning of an entry."""
_LINKED_WORDS = 3
"""Minimum number of words in a link text that is taken as the paper's title; a shorter link only points to the paper.
"""
_ARXIV_AND_YEAR = re.compile(r"arxiv:\S+\s*\((?:19|20)\d\d\)[.,]?\s*$", re.IGNORECASE)
_SAME_NAMES = re.compile(r"^[—―–_-]{2,}[.,]?\s*")
"""Dashes that stand for the authors of the previous entry."""


def parse_references(text: str) -> tuple[CitedWork, ...]:
    """Return a work for each entry that can be separated from its neighbours. `raw` holds the whole entry; other fields
    are filled if they are recognised."""
    text = text[:_MAX_LIST_CHARS]
    if has_bibtex_entry(text) and (works := tuple(read_bibtex(text).works.values())):
        return works
    if has_tagged_entries(text) and (
        works := tuple(entry.work for entry in read_bibliography(text, "the list").entries)
    ):
        return works
    found: list[CitedWork] = []
    for entry in split_entries(text)[:_MAX_ENTRIES]:
        above = found[-1].authors if found else ()
        work = parse_entry(entry.text, above).model_copy(update={"number": entry.number})
        if work.raw:
            found.append(work)
    return tuple(found)


def parse_entry(entry: str, above: tuple[str, ...] = ()) -> CitedWork:
    """Return the work described by an entry. `above` are the authors of the previous entry, for which dashes may
    stand."""
    entry = rejoin_identifiers(entry[:_MAX_READ_CHARS])
    linked = _LINK.search(entry)
    addresses = dict.fromkeys(match["address"] for match in _LINK.finditer(entry) if match["address"] != match["words"])
    strong = _STRONG_FIRST.match(entry)
    entry = _EMPHASIS.sub("", " ".join([_LINK.sub(r"\g<words>", entry), *addresses]))
    same = _SAME_NAMES.match(entry) if above else None
    named = entry[same.end() :] if same else entry
    plain = ADDRESS.sub("", _ARXIV_AND_YEAR.sub("", named))
    fields = EntryFields()
    if len(entry) <= _MAX_ENTRY_CHARS:
        fields = fields_of(f"{above[0]}. {plain.lstrip(' ,')}" if same else plain)
    if same:
        fields = fields._replace(authors=_resolve_dashes(plain, above, fields.authors))
    if strong and len(strong["words"].split()) >= _LINKED_WORDS:
        people = names_after_title(entry[len(strong["words"]) :].lstrip(" .,:–—-"))
        if people or not begins_with_names(strong["words"]):
            fields = EntryFields(people, strong["words"].strip(" .,"))
    if linked and len(linked["words"].split()) >= _LINKED_WORDS and not is_published(linked["words"]):
        fields = fields._replace(title=_EMPHASIS.sub("", linked["words"]).strip(" .,"))
    year = year_of(entry)
    return CitedWork(
        title=clean_text(fields.title.removeprefix(f"{year} ") if entry.count(str(year)) == 1 else fields.title),
        authors=tuple(map(clean_text, fields.authors)),
        year=year,
        doi=next(dois_in(entry), ""),
        arxiv=next(arxiv_ids_in(entry), ""),
        raw=clean_text(entry[:_MAX_ENTRY_CHARS]),
    )


def _resolve_dashes(entry: str, above: tuple[str, ...], otherwise: tuple[str, ...]) -> tuple[str, ...]:
    """Return the authors of an entry that begins with dashes. If the entry adds authors, these are the previous entry's
    first author and the added ones; otherwise they are all authors of the previous entry."""
    added = re.match(r"(?:and|&) (?P<names>[^\d]{3,200}?)[.,] \(?(?:1[5-9]|20)\d\d", entry)
    return (above[0], *authors_in(added["names"])) if added else (above or otherwise)
