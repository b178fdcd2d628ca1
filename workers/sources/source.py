"""What a remote source of literature can do. Each API does some of it; the federation asks whoever can.

Papers come back with `id` as `<prefix>:<the source's own id>` (`s2:…`, `arxiv:…`, `openalex:…`, `doi:…`), `source` the
source's name, `identifiers` filled as far as the record goes, texts cleaned (`assayer.sanitise.clean_text`), URLs
from the record only. Dates known to the month or year are the last day of it. All raise SourceError.
"""

import datetime as dt
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol, runtime_checkable

from assayer.models import Identifiers, Paper, Retraction
from workers.remote.call import Ask

__all__ = [
    "Cites",
    "LocatesPdfs",
    "Recommends",
    "Resolves",
    "Retracts",
    "Searches",
    "Snippet",
    "Snippets",
    "Source",
    "Window",
]


class Window(NamedTuple):
    """Days of publication that count, both included; None is open."""

    after: dt.date | None = None
    before: dt.date | None = None

    def holds(self, day: dt.date) -> bool:
        return (self.after is None or self.after <= day) and (self.before is None or day <= self.before)


class Snippet(NamedTuple):
    """A stretch of a paper that answers a query."""

    paper: Paper
    section: str
    """`title`, `abstract`, or the heading of the section it stands in."""
    text: str
    cites: tuple[Identifiers, ...]
    """Papers that it refers to (`refMentions`)."""


class Source(Protocol):
    @property
    def name(self) -> str: ...


@runtime_checkable
class Searches(Source, Protocol):
    async def search(self, query: str, limit: int, window: Window, ask: Ask) -> list[Paper]:
        """By title and abstract, best first."""
        ...


@runtime_checkable
class Snippets(Source, Protocol):
    async def snippets(self, query: str, limit: int, window: Window, ask: Ask) -> list[Snippet]: ...


@runtime_checkable
class Recommends(Source, Protocol):
    async def recommend(self, papers: Sequence[Identifiers], limit: int, ask: Ask) -> list[Paper]:
        """Papers like all of the given ones together, best first."""
        ...


@runtime_checkable
class Cites(Source, Protocol):
    async def references(self, paper: Identifiers, limit: int, ask: Ask) -> list[Paper]:
        """What it cites; empty when the source does not know the paper."""
        ...

    async def citations(self, paper: Identifiers, limit: int, ask: Ask) -> list[Paper]:
        """What cites it, newest first where the source can."""
        ...


@runtime_checkable
class Resolves(Source, Protocol):
    async def resolve(self, papers: Sequence[Identifiers], ask: Ask) -> list[Paper | None]:
        """The record of each, in order, None for an unknown one; in as few requests as the API allows."""
        ...


@runtime_checkable
class Retracts(Source, Protocol):
    async def retractions(self, papers: Sequence[Identifiers], ask: Ask) -> Mapping[Identifiers, Retraction]:
        """Notices about the given papers; those without one are missing from the answer."""
        ...


@runtime_checkable
class LocatesPdfs(Source, Protocol):
    async def pdf_urls(self, paper: Identifiers, ask: Ask) -> tuple[str, ...]:
        """Free copies, best first; empty when there is none."""
        ...
