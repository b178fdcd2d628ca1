"""Document as its reader understood it, and the record of the parts that were read.

Every reader returns a `Document`; `assayer.ideas.parsing.idea_of_document` turns it into an `Idea`. Nothing behind that
looks at the document again.
"""

from typing import Literal

from assayer.models.base import Frozen
from assayer.models.cited_work import CitedWork
from assayer.models.section import Section

ReferencesReader = Literal["grobid", "bibtex", "text"]
"""Reader that told the entries of a list apart: GROBID, the fields of a BibTeX file, or assayer from printed text."""


class FrontMatterField(Frozen):
    """Field above the text that is not part of it, such as `author` in the YAML block of a Markdown file."""

    name: str
    value: str


class Note(Frozen):
    """Footnote or endnote. The text refers to it by `[^mark]`, where it is put after the paragraph that refers to it;
    a note that no paragraph refers to is put at the end of the text."""

    mark: str
    text: str


class LeftOut(Frozen):
    """Part of a document that was not read, and why."""

    part: str
    """The part in a few words: `the field "Risk Factors"`, `2 of 9 pages`."""
    why: str


class Document(Frozen):
    """A document in reading order, as its reader understood it; not yet sanitised."""

    title: str = ""
    """Title that the format itself names; empty if it names none."""
    front_matter: tuple[FrontMatterField, ...] = ()
    sections: tuple[Section, ...] = ()
    """Sections in order, paragraphs separated by blank lines. The rows of a table are lines, its cells are separated by
    ` | `. A section titled `assayer.ideas.parsing.UNTITLED` has no heading of its own."""
    notes: tuple[Note, ...] = ()
    tables: int = 0
    """Number of tables among the paragraphs."""
    references: tuple[CitedWork, ...] = ()
    """Entries that the format itself tells apart, such as those of a `.bib` file. If there are none, the list is looked
    for in the sections, and taken out of them."""
    references_reader: ReferencesReader = "text"
    left_out: tuple[LeftOut, ...] = ()


class ReadSection(Frozen):
    """Title, kind and length of a section that was read."""

    title: str
    kind: str
    """Part of a paper or proposal that the title names, such as `methods`; empty if it names none."""
    words: int


class ReadingRecord(Frozen):
    """Record of the parts of a document that were read."""

    title: str
    front_matter: tuple[str, ...] = ()
    """Names of the fields above the text."""
    sections: tuple[ReadSection, ...] = ()
    notes: int = 0
    tables: int = 0
    references: int = 0
    """Entries of the reference list."""
    citation_marks: int = 0
    """Marks in the text that refer to a reference list, such as `[3]` or `(Lee, 2019)`."""
    languages: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
