"""Papers, what can be read of them, and what a search found."""

import datetime as dt
from typing import Literal, NewType

from assayer.models.base import Frozen
from assayer.models.idea import Section, TextFlag

PaperId = NewType("PaperId", str)


class Identifiers(Frozen):
    """What others call a paper, each in its normal form (`assayer.identity`); empty where nobody said."""

    doi: str = ""
    arxiv: str = ""
    """Without version: `2401.01234`, `cs/0112017`."""
    s2: str = ""
    """Semantic Scholar's paper id, 40 hex digits."""
    openalex: str = ""
    """`W2741809807`."""
    pubmed: str = ""
    pmc: str = ""
    """`PMC1234567`."""
    acl: str = ""
    """`2020.acl-main.1`, `P18-1001`."""
    openreview: str = ""


class Retraction(Frozen):
    """A notice that a paper no longer stands as published."""

    kind: Literal["retracted", "withdrawn", "concern"]
    source: str
    """Who said so: `crossref`, `arxiv`, `openalex`, …"""
    notice: str = ""
    """URL or DOI of the notice, from the source's own record."""
    date: dt.date | None = None


class FieldOrigin(Frozen):
    """Whose word a field of a merged record is."""

    field: str
    source: str


class Paper(Frozen):
    """Bibliographic record with abstract."""

    id: PaperId
    title: str
    abstract: str
    authors: tuple[str, ...] = ()
    publication_date: dt.date | None = None
    """Last day of the period when the source knows only a month or a year."""
    venue: str = ""
    url: str = ""
    """From the source's own record; empty when it has none. Never from an LLM."""
    citation_count: int | None = None
    """None when the source does not know."""
    source: str
    """Which source's record this is: `corpus`, `semantic_scholar`, …; of a merged record the one that named it."""
    identifiers: Identifiers = Identifiers()
    retraction: Retraction | None = None
    pdf_urls: tuple[str, ...] = ()
    """Where sources say that a free copy lies. Not yet checked: only the guarded downloader may follow them."""
    origins: tuple[FieldOrigin, ...] = ()
    """Of a merged record: the fields that did not come from `source`, in their order."""


class Passage(Frozen):
    """A stretch of a paper that answers a query."""

    paper: Paper
    section: str
    """`title`, `abstract`, or the heading of the section it stands in."""
    text: str
    similarity: float
    """Cosine of query and passage, −1 to 1."""
    cites: tuple[PaperId, ...] = ()
    """Papers that this passage refers to, where the source knows."""


class Hit(Frozen):
    """A paper that answers a query."""

    paper: Paper
    similarity: float
    """Cosine of query and paper, −1 to 1."""


class CitedWork(Frozen):
    """An entry of a paper's list of references, as far as its parser could take it apart."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    arxiv: str = ""
    raw: str = ""
    """The entry as it is printed; empty when the parser did not keep it."""


class Caption(Frozen):
    """What stands under a figure or over a table."""

    kind: Literal["figure", "table"]
    label: str
    """As printed: `2`, `A.1`, `S3`."""
    text: str


class FullText(Frozen):
    """The body of a paper, by section."""

    paper_id: PaperId
    sections: tuple[Section, ...]
    parser: Literal["corpus", "grobid", "pypdfium2"]
    """Who found the sections. `pypdfium2` guesses headings from type, and references and captions from their form."""
    references: tuple[CitedWork, ...] = ()
    captions: tuple[Caption, ...] = ()
    flags: tuple[TextFlag, ...] = ()
    """Text that nobody can see, which the parser left out. Sections are not sanitised yet."""


class CorpusFit(Frozen):
    """Does the corpus cover the idea's field? Without that, silence of the corpus means nothing."""

    level: Literal["good", "partial", "poor"]
    value: float
    """The number behind the level; higher is better covered."""
    criterion: str
    """What `value` measures and where the two thresholds lie, in words."""
