"""Search the local corpus first, and supplement its results from remote sources if they are not enough.

Implements `assayer.ports.Literature` for one evaluation. Results from remote sources are filtered by the cutoff again
(with a cutoff, undated papers are excluded), merged with the corpus's results, and scored in the same way."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from assayer.cutoff import admits, keep_within_window, papers_within
from assayer.literature.citation_ids import citation_ids_of
from assayer.literature.paper_identity import identifiers_by_scheme
from assayer.literature.retractions import choose_gravest_retraction
from assayer.models import (
    CorpusFit,
    FitLevel,
    Hit,
    Identifiers,
    Operation,
    Paper,
    PaperContents,
    PaperId,
    Passage,
    Retraction,
    Window,
)
from assayer.ports import CitationIds
from assayer.run.run import Run
from workers.literature.local_corpus import CorpusSimilarity, LocalCorpus
from workers.literature.record_linker import RecordLinker
from workers.literature.record_merging import add_url_identifiers
from workers.literature.remote_literature import RemoteLiterature, RemoteQuery
from workers.literature.settings import LiteratureSettings
from workers.literature_apis.capabilities import LiteratureSource, Snippet


class FederatedLiterature:
    """Literature for one evaluation. Raises LiteratureError if the corpus fails; failures of remote sources are not
    raised."""

    def __init__(
        self, corpus: LocalCorpus, remote: RemoteLiterature, version: str, settings: LiteratureSettings, run: Run
    ) -> None:
        self._corpus = corpus
        self._remote = remote
        self._settings = settings
        self._run = run
        self._linker = RecordLinker()
        self._similarity = CorpusSimilarity(corpus)
        self._level: FitLevel | None = None
        self.version = version

    @property
    def source(self) -> str:
        return self._corpus.source

    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Hit]]:
        local = await self._corpus.search(queries, limit, window)
        self._journal_use("search", len(queries), sum(map(len, local)))
        if not self._remote:
            return local
        asked = self._remote_queries(queries, limit, window, [_cosines(hits) for hits in local])
        found = await self._remote.search([query for _, query in asked])
        remote = {number: papers for (number, _), papers in zip(asked, found, strict=True)}
        return [
            await self._merge_hits(
                hits, remote.get(number, ()), limit, window, partial(self._similarity.papers_to_query, query)
            )
            for number, (query, hits) in enumerate(zip(queries, local, strict=True))
        ]

    async def snippets(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Passage]]:
        local = await self._corpus.snippets(queries, limit, window)
        self._journal_use("snippets", len(queries), sum(map(len, local)))
        if not self._remote:
            return local
        asked = self._remote_queries(queries, limit, window, [_cosines(found) for found in local])
        answers = await self._remote.snippets([query for _, query in asked])
        remote = {number: snippets for (number, _), snippets in zip(asked, answers, strict=True)}
        return [
            await self._merge_passages(query, found, remote.get(number, ()), limit, window)
            for number, (query, found) in enumerate(zip(queries, local, strict=True))
        ]

    async def neighbours(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Hit]]:
        own = self._local_ids(papers)
        answers = await self._corpus.neighbours(list(own), limit, window)
        self._journal_use("neighbours", len(own), sum(map(len, answers.values())))
        if not self._remote:
            return answers
        local = {own[key]: hits for key, hits in answers.items()}
        linked = (self._linker.paper(item) for item in papers)
        seeds = {paper.id: paper for paper in linked if paper and self._is_identifiable(paper.id)}
        lacking = [seed for seed in seeds if self._lacking(_cosines(local.get(seed, ())), window)]
        found = await self._remote.recommend([self._linker.identifiers(item) for item in lacking], limit)
        for item, records in zip(lacking, found, strict=True):
            measure = partial(self._similarity.papers_to_paper, seeds[item])
            hits = await self._merge_hits(local.get(item, ()), records, limit, window, measure, item)
            if hits:
                local[item] = hits
        return local

    async def references(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Paper]]:
        own = self._local_ids(papers)
        answers = await self._corpus.references(list(own), limit, window)
        self._journal_use("references", len(own), sum(map(len, answers.values())))
        if not self._remote:
            return answers
        return await self._supplement(
            papers, own, answers, limit, window, partial(self._remote.references, limit=limit)
        )

    async def citing(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Paper]]:
        """Return the papers that cite each paper. Remote sources are queried only if the corpus has no citing papers,
        although it may hold only some of them."""
        own = self._local_ids(papers)
        answers = await self._corpus.citing(list(own), limit, window)
        self._journal_use("citations", len(own), sum(map(len, answers.values())))
        if not self._remote:
            return answers
        ask = partial(self._remote.citing, limit=limit, window=window)
        return await self._supplement(papers, own, answers, limit, window, ask)

    async def citations(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, CitationIds]:
        if self._remote:
            return await citation_ids_of(self, papers, limit, window)
        answers = await self._corpus.citations(papers, limit, window)
        self._journal_use("references", len(papers), sum(len(answer.cited) for answer in answers.values()))
        self._journal_use("citations", len(papers), sum(len(answer.citing) for answer in answers.values()))
        return answers

    async def contents(self, papers: Sequence[PaperId]) -> dict[PaperId, PaperContents]:
        """Return the papers' contents, from the corpus only."""
        own = self._local_ids(papers)
        return {own[key]: content for key, content in (await self._corpus.contents(list(own))).items()}

    async def papers(self, ids: Sequence[PaperId], window: Window) -> dict[PaperId, Paper]:
        own = self._local_ids(ids)
        answers = await self._corpus.papers(list(own), window)
        self._journal_use("papers", 1, len(answers))
        if not self._remote:
            return answers
        self._linker.link(list(answers.values()))
        unknown = [item for item in ids if self._linker.paper(item) is None and self._is_identifiable(item)]
        if unknown:
            records = await self._remote.resolve([self._linker.identifiers(item) for item in unknown])
            self._link_within(records, window)
        known = {item: self._linker.paper(item) for item in ids}
        return {
            item: paper for item, paper in known.items() if paper is not None and admits(window, paper.publication_date)
        }

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        own = self._local_ids(papers)
        local = await self._corpus.similarity(text, list(own))
        found = {own[key]: cosine for key, cosine in local.items()}
        others = [self._linker.paper(item) for item in papers if item not in found]
        return found | dict(
            await self._similarity.papers_to_query(text, [paper for paper in others if paper is not None])
        )

    async def retractions(self, papers: Sequence[Paper]) -> dict[PaperId, Retraction]:
        """Return retractions from every source that knows any, with one batch of requests."""
        found = {paper.id: [paper.retraction] for paper in papers if paper.retraction is not None}
        if self._remote.knows_retractions:
            papers_by_identifiers: dict[Identifiers, list[PaperId]] = {}
            for paper in papers:
                papers_by_identifiers.setdefault(add_url_identifiers(paper).identifiers, []).append(paper.id)
            unidentified = papers_by_identifiers.pop(Identifiers(), [])
            reason = "it has no identifier that a source could look up"
            self._run.journal.record_dropped("check of a cited paper for retraction", reason, len(unidentified))
            for identifiers, notice in await self._remote.retractions(list(papers_by_identifiers)):
                for item in papers_by_identifiers.get(identifiers, ()):
                    found.setdefault(item, []).append(notice)
        return {item: choose_gravest_retraction(notices) for item, notices in found.items()}

    async def fit(self, text: str, window: Window) -> CorpusFit:
        """Measure how well the corpus alone, without remote sources, covers the idea."""
        fit = await self._corpus.fit(text, window)
        self._level = fit.level
        return fit

    def _journal_use(self, operation: Operation, requests: int, results: int) -> None:
        self._run.journal.record_use(self._corpus.source, operation, requests, results)

    def _lacking(self, similarities: Sequence[float], window: Window) -> Window | None:
        """Return the part of the window in which remote sources should supplement the corpus's results for a query.

        `similarities` are these results' cosines. Unless the corpus covers the idea's field and has enough papers near
        the query, return the whole window. Otherwise, return the time after the corpus's newest paper if that is old,
        or else None. docs/adr/0008 explains the thresholds."""
        near = sum(similarity >= self._settings.near for similarity in similarities)
        newest = self._corpus.newest(window)
        if self._level != "good" or near < self._settings.near_enough or newest is None:
            return window
        until = window.before or self._run.clock.now().date()
        stale = (until - newest).days > self._settings.fresh_days
        return window.intersection(Window(after=newest)) if stale else None

    def _remote_queries(
        self, queries: Sequence[str], limit: int, window: Window, similarities: Sequence[Sequence[float]]
    ) -> list[tuple[int, RemoteQuery]]:
        """Return the queries for remote sources, with their positions in `queries`, starting with those whose results
        are least similar."""
        windows = [self._lacking(similarity, window) for similarity in similarities]
        asked = [
            (number, RemoteQuery(query, limit, window))
            for number, (query, window) in enumerate(zip(queries, windows, strict=True))
            if window is not None
        ]
        return sorted(asked, key=lambda item: (sum(similarities[item[0]]), item[0]))

    async def _supplement(
        self,
        papers: Sequence[PaperId],
        own: Mapping[PaperId, PaperId],
        answers: Mapping[PaperId, Sequence[Paper]],
        limit: int,
        window: Window,
        ask: Callable[[Sequence[Identifiers]], Awaitable[Sequence[Sequence[Paper]]]],
    ) -> dict[PaperId, list[Paper]]:
        """Return the corpus's results by paper and, for papers where it has none, the remote sources' results."""
        known = {own[key]: self._linker.link(found) for key, found in answers.items()}
        lacking = [paper for paper in papers if not known.get(paper) and self._is_identifiable(paper)]
        found = await ask([self._linker.identifiers(item) for item in lacking])
        for item, records in zip(lacking, found, strict=True):
            if records:
                known[item] = self._link_within(records, window)[:limit]
        return known

    def _is_identifiable(self, paper: PaperId) -> bool:
        return bool(identifiers_by_scheme(self._linker.identifiers(paper)))

    def _local_ids(self, papers: Iterable[PaperId]) -> dict[PaperId, PaperId]:
        """Return a mapping from corpus ids to ids in this evaluation, for the papers that may be in the corpus."""
        found = ((self._linker.id_in_source(paper, self.source), paper) for paper in papers)
        return {local: item for local, item in found if local is not None}

    def _link_within(self, records: Sequence[Paper], window: Window) -> list[Paper]:
        """Return the records' distinct papers within the window. Each record is judged by the date that its own source
        states."""
        papers = self._linker.link(papers_within(records, window))
        return list({paper.id: paper for paper in papers}.values())

    async def _merge_hits(
        self,
        local: Sequence[Hit],
        records: Sequence[Paper],
        limit: int,
        window: Window,
        measure: Callable[[Sequence[Paper]], Awaitable[Mapping[PaperId, float]]],
        without: PaperId | None = None,
    ) -> list[Hit]:
        """Merge hits from the corpus and from remote sources, nearest first."""
        self._linker.link([hit.paper for hit in local])  # linked first, so that the corpus's ids are used
        found = self._link_within(records, window)
        papers = self._linker.link([hit.paper for hit in local])
        hits = [hit.model_copy(update={"paper": paper}) for hit, paper in zip(local, papers, strict=True)]
        known = {paper.id for paper in papers} | {without}
        others = [paper for paper in found if paper.id not in known]
        if not others:
            return hits
        cosines = await measure(others)
        found_beyond = [
            Hit(paper=paper, similarity=cosines[paper.id], near_beyond_corpus=cosines[paper.id] >= self._settings.near)
            for paper in others
        ]
        self._journal_near(found_beyond)
        hits += found_beyond
        return sorted(hits, key=lambda hit: (-hit.similarity, hit.paper.id))[:limit]

    async def _merge_passages(
        self, query: str, local: Sequence[Passage], snippets: Sequence[Snippet], limit: int, window: Window
    ) -> list[Passage]:
        papers = self._linker.link([passage.paper for passage in local])
        passages = [item.model_copy(update={"paper": paper}) for item, paper in zip(local, papers, strict=True)]
        counting = keep_within_window(snippets, window, lambda snippet: snippet.paper.publication_date)
        if not counting:
            return passages
        theirs = self._linker.link([snippet.paper for snippet in counting])
        cosines = await self._similarity.passages_to_query(query, [(item.paper.title, item.text) for item in counting])
        known = {paper.id for paper in papers}
        found_beyond = [
            Passage(
                paper=paper,
                section=item.section,
                text=item.text,
                similarity=cosine,
                cites=self._cited_ids(item.cites),
                near_beyond_corpus=cosine >= self._settings.near and paper.id not in known,
            )
            for item, paper, cosine in zip(counting, theirs, cosines, strict=True)
        ]
        self._journal_near(found_beyond)
        passages += found_beyond
        return sorted(passages, key=lambda item: (-item.similarity, item.paper.id, item.text))[:limit]

    def _journal_near(self, found: Iterable[Hit | Passage]) -> None:
        """Record near papers from remote sources in the journal, except papers published after the cutoff."""
        judged_by = Window.until(self._run.cutoff)
        self._run.journal.near_remote_papers.update(
            (item.paper.id, item.paper.source)
            for item in found
            if item.near_beyond_corpus and admits(judged_by, item.paper.publication_date)
        )

    def _cited_ids(self, cited: Iterable[Identifiers]) -> tuple[PaperId, ...]:
        ids = (self._linker.id_for(item) for item in cited)
        return tuple(dict.fromkeys(item for item in ids if item is not None))


def _cosines(found: Iterable[Hit | Passage]) -> list[float]:
    return [item.similarity for item in found]


@dataclass(frozen=True)
class FederatedLiteratureFactory:
    corpus: LocalCorpus
    sources: Mapping[str, Callable[[Run], LiteratureSource]] = field(default_factory=dict)
    """Factories for the sources, by name, in order of preference for their records. Each creates a source for one
    run."""
    settings: LiteratureSettings = field(default_factory=LiteratureSettings)

    @property
    def version(self) -> str:
        """Return the corpus version, followed by the names of the remote sources that supplement it, whose results have
        no version."""
        return " + ".join([self.corpus.version, *self.sources])

    def for_run(self, run: Run) -> FederatedLiterature:
        sources = [make(run) for make in self.sources.values()]
        remote = RemoteLiterature(sources, self.settings, run)
        return FederatedLiterature(self.corpus, remote, self.version, self.settings, run)
