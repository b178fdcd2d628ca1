"""Parsed document, its sections and cited works, and a record of the parts that were read.

The reader of each file format returns a `Document`, which `assayer.ideas.parsing.idea_of_document` converts to an
`Idea`. Later steps use only the idea."""

from typing import Literal

from assayer.models.base import Frozen


class CitedWork(Frozen):
    """Entry in a reference list, split into the fields that the parser recognised."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    arxiv: str = ""
    raw: str = ""
    """Entry as printed; empty if the parser did not keep it."""
    number: int | None = None
    """Number of the entry in its list; None if the list has no numbers or the parser did not keep it."""


class Section(Frozen):
    """Titled section of an idea, a document or a paper."""

    title: str
    text: str


ReferencesReader = Literal["grobid", "bibtex", "text"]
"""Parser that split a reference list into entries: GROBID, the fields in a BibTeX file, or assayer's own parser of
printed text."""


class FrontMatterField(Frozen):
    """Field above the text but not part of it, such as `author` in a Markdown file's YAML block."""

    name: str
    value: str


class Note(Frozen):
    """Footnote or endnote. The text refers to it by `[^mark]`. It is placed after the paragraph that refers to it, or
    at the end of the text if no paragraph does."""

    mark: str
    text: str


class UnreadPart(Frozen):
    """Part of a document that was not read, with the reason."""

    part: str
    """Description of the part in a few words: `the field "Risk Factors"`, `2 of 9 pages`."""
    reason: str


class Document(Frozen):
    """Parsed document in reading order, not yet sanitised."""

    title: str = ""
    """Title from the file format's own title field; empty if there is none."""
    front_matter: tuple[FrontMatterField, ...] = ()
    sections: tuple[Section, ...] = ()
    """Sections in order, with paragraphs separated by blank lines. Each table row is a line with cells separated by
    ` | `. A section without a heading is titled `assayer.ideas.parsing.UNTITLED`."""
    notes: tuple[Note, ...] = ()
    tables: int = 0
    """Number of tables among the paragraphs."""
    references: tuple[CitedWork, ...] = ()
    """Reference entries that the file format itself separates, as a `.bib` file does. If there are none, the reference
    list is later searched for in the sections and removed from them."""
    references_reader: ReferencesReader = "text"
    left_out: tuple[UnreadPart, ...] = ()


class ReadSection(Frozen):
    """Title, kind and length of a section that was read."""

    title: str
    kind: str
    """Kind of section that the title indicates, such as `methods`; empty if it indicates none."""
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
    """Number of citation marks in the text, such as `[3]` or `(Lee, 2019)`."""
    languages: tuple[str, ...] = ()
    unread_parts: tuple[UnreadPart, ...] = ()
