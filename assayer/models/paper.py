"""Papers, their texts and passages, search filters, and search results."""

import datetime as dt
import re
from typing import Any, Literal

from pydantic import Field, model_validator

from assayer.models.base import Frozen
from assayer.models.document import CitedWork, Section
from assayer.models.window import OPEN, Window
from assayer_client.reports import FieldOrigin, Retraction, TextFlag
from assayer_client.resources import PaperId


class Identifiers(Frozen):
    """External identifiers of a paper, each in its normal form (see `assayer.literature.paper_identity`); empty if
    unknown."""

    doi: str = ""
    arxiv: str = ""
    """ArXiv id without version: `2401.01234`, `cs/0112017`."""
    s2: str = ""
    """Semantic Scholar's paper id, 40 hex digits."""
    openalex: str = ""
    """OpenAlex id: `W2741809807`."""
    pubmed: str = ""
    pmc: str = ""
    """PubMed Central id: `PMC1234567`."""
    acl: str = ""
    """ACL Anthology id: `2020.acl-main.1`, `P18-1001`."""
    openreview: str = ""


class PreprintVersions(Frozen):
    """Versions of a preprint according to its server: the day of the first version, and the number and day of the
    newest version."""

    first: dt.date
    newest: int = Field(ge=1)
    newest_day: dt.date


_RETRACTED = re.compile(
    r"^\W{0,3}(?:article |paper )?(?P<kind>temporary removal"
    r"|retracted and re(?:published|placed)"
    r"|(?:retracted|withdrawn|removed)(?: article| paper| chapter)?"
    r"|art(?:ículo|igo) retrac?tado|article rétracté|(?:notice|statement) of retraction(?: to)?"
    r"|(?:editorial )?retraction(?: note| notice| statement)?(?: to)?"
    r"|withdrawal notice(?: to)?|撤稿(?:声明)?|撤回)(?:\W{0,3}[:：.\])】*–—-]|(?<= to)\s{1,3}[\"“‘'])\W*"
    r"(?:administrative duplicate publication\W+)?"
    r"|^\W{0,3}(?P<notice>notice of retraction\s|retraction for [^,]{3,60},|(?-i:RETRACTED ARTICLE)\s)\W*"
    r"|(?<!\W)\W+[\[(](?P<after>(?:retracted|withdrawn)(?: article)?(?:[.:;,] ?see [^()\[\]]{3,80})?"
    r"|(?:retraction|withdrawal) of vol\b[^()\[\]]{3,80})[\])]\W*$",
    re.IGNORECASE,
)
"""Pattern for a retraction mark before or after a title: `RETRACTED ARTICLE: …`, `[Retracted] …`, `Retraction notice to
“…`, `Retraction for Lee et al., …`, `… [WITHDRAWN]`, `… (Retracted article. See vol. 12, 2015)`."""
_QUOTED_TITLE = re.compile(r"^[^“”\"]*[”\"]\W*(?:\[[^\[\]]{3,120}\])?\.?$")
"""Pattern for the text after a notice's opening quote: the quoted title, and perhaps the notice's own citation."""


def retraction_in_title(title: str) -> Literal["retracted", "withdrawn"] | None:
    """Return the kind of retraction that a title announces, or None. A republished article does not count: it is the
    valid version."""
    match = _RETRACTED.search(title)
    if match is None:
        return None
    kind = (match["kind"] or match["notice"] or match["after"]).casefold()
    if kind.startswith("retracted and"):
        return None
    return "withdrawn" if kind.startswith(("withdraw", "removed", "temporary")) else "retracted"


def title_without_retraction(title: str) -> str:
    """Strip a retraction mark from the start or end of a title."""
    match = _RETRACTED.search(title)
    if match is None:
        return title.strip()
    remaining_title = title[match.end() :] or title[: match.start()]
    return (re.split(r"[”\"]", remaining_title)[0] if _QUOTED_TITLE.match(remaining_title) else remaining_title).strip()


