"""Crossref's work records: what is read of them, the papers they become and the notices about these."""

import datetime as dt
from typing import Literal

from pydantic import Field

from assayer.identity import doi, with_arxiv
from assayer.models import Identifiers, Paper, Retraction
from workers.sources.answers import Count, Entries, Maybe, Shape, Text
from workers.sources.dois import ARXIV_PREFIX
from workers.sources.fields import last_day, line, link, paper_id, prose
from workers.sources.markup import without_markup

__all__ = ["FIELDS", "SOURCE", "Work", "WorkAnswer", "WorksAnswer", "doi_of", "paper_of", "retraction_of"]

SOURCE = "crossref"
FIELDS = (
    "DOI,URL,abstract,author,container-title,is-referenced-by-count,issued,published,relation,subtitle,title,"
    "update-to,updated-by"
)
"""Of `select` on lists; one record by its DOI always comes whole."""

_Kind = Literal["retracted", "withdrawn", "concern"]
_KINDS: dict[str, _Kind] = {
    "retraction": "retracted",
    "removal": "withdrawn",
    "withdrawal": "withdrawn",
    "expression_of_concern": "concern",
    "partial_retraction": "concern",
}
"""Update types that say a work no longer stands; corrections, errata and new versions do not."""
_GRAVITY: tuple[_Kind, ...] = ("retracted", "withdrawn", "concern")


class _Date(Shape):
    parts: Entries[list[int | None]] = Field(default=(), alias="date-parts")

    @property
    def day(self) -> dt.date | None:
        """The last one of the period; Crossref writes [[null]] for no date."""
        year, month, day = (*(self.parts[0] if self.parts else ()), None, None, None)[:3]
        return last_day(year, month, day) if year else None


class _Author(Shape):
    given: Text = ""
    family: Text = ""
    name: Text = ""
    """Of a group."""

    @property
    def full_name(self) -> str:
        return line(f"{self.given} {self.family}") or line(self.name)


class _Update(Shape):
    doi: Text = Field(default="", alias="DOI")
    type: Text = ""
    updated: Maybe[_Date] = None

    @property
    def day(self) -> dt.date:
        """The last one of all when nobody said."""
        return (self.updated and self.updated.day) or dt.date.max

    @property
    def kind(self) -> str:
        return self.type.strip().lower().replace("-", "_").replace(" ", "_")


class _Related(Shape):
    id: Text = ""


class _Relation(Shape):
    preprints: Entries[_Related] = Field(default=(), alias="has-preprint")


class Work(Shape):
    doi: str = Field(alias="DOI")
    url: Text = Field(default="", alias="URL")
    title: Entries[str] = ()
    subtitle: Entries[str] = ()
    abstract: Text = ""
    author: Entries[_Author] = ()
    published: Maybe[_Date] = None
    issued: Maybe[_Date] = None
    container: Entries[str] = Field(default=(), alias="container-title")
    cited_by: Count = Field(default=None, alias="is-referenced-by-count")
    relation: Maybe[_Relation] = None
    updated_by: Entries[_Update] = Field(default=(), alias="updated-by")
    """Notices about this work, deposited by publishers or taken over from Retraction Watch."""
    update_to: Entries[_Update] = Field(default=(), alias="update-to")
    """Works that this one is a notice about; itself where the notice was put in the work's place."""


class _Page(Shape):
    items: Entries[Work] = Field()


class WorksAnswer(Shape):
    message: _Page


class WorkAnswer(Shape):
    message: Work


def doi_of(work: Work) -> str:
    return doi(work.doi) if work.doi.isprintable() else ""


def _identifiers(work: Work) -> Identifiers:
    related = (doi(one.id) for one in (work.relation.preprints if work.relation else ()))
    preprint = next((name for name in related if name.startswith(ARXIV_PREFIX)), "")
    return with_arxiv(Identifiers(doi=doi_of(work), arxiv=preprint.removeprefix(ARXIV_PREFIX)))


def retraction_of(work: Work) -> Retraction | None:
    """The gravest notice, the earliest of these; none that a later reinstatement took back."""
    own = doi_of(work)
    notices = [*work.updated_by, *(update for update in work.update_to if doi(update.doi) == own)]
    reinstated = max((notice.day for notice in notices if notice.kind == "reinstatement"), default=dt.date.min)
    standing = [notice for notice in notices if notice.kind in _KINDS and notice.day > reinstated]
    if not standing:
        return None
    gravest = min(standing, key=lambda notice: (_GRAVITY.index(_KINDS[notice.kind]), notice.day))
    return Retraction(
        kind=_KINDS[gravest.kind],
        source=SOURCE,
        notice=doi(gravest.doi) if gravest.doi.isprintable() else "",
        date=gravest.updated.day if gravest.updated else None,
    )


def _title(work: Work) -> str:
    title, subtitle = (line(without_markup(texts[0])) if texts else "" for texts in (work.title, work.subtitle))
    if not subtitle or title.casefold().endswith(subtitle.casefold()):
        return title
    return f"{title}: {subtitle}" if title else ""


def paper_of(work: Work) -> Paper | None:
    """None for a record without title or usable DOI."""
    identifiers, title = _identifiers(work), _title(work)
    if not title or not identifiers.doi:
        return None
    date = (work.published and work.published.day) or (work.issued and work.issued.day)
    return Paper(
        id=paper_id("doi", identifiers.doi),
        title=title,
        abstract=prose(without_markup(work.abstract)),
        authors=tuple(author.full_name for author in work.author if author.full_name),
        publication_date=date or None,
        venue=line(without_markup(work.container[0])) if work.container else "",
        url=link(work.url),
        citation_count=work.cited_by,
        source=SOURCE,
        identifiers=identifiers,
        retraction=retraction_of(work),
    )
