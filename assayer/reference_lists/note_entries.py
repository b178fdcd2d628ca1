"""Find the footnotes and endnotes that are citations rather than remarks: they are entries of the reference list."""

import re
from collections.abc import Iterable, Iterator
from itertools import count, islice
from typing import NamedTuple

from assayer.models import CitedWork
from assayer.reference_lists.entry_fields import fields_of
from assayer.reference_lists.entry_parser import parse_entry
from assayer.reference_lists.entry_shape import (
    begins_with_names,
    has_year_or_link,
    is_organisation,
    is_prose,
    is_published,
    is_web_page,
    reads_like_entry,
)
from assayer.reference_lists.identifiers import ADDRESS, arxiv_ids_in, dois_in
from assayer.reference_lists.list_removal import SplitText, cut_spans

_MAX_NOTE_CHARS = 4_000
"""Maximum characters of a note that may be citations."""
_MAX_ENTRY_CHARS = 900
_SEE = (
    r"(?:but |and )?(?:see|cf\.?|compare|e\. ?g\.|for example|for instance|vgl\.|siehe|voir|véase|ver|vedi|zie|см\.)"
    r"(?:,? (?:also|e\. ?g\.|for example|for instance|among others|inter alia|auch|dazu|z\. ?B\.|aussi|par exemple|"
    r"también|também|anche|ook|bv\.))?[,:]?"
)
_LEAD = re.compile(rf"(?:(?:for|on|in|as|about|regarding|zu|sur|sobre)\b[^.;:()\d]{{0,60}}?,? )?{_SEE} ", re.IGNORECASE)
"""Words before a citation: `See also`, `For a review, see`."""
_LATER_LEAD = re.compile(rf"(?<=[.!?;]) (?={_SEE} )", re.IGNORECASE)
_TEXTUAL = re.compile(r"[^()]{2,120}\((?:1[5-9]|20)\d\d[a-z]?(?:, [^()]{1,25})?\),? (?!in\b|pp?\b)[a-z]")
"""Citation within a sentence: `Lee (2019, p. 3) says`."""
_FINITE = re.compile(r"\b(?:is|are|was|were|has|have|can|will|we|our|at|from|see)\b")
_DEFINITION = re.compile(r" {0,3}\[\^(?P<mark>[^\]\s]{1,40})\]:[ \t]*")
_MARK = re.compile(r"\[\^(?P<mark>[^\]\s]{1,40})\]")
_WORD = re.compile(r"\S+")
_INDENTED = re.compile(r"(?: {4}|\t)\S")
_ENDS_NOTE = re.compile(r"[ \t]*$|#{1,6} ")


def split_note(note: str) -> tuple[str, tuple[str, ...]]:
    """Return the remark in a note and the citations after it; either is empty if the note has none."""
    text = " ".join(note.split())
    if len(text) > _MAX_NOTE_CHARS or not has_year_or_link(text):
        return note, ()
    if entries := _entries(text):
        return "", entries
    for lead in _LATER_LEAD.finditer(text):
        if entries := _entries(text[lead.end() :]):
            return text[: lead.start()], entries
    return note, ()


def _entries(text: str) -> tuple[str, ...]:
    """Return the citations, separated by semicolons, of which a text consists; empty if it is anything else."""
    entries: list[str] = []
    for part in _strip_lead(text).split("; "):
        entry = _strip_lead(part)
        if entries and not (_is_entry(entries[-1]) and _is_entry(entry)):
            entries[-1] += f"; {part}"
        else:
            entries.append(entry)
    return tuple(entries) if all(map(_is_entry, entries)) else ()


def _strip_lead(text: str) -> str:
    lead = _LEAD.match(text)
    return text[lead.end() :] if lead else text


def _is_entry(text: str) -> bool:
    if len(text) > _MAX_ENTRY_CHARS or not has_year_or_link(text) or _TEXTUAL.match(text):
        return False
    address = ADDRESS.fullmatch(text.rstrip("."))
    if address is not None:
        return any(dois_in(text)) or any(arxiv_ids_in(text))
    if is_web_page(text):
        return text[:1].isupper() and _FINITE.search(ADDRESS.split(text)[0]) is None
    if not is_published(text) or is_prose(text):
        return False
    begins = reads_like_entry(text) or begins_with_names(text)
    return (begins and bool(fields_of(text).title)) or is_organisation(text.partition(", ")[0])


class NoteEntry(NamedTuple):
    mark: str
    """Mark by which the text refers to the note."""
    text: str
    work: CitedWork


def parse_note_entries(mark: str, citations: Iterable[str]) -> Iterator[NoteEntry]:
    """Yield the entries in a note; its mark is their number."""
    for citation in citations:
        number = int(mark) if mark.isdecimal() and len(mark) < 5 else None
        yield NoteEntry(mark, citation, parse_entry(citation).model_copy(update={"number": number}))


class _Definition(NamedTuple):
    start: int
    end: int
    """Offset after the note, without its last line end."""
    mark: str
    text: str
    """Text of the note with its line ends."""


def _definitions(text: str) -> Iterator[_Definition]:
    """Yield the notes written as `[^mark]: …`, with their further lines and indented paragraphs."""
    lines, offset = text.split("\n"), 0
    definition: _Definition | None = None
    is_open = False
    for line in lines:
        end = offset + len(line)
        if match := _DEFINITION.match(line):
            yield from [definition] if definition else []
            definition, is_open = _Definition(offset, end, match["mark"], line[match.end() :]), True
        elif definition and ((is_open and not _ENDS_NOTE.match(line)) or _INDENTED.match(line)):
            definition, is_open = definition._replace(end=end, text=f"{definition.text}\n{line}"), True
        elif line.strip():
            yield from [definition] if definition else []
            definition = None
        else:
            is_open = False
        offset = end + 1
    yield from [definition] if definition else []


def number_notes(text: str) -> str:
    """Return the text with notes numbered in order of appearance, if they have names and one of them is a citation."""
    notes = list(_definitions(text)) if "[^" in text else []
    if all(note.mark.isdecimal() for note in notes) or not any(split_note(note.text)[1] for note in notes):
        return text
    known = {note.mark for note in notes}
    numbers = count(1)
    order = {mark: str(next(numbers)) for mark in dict.fromkeys(_MARK.findall(text)) if mark in known}
    return _MARK.sub(lambda match: f"[^{order.get(match['mark'], match['mark'])}]", text)


def _end_of_remark(text: str, note: _Definition, words: int) -> int:
    """Return where the first words of a note, its remark, end; where the note begins if there are none."""
    if not words:
        return note.start
    start = note.end - len(note.text) if note.text in text[note.start : note.end] else note.start
    return next(islice(_WORD.finditer(text, start, note.end), words - 1, None)).end()


def extract_note_entries(text: str) -> tuple[SplitText, list[NoteEntry]]:
    """Return a Markdown text without the citations in its notes, and these citations. Labels and remarks stay."""
    spans, entries = list[tuple[int, int]](), list[NoteEntry]()
    for note in _definitions(text) if "[^" in text else ():
        remark, citations = split_note(note.text)
        entries += parse_note_entries(note.mark, citations)
        if citations:
            spans.append((_end_of_remark(text, note, len(remark.split())), note.end))
    return cut_spans(text, spans), entries
