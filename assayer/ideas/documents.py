"""Insert a document's notes where the text refers to them, and record which parts of the document were read."""

import re
from collections.abc import Iterable, Iterator
from functools import lru_cache

from assayer.models import Document, Note, ReadingRecord, ReadSection, Section
from assayer.reference_lists.citation_marks import NOTE, count_citation_marks
from assayer.reference_lists.list_titles import list_title
from assayer.text.languages import languages_of
from assayer.text.scripts import normalise_words
from assayer.text.section_titles import part_of, proposal_part_of

_MARKDOWN_TABLE = re.compile(r"^[ \t]*\|?[ \t]*:?-{2,}:?[ \t]*(?:\|[ \t]*:?-{2,}:?[ \t]*){1,40}\|?[ \t]*$", re.M)
"""Line between the header and the rows of a table in Markdown."""


def insert_notes(document: Document) -> Iterator[Section]:
    """Yield the sections, each note inserted after the first paragraph that refers to it. Other notes follow the last
    section that is not a reference list."""
    left = {note.mark: note for note in document.notes}
    texts = [number for number, section in enumerate(document.sections) if list_title(section.title) != "certain"]
    last = texts[-1] if texts else -1
    for number, section in enumerate(document.sections):
        paragraphs: list[str] = []
        for paragraph in section.text.split("\n\n"):
            referred = [mark for mark in left if f"[^{mark}]" in paragraph]
            paragraphs += [paragraph, *(_format_note(left.pop(mark)) for mark in referred)]
        if number == last:
            paragraphs += [_format_note(note) for note in left.values()]
        yield section.model_copy(update={"text": "\n\n".join(paragraphs)})


def _format_note(note: Note) -> str:
    return f"[^{note.mark}]: {note.text}"


def read_sections(sections: Iterable[Section]) -> tuple[ReadSection, ...]:
    """Return titles, kinds and lengths of sections."""
    return tuple(_read_section(section.title, len(normalise_words(section.text))) for section in sections)


@lru_cache(maxsize=4_096)
def _read_section(title: str, words: int) -> ReadSection:
    return ReadSection(title=title, kind=proposal_part_of(title) or part_of(title) or "", words=words)


def build_reading_record(document: Document, title: str, text: str, references: int) -> ReadingRecord:
    """Return the record of what was read from a document; `text` is the part of it that is judged."""
    return ReadingRecord(
        title=title,
        front_matter=tuple(field.name for field in document.front_matter),
        sections=read_sections(document.sections),
        notes=len(document.notes) or len(NOTE.findall(text)),
        tables=document.tables or len(_MARKDOWN_TABLE.findall(text)),
        references=references,
        citation_marks=count_citation_marks(text),
        languages=languages_of(text),
        unread_parts=document.left_out,
    )
