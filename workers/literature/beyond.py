"""The remote sources as one evaluation asks them: within its allowance, side by side, and never in its way.

A source that is down, busy or talks nonsense costs its own answers: the journal says so, and nothing is raised.
"""

from collections.abc import Awaitable, Callable, Mapping, Sequence
from functools import partial
from typing import NamedTuple, TypeVar

from assayer.errors import SourceError
from assayer.flow import together
from assayer.models import Identifiers, Operation, Paper, Retraction
from assayer.run import Run
from workers.literature.allowance import Allowance
from workers.literature.settings import LiteratureSettings
from workers.remote.call import Ask
from workers.sources.source import Cites, Recommends, Resolves, Retracts, Searches, Snippet, Snippets, Source, Window

__all__ = ["Beyond", "Question"]

Item = TypeVar("Item")
Found = TypeVar("Found")
Port = TypeVar("Port", bound=Source)

Asked = Callable[[Ask], Awaitable[Sequence[Found]]]


class Question(NamedTuple):
    query: str
    limit: int
    window: Window


class Beyond:
    """One evaluation's view of the remote sources."""

    def __init__(self, sources: Sequence[Source], settings: LiteratureSettings, run: Run) -> None:
        self._sources = sources
        self._settings = settings
        self._run = run
        self._allowances = {
            source.name: Allowance(settings.questions, settings.patience_seconds, run.clock) for source in sources
        }

    def __bool__(self) -> bool:
        return bool(self._sources)

    @property
    def knows_retractions(self) -> bool:
        return any(isinstance(source, Retracts) for source in self._sources)

    async def search(self, questions: Sequence[Question]) -> list[list[Paper]]:
        """For each question what all sources found, source after source. The first questions matter most: a source's
        allowance may not reach further."""
        sources = [one for one in self._sources if isinstance(one, Searches) and one.name in self._settings.searched]
        return await self._spread(sources, "search", questions, lambda source, one: partial(source.search, *one))

    async def snippets(self, questions: Sequence[Question]) -> list[list[Snippet]]:
        sources = [source for source in self._sources if isinstance(source, Snippets)]
        return await self._spread(sources, "snippets", questions, lambda source, one: partial(source.snippets, *one))

    async def recommend(self, papers: Sequence[Identifiers], limit: int) -> list[list[Paper]]:
        """For each paper those like it."""
        sources = [source for source in self._sources if isinstance(source, Recommends)]
        return await self._spread(
            sources, "neighbours", papers, lambda source, paper: partial(source.recommend, [paper], limit)
        )

    async def references(self, papers: Sequence[Identifiers], limit: int) -> list[list[Paper]]:
        """For each paper what it cites, from the first source that knows."""
        found: list[list[Paper]] = [[] for _ in papers]
        for source in [source for source in self._sources if isinstance(source, Cites)]:
            rest = [number for number, cited in enumerate(found) if not cited]
            rest = rest[: self._take(source, "references", len(rest))]
            asked = (
                self._ask(source, "references", partial(source.references, papers[number], limit)) for number in rest
            )
            for number, cited in zip(rest, await together(asked), strict=True):
                found[number] = cited
        return found

    async def resolve(self, papers: Sequence[Identifiers]) -> list[Paper]:
        """The records of those that a source knows, each from the first that does; in no order."""
        found: list[Paper] = []
        rest = list(papers)
        for source in [source for source in self._sources if isinstance(source, Resolves)]:
            if not rest or not self._take(source, "papers", 1):
                continue
            records = await self._ask(source, "papers", partial(source.resolve, rest))
            found += [record for record in records if record is not None]
            rest = [paper for paper, record in zip(rest, records, strict=True) if record is None] if records else rest
        return found

    async def retractions(self, papers: Sequence[Identifiers]) -> list[tuple[Identifiers, Retraction]]:
        """Every notice that any source has; one paper may have several. Asked once, in one batch, and so outside of
        the allowance: nobody should cite a retracted paper unawares because an idea had many questions."""

        async def ask(source: Retracts, ask: Ask) -> list[tuple[Identifiers, Retraction]]:
            notices: Mapping[Identifiers, Retraction] = await source.retractions(papers, ask)
            return list(notices.items())

        sources = [source for source in self._sources if isinstance(source, Retracts)] if papers else []
        answers = await together(self._ask(source, "papers", partial(ask, source)) for source in sources)
        return [notice for answer in answers for notice in answer]

    def _take(self, source: Source, operation: Operation, wanted: int, at_most: int | None = None) -> int:
        granted = self._allowances[source.name].take(operation, wanted if at_most is None else min(wanted, at_most))
        reason = "beyond what one evaluation may ask of one source"
        self._run.journal.drop("question to a remote source", reason, wanted - granted)
        return granted

    async def _spread(
        self,
        sources: Sequence[Port],
        operation: Operation,
        items: Sequence[Item],
        asked: Callable[[Port, Item], Asked[Found]],
    ) -> list[list[Found]]:
        """Every source with the first of the items, as far as its allowance reaches, all side by side."""
        jobs = []
        for source in sources:
            granted = self._take(source, operation, len(items), self._settings.questions_at_once)
            jobs += [(number, source) for number in range(granted)]
        works = (self._ask(source, operation, asked(source, items[number])) for number, source in jobs)
        found: list[list[Found]] = [[] for _ in items]
        for (number, _), answer in zip(jobs, await together(works), strict=True):
            found[number] += answer
        return found

    async def _ask(self, source: Source, operation: Operation, work: Asked[Found]) -> list[Found]:
        """What the source answers; nothing when it does not."""
        allowance = self._allowances[source.name]
        ask = Ask(asker=self._run.id, patience=allowance.patience)
        try:
            with allowance.waiting():
                found = await work(ask)
        except SourceError as error:
            self._run.journal.trouble(source.name, operation, error)
            return []
        self._run.journal.use(source.name, operation, results=sum(one is not None for one in found))
        return list(found)
