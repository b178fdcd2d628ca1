"""Document as parsed by its reader, and the record of the parts that were read.

Every reader returns a `Document`, which `assayer.ideas.parsing.idea_of_document` converts to an `Idea`. Later steps do
not look at the document again."""

from typing import Literal

from assayer.models.base import Frozen
from assayer.models.cited_work import CitedWork
from assayer.models.section import Section

ReferencesReader = Literal["grobid", "bibtex", "text"]
"""Reader that separated the entries of a list: GROBID, the fields of a BibTeX file, or assayer itself from printed
text."""


class FrontMatterField(Frozen):
    """Field above the text that is not part of it, such as `author` in the YAML block of a Markdown file."""

    name: str
    value: str


class Note(Frozen):
    """Footnote or endnote, to which the text refers by `[^mark]`. It is placed after the paragraph that refers to it,
    or at the end of the text if no paragraph does."""

    mark: str
    text: str


class LeftOut(Frozen):
    """Part of a document that was not read, with the reason."""

    part: str
    """Description of the part in a few words: `the field "Risk Factors"`, `2 of 9 pages`."""
    why: str


class Document(Frozen):
    """Document in reading order, as parsed by its reader; not yet sanitised."""

    title: str = ""
    """Title specified by the format itself; empty if there is none."""
    front_matter: tuple[FrontMatterField, ...] = ()
    sections: tuple[Section, ...] = ()
    """Sections in order, with paragraphs separated by blank lines. Each row of a table is a line with cells separated
    by ` | `. A section titled `assayer.ideas.parsing.UNTITLED` has no heading of its own."""
    notes: tuple[Note, ...] = ()
    tables: int = 0
    """Number of tables among the paragraphs."""
    references: tuple[CitedWork, ...] = ()
    """Entries that the format itself separates, such as those of a `.bib` file. If there are none, the list is searched
    for in the sections and removed from them."""
    references_reader: ReferencesReader = "text"
    left_out: tuple[LeftOut, ...] = ()


class ReadSection(Frozen):
    """Title, kind and length of a section that was read."""

    title: str
    kind: str
    """Part of a paper or proposal that the title indicates, such as `methods`; empty if it indicates none."""
    words: int


class ReadingRecord(Frozen):
    """Record of the parts of a document that were read."""

    title: str
    front_matter: tuple[str, ...] = ()
    """Names of the front matter fields above the text."""
    sections: tuple[ReadSection, ...] = ()
    notes: int = 0
    tables: int = 0
    references: int = 0
    """Number of entries in the reference list."""
    citation_marks: int = 0
    """Number of marks in the text that refer to a reference list, such as `[3]` or `(Lee, 2019)`."""
    languages: tuple[str, ...] = ()
    left_out: tuple[LeftOut, ...] = ()
