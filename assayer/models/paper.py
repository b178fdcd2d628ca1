"""Papers, what can be read of them, what a search is limited to, and what it found."""

import datetime as dt
from typing import Literal, NewType

from pydantic import Field

from assayer.models.base import Frozen
from assayer.models.cited_work import CitedWork
from assayer.models.idea import Section, TextFlag
from assayer.models.window import OPEN, Window

__all__ = ["Filters"]


PaperId = NewType("PaperId", str)


class Identifiers(Frozen):
    """What others call a paper, each in its normal form (see `assayer.literature.paper_identity`); empty where none is
    known."""

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


class PreprintVersions(Frozen):
    """What its server tells of a preprint's versions: the day of the first, and the newest with its day."""

    first: dt.date
    newest: int = Field(ge=1)
    newest_day: dt.date


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
    versions: PreprintVersions | None = None
    """Of the preprint that `identifiers.arxiv` names; None where no source told."""
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
    near_beyond_corpus: bool = False
    """As of a Hit."""
    cites: tuple[PaperId, ...] = ()
    """Papers that this passage refers to, where the source knows."""


class Hit(Frozen):
    """A paper that answers a query."""

    paper: Paper
    similarity: float
    """Cosine of query and paper, −1 to 1."""
    near_beyond_corpus: bool = False
    """Near enough to be an answer, and only a source beyond the local corpus returned its paper for this query."""


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
    within_window: bool = False
    """Whether the paper is known to have had this text in the days that were asked for."""


FitLevel = Literal["good", "partial", "poor"]
"""How well the corpus covers the field of an idea."""


class CorpusFit(Frozen):
    """Does the corpus cover the idea's field? Without that, silence of the corpus means nothing."""

    level: FitLevel
    value: float
    """The number behind the level; higher is better covered."""
    criterion: str
    """What `value` measures and where the two thresholds lie, in words."""


class Filters(Frozen):
    """All must hold. Names are compared without regard to case."""

    window: Window = OPEN
    """Undated papers count unless it has a last day."""
    venues: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    """Of study; a paper of one of them counts."""
    retracted: bool | None = None
    """None: both kinds count."""
    without: frozenset[PaperId] = frozenset()

    @property
    def only_before(self) -> bool:
        """Nothing but a cutoff, if that."""
        return self == Filters(window=Window.until(self.window.before))
