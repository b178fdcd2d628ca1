"""Fast search: papers, pages and repositories for queries, each as a record, on either side of the cutoff."""

import datetime as dt
import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from assayer.flow import Failed, each, together
from assayer.library import Library, is_own_paper, shingles
from assayer.methods.innoeval.dossier import Kind
from assayer.methods.innoeval.options import Options
from assayer.models import Idea, Operation, Paper, PaperId, Repository, WebResult
from assayer.run import Run
from assayer.sanitise import sanitise
from assayer.world import World

__all__ = ["KINDS", "NOUNS", "Candidate", "Query", "Side", "Sources"]

KINDS: tuple[Kind, ...] = ("literature", "web", "code")
NOUNS: Mapping[Kind, str] = {"literature": "paper", "web": "web page", "code": "repository"}

_SOURCES: Mapping[Kind, tuple[str, Operation]] = {"web": ("web", "web"), "code": ("github", "code")}
"""Under which the journal counts what they found."""

Side = Literal["before", "after"]
"""Of the cutoff; without one everything is before."""


class Query(NamedTuple):
    part: str
    kind: Kind
    text: str


class Candidate(NamedTuple):
    """Something found, not yet read."""

    paper: Paper
    kind: Kind
    standing: str
    """What its source says of how it is received; empty with a cutoff, as it is what the world thinks of it today."""


class Sources:
    """What one evaluation may search. The idea's own paper, page and repository are kept out."""

    def __init__(self, world: World, library: Library, run: Run, idea: Idea, options: Options) -> None:
        self._web, self._code, self._library = world.web, world.code, library
        self._run, self._options = run, options
        self._title, self._shingles = idea.title, shingles(idea.text)
        self._verdicts: dict[tuple[PaperId, Side], bool] = {}

    @property
    def kinds(self) -> tuple[Kind, ...]:
        there = {"literature": True, "web": self._web is not None, "code": self._code is not None}
        return tuple(kind for kind in KINDS if there[kind])

    async def search(self, queries: Sequence[Query], side: Side = "before") -> dict[Query, list[Candidate]]:
        """For every query what it found, best first. Raises LiteratureError when the corpus fails; a query of web or
        code that fails is counted as lost and missing from the answer."""
        papers = [query for query in queries if query.kind == "literature"]
        others = [query for query in queries if query.kind != "literature"]
        answers = await together([self._papers(papers, side), self._others(others, side)])
        return {query: found for answer in answers for query, found in answer.items()}

    async def _papers(self, queries: Sequence[Query], side: Side) -> dict[Query, list[Candidate]]:
        if not queries:
            return {}
        texts = [query.text for query in queries]
        if side == "before":
            answers = await self._library.search(texts, self._options.hits)
        else:
            answers = await self._library.search_later(texts, self._options.hits * 3)
        return {
            query: [Candidate(hit.paper, "literature", self._of_paper(hit.paper)) for hit in hits]
            for query, hits in zip(queries, answers, strict=True)
        }

    async def _others(self, queries: Sequence[Query], side: Side) -> dict[Query, list[Candidate]]:
        outcomes = await each(queries, lambda query: self._one(query, side))
        self._run.keep(outcomes, "query of web or code")
        for query, outcome in zip(queries, outcomes, strict=True):
            if isinstance(outcome, Failed):
                self._run.journal.trouble(*_SOURCES[query.kind], outcome.error)
            else:
                self._run.journal.use(*_SOURCES[query.kind], results=len(outcome))
        return {
            query: self._admitted(found, side)
            for query, found in zip(queries, outcomes, strict=True)
            if not isinstance(found, Failed)
        }

    async def _one(self, query: Query, side: Side) -> list[Candidate]:
        cutoff = self._run.cutoff
        after = cutoff + dt.timedelta(days=1) if cutoff and side == "after" else None
        before = cutoff if side == "before" else None
        if query.kind == "web" and self._web is not None:
            (pages,) = await self._web.search([query.text], self._options.pages, after, before)
            return [Candidate(_page(page), "web", "") for page in pages]
        if query.kind == "code" and self._code is not None:
            (found,) = await self._code.search([query.text], self._options.repositories, after, before)
            return [Candidate(_repository(one), "code", self._of_repository(one)) for one in found]
        return []

    def _admitted(self, found: Iterable[Candidate], side: Side) -> list[Candidate]:
        kept = []
        for one in found:
            key = one.paper.id, side
            if key not in self._verdicts:
                self._verdicts[key] = self.admits(one.paper, side)
            if self._verdicts[key]:
                kept.append(one)
        return kept

    def admits(self, record: Paper, side: Side) -> bool:
        """Whether a page or repository may be used; asked again of what was read, which may be dated otherwise."""
        cutoff, published = self._run.cutoff, record.publication_date
        if cutoff is not None and (published is None or (published <= cutoff) != (side == "before")):
            self._run.journal.drop(_noun(record), "on the other side of the cutoff, or at an unknown date")
            return False
        if self._is_own(record):
            self._run.journal.drop(_noun(record), "the idea's own")
            return False
        self._run.journal.found.add(record.id)
        return True

    def _is_own(self, record: Paper) -> bool:
        """The pages and the repository of the idea's own paper name its title somewhere."""
        title = " ".join(self._title.casefold().split())
        said = " ".join(f"{record.title} {record.abstract}".casefold().split())
        named = len(title.split()) >= 4 and title in said
        return named or is_own_paper(self._title, self._shingles, record)

    def _of_paper(self, paper: Paper) -> str:
        cited = f"cited {paper.citation_count} times" if paper.citation_count is not None else ""
        return _listed(paper.venue, "" if self._run.cutoff else cited)

    def _of_repository(self, repository: Repository) -> str:
        if self._run.cutoff:
            return repository.language
        stars = f"{repository.stars} stars" if repository.stars is not None else ""
        changed = f"last changed {repository.pushed}" if repository.pushed else ""
        return _listed(repository.language, stars, changed)


def _listed(*facts: str) -> str:
    return ", ".join(" ".join(sanitise(fact)[0].split())[:80] for fact in facts if fact)


def _noun(record: Paper) -> str:
    return NOUNS["web" if record.source == "web" else "code"]


def _page(page: WebResult) -> Paper:
    key = hashlib.sha256(page.url.encode()).hexdigest()[:16]
    return Paper(
        id=PaperId(f"web:{key}"),
        title=page.title or page.url,
        abstract=page.snippet,
        publication_date=page.published,
        url=page.url,
        source="web",
    )


def _repository(repository: Repository) -> Paper:
    topics = f" Topics: {', '.join(repository.topics)}." if repository.topics else ""
    return Paper(
        id=PaperId(f"github:{repository.name}"),
        title=repository.name,
        abstract=f"{repository.description}{topics}",
        publication_date=repository.created,
        url=repository.url,
        source="github",
    )
