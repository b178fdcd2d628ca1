"""Local first: the corpus answers, and remote sources top it up where its answer is not enough.

Implements `assayer.ports.Literature` for one evaluation. What remote sources return is filtered by the cutoff again
(undated papers are out when there is one), merged with what the corpus has, and measured as the corpus measures.
"""

import datetime as dt
from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from functools import partial
from typing import Literal

from assayer.models import CorpusFit, Hit, Identifiers, Operation, Paper, PaperId, Passage, Retraction
from assayer.run import Run
from workers.literature.beyond import Beyond, Question
from workers.literature.catalogue import Catalogue
from workers.literature.enough import Local, need
from workers.literature.local import LocalCorpus
from workers.literature.merging import graver, identified, spaces
from workers.literature.nearness import Nearness
from workers.literature.settings import LiteratureSettings
from workers.sources.source import Snippet, Window

__all__ = ["Federation"]


class Federation:
    """The literature of one evaluation. Raises LiteratureError when the corpus fails; remote sources never raise."""

    def __init__(
        self, corpus: LocalCorpus, beyond: Beyond, version: str, settings: LiteratureSettings, run: Run
    ) -> None:
        self._corpus = corpus
        self._beyond = beyond
        self._settings = settings
        self._run = run
        self._catalogue = Catalogue()
        self._nearness = Nearness(corpus)
        self._level: Literal["good", "partial", "poor"] | None = None
        self.version = version

    @property
    def source(self) -> str:
        return self._corpus.source

    async def search(self, queries: Sequence[str], limit: int, before: dt.date | None) -> list[list[Hit]]:
        local = await self._corpus.search(queries, limit, before)
        self._use("search", len(queries), sum(map(len, local)))
        if not self._beyond:
            return local
        asked = self._questions(queries, limit, before, [_cosines(hits) for hits in local])
        found = await self._beyond.search([question for _, question in asked])
        remote = {number: papers for (number, _), papers in zip(asked, found, strict=True)}
        return [
            await self._hits(hits, remote.get(number, ()), limit, before, partial(self._nearness.of, query))
            for number, (query, hits) in enumerate(zip(queries, local, strict=True))
        ]

    async def snippets(self, queries: Sequence[str], limit: int, before: dt.date | None) -> list[list[Passage]]:
        local = await self._corpus.snippets(queries, limit, before)
        self._use("snippets", len(queries), sum(map(len, local)))
        if not self._beyond:
            return local
        asked = self._questions(queries, limit, before, [_cosines(found) for found in local])
        answers = await self._beyond.snippets([question for _, question in asked])
        remote = {number: snippets for (number, _), snippets in zip(asked, answers, strict=True)}
        return [
            await self._passages(query, found, remote.get(number, ()), limit, before)
            for number, (query, found) in enumerate(zip(queries, local, strict=True))
        ]

    async def neighbours(
        self, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Hit]]:
        own = self._local_ids(papers)
        answers = await self._corpus.neighbours(list(own), limit, before)
        self._use("neighbours", len(own), sum(map(len, answers.values())))
        if not self._beyond:
            return answers
        local = {own[key]: hits for key, hits in answers.items()}
        given = (self._catalogue.paper(one) for one in papers)
        seeds = {paper.id: paper for paper in given if paper and self._named(paper.id)}
        lacking = [one for one in seeds if self._window(_cosines(local.get(one, ())), before)]
        found = await self._beyond.recommend([self._catalogue.identifiers(one) for one in lacking], limit)
        for one, records in zip(lacking, found, strict=True):
            measure = partial(self._nearness.between, seeds[one])
            hits = await self._hits(local.get(one, ()), records, limit, before, measure, one)
            if hits:
                local[one] = hits
        return local

    async def references(
        self, papers: Sequence[PaperId], limit: int, before: dt.date | None
    ) -> dict[PaperId, list[Paper]]:
        own = self._local_ids(papers)
        answers = await self._corpus.references(list(own), limit, before)
        self._use("references", len(own), sum(map(len, answers.values())))
        if not self._beyond:
            return answers
        cited = {own[key]: self._catalogue.add(found) for key, found in answers.items()}
        lacking = [one for one in papers if not cited.get(one) and self._named(one)]
        found = await self._beyond.references([self._catalogue.identifiers(one) for one in lacking], limit)
        for one, records in zip(lacking, found, strict=True):
            if records:
                cited[one] = self._admitted(records, before)[:limit]
        return cited

    async def papers(self, ids: Sequence[PaperId], before: dt.date | None) -> dict[PaperId, Paper]:
        own = self._local_ids(ids)
        answers = await self._corpus.papers(list(own), before)
        self._use("papers", 1, len(answers))
        if not self._beyond:
            return answers
        self._catalogue.add(list(answers.values()))
        unknown = [one for one in ids if self._catalogue.paper(one) is None and self._named(one)]
        if unknown:
            records = await self._beyond.resolve([self._catalogue.identifiers(one) for one in unknown])
            self._admitted(records, before)
        known = {one: self._catalogue.paper(one) for one in ids}
        return {one: paper for one, paper in known.items() if paper is not None and _counts(paper, before)}

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        own = self._local_ids(papers)
        local = await self._corpus.similarity(text, list(own))
        found = {own[key]: cosine for key, cosine in local.items()}
        others = [self._catalogue.paper(one) for one in papers if one not in found]
        return found | dict(await self._nearness.of(text, [paper for paper in others if paper is not None]))

    async def retractions(self, papers: Sequence[Paper]) -> dict[PaperId, Retraction]:
        """By every source that knows of retractions, in one batch."""
        told = {paper.id: [paper.retraction] for paper in papers if paper.retraction is not None}
        if self._beyond.knows_retractions:
            by_name: dict[Identifiers, list[PaperId]] = {}
            for paper in papers:
                by_name.setdefault(identified(paper).identifiers, []).append(paper.id)
            nameless = by_name.pop(Identifiers(), [])
            reason = "it has no identifier to ask by"
            self._run.journal.drop("check of a cited paper for retraction", reason, len(nameless))
            for identifiers, notice in await self._beyond.retractions(list(by_name)):
                for one in by_name.get(identifiers, ()):
                    told.setdefault(one, []).append(notice)
        return {one: graver(notices) for one, notices in told.items()}

    async def fit(self, text: str, before: dt.date | None) -> CorpusFit:
        """The corpus's own word about the corpus, whatever lies beyond it."""
        fit = await self._corpus.fit(text, before)
        self._level = fit.level
        return fit

    def _use(self, operation: Operation, requests: int, results: int) -> None:
        self._run.journal.use(self._corpus.source, operation, requests, results)

    def _window(self, similarities: Sequence[float], before: dt.date | None) -> Window | None:
        until = before or self._run.clock.now().date()
        return need(Local(self._level, self._corpus.newest(before), until), similarities, self._settings, before)

    def _questions(
        self, queries: Sequence[str], limit: int, before: dt.date | None, similarities: Sequence[Sequence[float]]
    ) -> list[tuple[int, Question]]:
        """Those that remote sources must be asked, with their places; the worst answered first."""
        windows = [self._window(one, before) for one in similarities]
        asked = [
            (number, Question(query, limit, window))
            for number, (query, window) in enumerate(zip(queries, windows, strict=True))
            if window is not None
        ]
        return sorted(asked, key=lambda one: (sum(similarities[one[0]]), one[0]))

    def _named(self, paper: PaperId) -> bool:
        return bool(spaces(self._catalogue.identifiers(paper)))

    def _local_ids(self, papers: Iterable[PaperId]) -> dict[PaperId, PaperId]:
        """The corpus's id of each paper that it may have, with the id that this evaluation gave it."""
        found = ((self._catalogue.local_id(one, self.source), one) for one in papers)
        return {local: one for local, one in found if local is not None}

    def _admitted(self, records: Sequence[Paper], before: dt.date | None) -> list[Paper]:
        """The papers of the records that count, each once. Every record must count by its own source's date."""
        papers = self._catalogue.add([record for record in records if _counts(record, before)])
        return list({paper.id: paper for paper in papers}.values())

    async def _hits(
        self,
        local: Sequence[Hit],
        records: Sequence[Paper],
        limit: int,
        before: dt.date | None,
        measure: Callable[[Sequence[Paper]], Awaitable[Mapping[PaperId, float]]],
        without: PaperId | None = None,
    ) -> list[Hit]:
        """Those of the corpus and those beyond it in one order, the nearest first."""
        self._catalogue.add([hit.paper for hit in local])  # first: the corpus's ids win
        found = self._admitted(records, before)
        papers = self._catalogue.add([hit.paper for hit in local])
        hits = [hit.model_copy(update={"paper": paper}) for hit, paper in zip(local, papers, strict=True)]
        known = {paper.id for paper in papers} | {without}
        others = [paper for paper in found if paper.id not in known]
        if not others:
            return hits
        near = await measure(others)
        hits += [Hit(paper=paper, similarity=near[paper.id]) for paper in others]
        self._note_near({paper.id: paper.source for paper in others if near[paper.id] >= self._settings.near})
        return sorted(hits, key=lambda hit: (-hit.similarity, hit.paper.id))[:limit]

    async def _passages(
        self, query: str, local: Sequence[Passage], snippets: Sequence[Snippet], limit: int, before: dt.date | None
    ) -> list[Passage]:
        papers = self._catalogue.add([passage.paper for passage in local])
        passages = [one.model_copy(update={"paper": paper}) for one, paper in zip(local, papers, strict=True)]
        counting = [snippet for snippet in snippets if _counts(snippet.paper, before)]
        if not counting:
            return passages
        theirs = self._catalogue.add([snippet.paper for snippet in counting])
        cosines = await self._nearness.of_texts(query, [(one.paper.title, one.text) for one in counting])
        self._note_near(
            {
                paper.id: one.paper.source
                for one, paper, cosine in zip(counting, theirs, cosines, strict=True)
                if cosine >= self._settings.near and self._catalogue.local_id(paper.id, self.source) is None
            }
        )
        passages += [
            Passage(
                paper=paper, section=one.section, text=one.text, similarity=cosine, cites=self._mentioned(one.cites)
            )
            for one, paper, cosine in zip(counting, theirs, cosines, strict=True)
        ]
        return sorted(passages, key=lambda one: (-one.similarity, one.paper.id, one.text))[:limit]

    def _note_near(self, found: Mapping[PaperId, str]) -> None:
        self._run.journal.near_beyond.update(found)

    def _mentioned(self, cited: Iterable[Identifiers]) -> tuple[PaperId, ...]:
        ids = (self._catalogue.mention(one) for one in cited)
        return tuple(dict.fromkeys(one for one in ids if one is not None))


def _cosines(found: Iterable[Hit | Passage]) -> list[float]:
    return [one.similarity for one in found]


def _counts(paper: Paper, before: dt.date | None) -> bool:
    return before is None or (paper.publication_date is not None and paper.publication_date <= before)
