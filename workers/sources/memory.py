"""A source in memory: the twin of a remote one, for tests of what asks sources."""

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field

from assayer.errors import SourceError
from assayer.identity import title_key
from assayer.models import Identifiers, Paper, PaperId, Retraction
from workers.remote.call import Ask
from workers.sources.fields import in_window
from workers.sources.source import Snippet, Window

__all__ = ["MemorySource"]


@dataclass
class MemorySource:
    """Implements every port of a source over a few papers. `failing` is raised instead of any answer."""

    name: str
    papers: Sequence[Paper]
    cited: Mapping[PaperId, Sequence[PaperId]] = field(default_factory=dict)
    """What each paper cites; its snippets cite the same."""
    retracted: Mapping[PaperId, Retraction] = field(default_factory=dict)
    failing: SourceError | None = None
    asks: list[tuple[str, Ask]] = field(default_factory=list)
    """Every request, by the method that was called."""

    async def search(self, query: str, limit: int, window: Window, ask: Ask) -> list[Paper]:
        """By the number of words in common."""
        self._asked("search", ask)
        return [paper for paper in self._like(query) if in_window(paper, window)][:limit]

    async def snippets(self, query: str, limit: int, window: Window, ask: Ask) -> list[Snippet]:
        """The abstracts."""
        self._asked("snippets", ask)
        found = [paper for paper in self._like(query) if in_window(paper, window)][:limit]
        by_id = {paper.id: paper for paper in self.papers}
        cited = {paper.id: [by_id[one].identifiers for one in self.cited.get(paper.id, ())] for paper in found}
        return [Snippet(paper, "abstract", paper.abstract, tuple(cited[paper.id])) for paper in found]

    async def recommend(self, papers: Sequence[Identifiers], limit: int, ask: Ask) -> list[Paper]:
        self._asked("recommend", ask)
        given = [paper for paper in map(self._find, papers) if paper is not None]
        text = " ".join(f"{paper.title} {paper.abstract}" for paper in given)
        return [paper for paper in self._like(text) if paper not in given][:limit]

    async def references(self, paper: Identifiers, limit: int, ask: Ask) -> list[Paper]:
        self._asked("references", ask)
        found = self._find(paper)
        cited = self.cited.get(found.id, ()) if found else ()
        return [one for one in self.papers if one.id in cited][:limit]

    async def citations(self, paper: Identifiers, limit: int, ask: Ask) -> list[Paper]:
        self._asked("citations", ask)
        found = self._find(paper)
        return [one for one in self.papers if found and found.id in self.cited.get(one.id, ())][:limit]

    async def resolve(self, papers: Sequence[Identifiers], ask: Ask) -> list[Paper | None]:
        self._asked("resolve", ask)
        return [self._find(paper) for paper in papers]

    async def retractions(self, papers: Sequence[Identifiers], ask: Ask) -> Mapping[Identifiers, Retraction]:
        self._asked("retractions", ask)
        found = {paper: self._find(paper) for paper in papers}
        return {paper: self.retracted[one.id] for paper, one in found.items() if one and one.id in self.retracted}

    def _asked(self, method: str, ask: Ask) -> None:
        self.asks.append((method, ask))
        if self.failing is not None:
            raise self.failing

    def _find(self, identifiers: Identifiers) -> Paper | None:
        """The first paper that shares an identifier."""
        given = {name for name in identifiers if name[1]}
        return next((paper for paper in self.papers if given & set(paper.identifiers)), None)

    def _like(self, text: str) -> list[Paper]:
        words = Counter(map(title_key, text.split()))
        shared = {paper.id: _shared(words, f"{paper.title} {paper.abstract}") for paper in self.papers}
        found = [paper for paper in self.papers if shared[paper.id]]
        return sorted(found, key=lambda paper: (-shared[paper.id], paper.id))


def _shared(words: Counter[str], text: str) -> int:
    return (words & Counter(map(title_key, text.split()))).total()
