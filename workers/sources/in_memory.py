"""A source in memory: the in-memory adapter of the capabilities, for tests of what requests sources."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assayer.cutoff import papers_within
from assayer.errors import SourceError
from assayer.literature.paper_identity import title_key
from assayer.models import Identifiers, Paper, PaperId, Retraction, Window
from workers.remote.request import RequestContext
from workers.sources.capabilities import Snippet

__all__ = ["InMemorySource"]


@dataclass
class InMemorySource:
    """Implements every port of a source over a few papers. `failing` is raised instead of any answer."""

    name: str
    papers: Sequence[Paper]
    cited: Mapping[PaperId, Sequence[PaperId]] = field(default_factory=dict)
    """What each paper cites; its snippets cite the same."""
    retracted: Mapping[PaperId, Retraction] = field(default_factory=dict)
    failing: SourceError | None = None
    requests: list[tuple[str, RequestContext]] = field(default_factory=list)
    """Every request and its context, by the method that was called."""

    async def search(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        """By the number of words in common."""
        self._record("search", context)
        return papers_within(self._similar_to(query), window)[:limit]

    async def snippets(self, query: str, limit: int, window: Window, context: RequestContext) -> list[Snippet]:
        """The abstracts."""
        self._record("snippets", context)
        found = papers_within(self._similar_to(query), window)[:limit]
        by_id = {paper.id: paper for paper in self.papers}
        cited = {paper.id: [by_id[one].identifiers for one in self.cited.get(paper.id, ())] for paper in found}
        return [Snippet(paper, "abstract", paper.abstract, tuple(cited[paper.id])) for paper in found]

    async def recommend(self, papers: Sequence[Identifiers], limit: int, context: RequestContext) -> list[Paper]:
        self._record("recommend", context)
        given = [paper for paper in map(self._find, papers) if paper is not None]
        text = " ".join(f"{paper.title} {paper.abstract}" for paper in given)
        return [paper for paper in self._similar_to(text) if paper not in given][:limit]

    async def references(self, paper: Identifiers, limit: int, context: RequestContext) -> list[Paper]:
        self._record("references", context)
        found = self._find(paper)
        cited = self.cited.get(found.id, ()) if found else ()
        return [one for one in self.papers if one.id in cited][:limit]

    async def citing(self, paper: Identifiers, limit: int, window: Window, context: RequestContext) -> list[Paper]:
        self._record("citing", context)
        found = self._find(paper)
        citing = [one for one in self.papers if found and found.id in self.cited.get(one.id, ())]
        return papers_within(citing, window)[:limit]

    async def resolve(self, papers: Sequence[Identifiers], context: RequestContext) -> list[Paper | None]:
        self._record("resolve", context)
        return [self._find(paper) for paper in papers]

    async def retractions(
        self, papers: Sequence[Identifiers], context: RequestContext
    ) -> Mapping[Identifiers, Retraction]:
        self._record("retractions", context)
        found = {paper: self._find(paper) for paper in papers}
        return {paper: self.retracted[one.id] for paper, one in found.items() if one and one.id in self.retracted}

    def _record(self, method: str, context: RequestContext) -> None:
        self.requests.append((method, context))
        if self.failing is not None:
            raise self.failing

    def _find(self, identifiers: Identifiers) -> Paper | None:
        """The first paper that shares an identifier."""
        given = {name for name in identifiers if name[1]}
        return next((paper for paper in self.papers if given & set(paper.identifiers)), None)

    def _similar_to(self, text: str) -> list[Paper]:
        words = Counter(map(title_key, text.split()))
        shared = {paper.id: _shared_words(words, f"{paper.title} {paper.abstract}") for paper in self.papers}
        found = [paper for paper in self.papers if shared[paper.id]]
        return sorted(found, key=lambda paper: (-shared[paper.id], paper.id))


def _shared_words(words: Counter[str], text: str) -> int:
    return (words & Counter(map(title_key, text.split()))).total()