class Paper(Frozen):
    """Bibliographic record with abstract. A title that announces a retraction marks the record as retracted."""

    id: PaperId
    title: str
    abstract: str
    authors: tuple[str, ...] = ()
    publication_date: dt.date | None = None
    """Publication date; the last day of the month or year if the source states no exact day."""
    venue: str = ""
    url: str = ""
    """URL from the source's own record, never from an LLM; empty if the record has none."""
    citation_count: int | None = None
    """Number of citations; None if the source does not know it."""
    source: str
    """Source of the record, such as `corpus` or `semantic_scholar`; for a merged record, the source of its id."""
    identifiers: Identifiers = Identifiers()
    retraction: Retraction | None = None
    pdf_urls: tuple[str, ...] = ()
    """URLs of free copies that the sources state. They are not checked: only the guarded downloader may open them."""
    other_records: tuple[str, ...] = ()
    """Other records of the same work that a search returned, each described by kind, venue, year and id."""
    versions: PreprintVersions | None = None
    """Versions of the preprint that `identifiers.arxiv` names; None if no source reported them."""
    origins: tuple[FieldOrigin, ...] = ()
    """Fields of a merged record that come from sources other than `source`, in field order."""

    @property
    def year(self) -> int | None:
        return self.publication_date.year if self.publication_date else None

    @model_validator(mode="before")
    @classmethod
    def _mark_retracted_by_title(cls, data: Any) -> Any:
        if not isinstance(data, dict) or data.get("retraction") is not None:
            return data
        kind = retraction_in_title(str(data.get("title", "")))
        return {**data, "retraction": Retraction(kind=kind, source=data.get("source", ""))} if kind else data


class Passage(Frozen):
    """Passage in a paper that matches a query."""

    paper: Paper
    section: str
    """Where the passage is: `title`, `abstract`, or a section heading."""
    text: str
    similarity: float
    """Cosine similarity between query and passage, −1 to 1."""
    near_beyond_corpus: bool = False
    """True if the passage is similar enough to answer the query and its paper was returned only by a source other than
    the local corpus; as in Hit."""
    cites: tuple[PaperId, ...] = ()
    """Papers that the passage cites, as far as the source knows them."""


class Hit(Frozen):
    """Paper that matches a query."""

    paper: Paper
    similarity: float
    """Cosine similarity between query and paper, −1 to 1."""
    near_beyond_corpus: bool = False
    """True if the paper is similar enough to answer the query and, for this query, was returned only by a source other
    than the local corpus."""


class FullText(Frozen):
    """Full text of a paper, by section."""

    paper_id: PaperId
    sections: tuple[Section, ...]
    parser: Literal["corpus", "grobid", "pypdfium2"]
    """Parser that found the sections. `pypdfium2` infers headings from the typeface and references from their
    format."""
    references: tuple[CitedWork, ...] = ()
    flags: tuple[TextFlag, ...] = ()
    """Invisible text that the parser left out. The sections are not yet sanitised."""
    within_window: bool = False
    """True if the paper is known to have had this text within the requested date window."""


class Filters(Frozen):
    """Search filters, all of which must match. Names are compared case-insensitively."""

    window: Window = OPEN
    """Publication date window. Undated papers match unless the window has a last day."""
    venues: frozenset[str] = frozenset()
    fields: frozenset[str] = frozenset()
    """Fields of study; a paper in any of them matches."""
    retracted: bool | None = None
    """Required retraction status; None admits both retracted and other papers."""
    without: frozenset[PaperId] = frozenset()

    @property
    def only_before(self) -> bool:
        """True if no filter other than a cutoff is set."""
        return self == Filters(window=Window.until(self.window.before))


ContentKind = Literal["concept", "method"]


class NamedContent(Frozen):
    kind: ContentKind
    name: str
    """Name as the paper writes it, or as the first paper in its corpus segment to mention it does."""
    introduced: bool = False
    """True if the paper says that it proposes this concept or method."""
    built_on: bool = False
    """True if the paper says that it builds on this concept or method."""
    sentence: str
    """Sentence in the title or abstract in which the name first appears."""


class PaperContents(Frozen):
    named: tuple[NamedContent, ...] = ()
    """Concepts and methods in order of appearance, each name once."""
    claims: tuple[str, ...] = ()
    """Sentences in the abstract that state findings."""
