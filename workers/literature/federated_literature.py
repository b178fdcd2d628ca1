"""Search the local corpus first, and supplement its results from remote sources if they are not enough.

Implements `assayer.ports.Literature` for one evaluation. Results from remote sources are filtered by the cutoff again
(with a cutoff, undated papers are excluded), merged with the corpus's results, and scored in the same way."""

from collections.abc import Awaitable, Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial

from assayer.cutoff import admits, keep_within_window, papers_within
from assayer.literature.citation_ids import collect_citation_ids
from assayer.literature.paper_identity import map_identifiers_by_scheme
from assayer.literature.retractions import choose_most_serious_retraction
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
        self._record_use("search", len(queries), sum(map(len, local)))
        if not self._remote:
            return local
        remote_queries = self._build_remote_queries(queries, limit, window, [_get_similarities(hits) for hits in local])
        remote_hits = await self._remote.search([query for _, query in remote_queries])
        remote = {number: papers for (number, _), papers in zip(remote_queries, remote_hits, strict=True)}
        return [
            await self._merge_hits(
                hits, remote.get(number, ()), limit, window, partial(self._similarity.compare_papers_to_query, query)
            )
            for number, (query, hits) in enumerate(zip(queries, local, strict=True))
        ]

    async def snippets(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Passage]]:
        local = await self._corpus.snippets(queries, limit, window)
        self._record_use("snippets", len(queries), sum(map(len, local)))
        if not self._remote:
            return local
        remote_queries = self._build_remote_queries(
            queries, limit, window, [_get_similarities(passages) for passages in local]
        )
        answers = await self._remote.snippets([query for _, query in remote_queries])
        remote = {number: snippets for (number, _), snippets in zip(remote_queries, answers, strict=True)}
        return [
            await self._merge_passages(query, passages, remote.get(number, ()), limit, window)
            for number, (query, passages) in enumerate(zip(queries, local, strict=True))
        ]

    async def neighbours(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Hit]]:
        local_ids = self._map_local_ids(papers)
        answers = await self._corpus.neighbours(list(local_ids), limit, window)
        self._record_use("neighbours", len(local_ids), sum(map(len, answers.values())))
        if not self._remote:
            return answers
        local = {local_ids[key]: hits for key, hits in answers.items()}
        linked = (self._linker.get_paper(item) for item in papers)
        seeds = {paper.id: paper for paper in linked if paper and self._is_identifiable(paper.id)}
        seeds_to_supplement = [
            seed for seed in seeds if self._choose_window_to_supplement(_get_similarities(local.get(seed, ())), window)
        ]
        remote_hits = await self._remote.recommend(
            [self._linker.identifiers(item) for item in seeds_to_supplement], limit
        )
        for item, records in zip(seeds_to_supplement, remote_hits, strict=True):
            measure = partial(self._similarity.compare_papers_to_paper, seeds[item])
            hits = await self._merge_hits(local.get(item, ()), records, limit, window, measure, item)
            if hits:
                local[item] = hits
        return local

    async def references(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Paper]]:
        local_ids = self._map_local_ids(papers)
        answers = await self._corpus.references(list(local_ids), limit, window)
        self._record_use("references", len(local_ids), sum(map(len, answers.values())))
        if not self._remote:
            return answers
        return await self._supplement(
            papers, local_ids, answers, limit, window, partial(self._remote.references, limit=limit)
        )

    async def citing(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Paper]]:
        """Return the papers that cite each paper. Remote sources are queried only if the corpus has no citing papers,
        although it may hold only some of them."""
        local_ids = self._map_local_ids(papers)
        answers = await self._corpus.citing(list(local_ids), limit, window)
        self._record_use("citations", len(local_ids), sum(map(len, answers.values())))
        if not self._remote:
            return answers
        query_remote = partial(self._remote.citing, limit=limit, window=window)
        return await self._supplement(papers, local_ids, answers, limit, window, query_remote)

    async def citations(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, CitationIds]:
        if self._remote:
            return await collect_citation_ids(self, papers, limit, window)
        answers = await self._corpus.citations(papers, limit, window)
        self._record_use("references", len(papers), sum(len(answer.cited) for answer in answers.values()))
        self._record_use("citations", len(papers), sum(len(answer.citing) for answer in answers.values()))
        return answers

    async def contents(self, papers: Sequence[PaperId]) -> dict[PaperId, PaperContents]:
        """Return the papers' contents, from the corpus only."""
        local_ids = self._map_local_ids(papers)
        return {local_ids[key]: content for key, content in (await self._corpus.contents(list(local_ids))).items()}

    async def papers(self, ids: Sequence[PaperId], window: Window) -> dict[PaperId, Paper]:
        local_ids = self._map_local_ids(ids)
        answers = await self._corpus.papers(list(local_ids), window)
        self._record_use("papers", 1, len(answers))
        if not self._remote:
            return answers
        self._linker.link(list(answers.values()))
        unknown = [item for item in ids if self._linker.get_paper(item) is None and self._is_identifiable(item)]
        if unknown:
            records = await self._remote.resolve([self._linker.identifiers(item) for item in unknown])
            self._link_within_window(records, window)
        linked_papers = {item: self._linker.get_paper(item) for item in ids}
        return {
            item: paper
            for item, paper in linked_papers.items()
            if paper is not None and admits(window, paper.publication_date)
        }

    async def similarity(self, text: str, papers: Sequence[PaperId]) -> dict[PaperId, float]:
        local_ids = self._map_local_ids(papers)
        local = await self._corpus.similarity(text, list(local_ids))
        cosines = {local_ids[key]: cosine for key, cosine in local.items()}
        other_papers = [self._linker.get_paper(item) for item in papers if item not in cosines]
        return cosines | dict(
            await self._similarity.compare_papers_to_query(text, [paper for paper in other_papers if paper is not None])
        )

    async def retractions(self, papers: Sequence[Paper]) -> dict[PaperId, Retraction]:
        """Return retractions from every source that knows any, with one batch of requests."""
        retractions = {paper.id: [paper.retraction] for paper in papers if paper.retraction is not None}
        if self._remote.can_check_retractions:
            papers_by_identifiers: dict[Identifiers, list[PaperId]] = {}
            for paper in papers:
                papers_by_identifiers.setdefault(add_url_identifiers(paper).identifiers, []).append(paper.id)
            unidentified = papers_by_identifiers.pop(Identifiers(), [])
            reason = "it has no identifier that a source could look up"
            self._run.journal.record_dropped("check of a cited paper for retraction", reason, len(unidentified))
            for identifiers, notice in await self._remote.retractions(list(papers_by_identifiers)):
                for item in papers_by_identifiers.get(identifiers, ()):
                    retractions.setdefault(item, []).append(notice)
        return {item: choose_most_serious_retraction(notices) for item, notices in retractions.items()}

    async def fit(self, text: str, window: Window) -> CorpusFit:
        """Measure how well the corpus alone, without remote sources, covers the idea."""
        fit = await self._corpus.fit(text, window)
        self._level = fit.level
        return fit

    def _record_use(self, operation: Operation, requests: int, results: int) -> None:
        self._run.journal.record_use(self._corpus.source, operation, requests, results)

    def _choose_window_to_supplement(self, similarities: Sequence[float], window: Window) -> Window | None:
        """Return the part of the window in which remote sources should supplement the corpus's results for a query.

        `similarities` are these results' cosines. Unless the corpus covers the idea's field and has enough papers near
        the query, return the whole window. Otherwise, return the time after the corpus's newest paper if that is old,
        or else None. docs/adr/0008 explains the thresholds."""
        near_count = sum(similarity >= self._settings.near for similarity in similarities)
        newest = self._corpus.get_newest_date(window)
        if self._level != "good" or near_count < self._settings.near_enough or newest is None:
            return window
        until = window.before or self._run.clock.now().date()
        is_stale = (until - newest).days > self._settings.fresh_days
        return window.intersection(Window(after=newest)) if is_stale else None

    def _build_remote_queries(
        self, queries: Sequence[str], limit: int, window: Window, similarities: Sequence[Sequence[float]]
    ) -> list[tuple[int, RemoteQuery]]:
        """Return the queries for remote sources, with their positions in `queries`, starting with those whose results
        are least similar."""
        windows = [self._choose_window_to_supplement(similarity, window) for similarity in similarities]
        remote_queries = [
            (number, RemoteQuery(query, limit, window))
            for number, (query, window) in enumerate(zip(queries, windows, strict=True))
            if window is not None
        ]
        return sorted(remote_queries, key=lambda item: (sum(similarities[item[0]]), item[0]))

    async def _supplement(
        self,
        papers: Sequence[PaperId],
        local_ids: Mapping[PaperId, PaperId],
        answers: Mapping[PaperId, Sequence[Paper]],
        limit: int,
        window: Window,
        query_remote: Callable[[Sequence[Identifiers]], Awaitable[Sequence[Sequence[Paper]]]],
    ) -> dict[PaperId, list[Paper]]:
        """Return the corpus's results by paper and, for papers where it has none, the remote sources' results."""
        linked_papers = {local_ids[key]: self._linker.link(results) for key, results in answers.items()}
        papers_to_supplement = [
            paper for paper in papers if not linked_papers.get(paper) and self._is_identifiable(paper)
        ]
        results = await query_remote([self._linker.identifiers(item) for item in papers_to_supplement])
        for item, records in zip(papers_to_supplement, results, strict=True):
            if records:
                linked_papers[item] = self._link_within_window(records, window)[:limit]
        return linked_papers

    def _is_identifiable(self, paper: PaperId) -> bool:
        return bool(map_identifiers_by_scheme(self._linker.identifiers(paper)))

    def _map_local_ids(self, papers: Iterable[PaperId]) -> dict[PaperId, PaperId]:
        """Return a mapping from corpus ids to ids in this evaluation, for the papers that may be in the corpus."""
        pairs = ((self._linker.find_id_in_source(paper, self.source), paper) for paper in papers)
        return {local_id: item for local_id, item in pairs if local_id is not None}

    def _link_within_window(self, records: Sequence[Paper], window: Window) -> list[Paper]:
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
        excluded_id: PaperId | None = None,
    ) -> list[Hit]:
        """Merge hits from the corpus and from remote sources, nearest first."""
        self._linker.link([hit.paper for hit in local])  # linked first, so that the corpus's ids are used
        remote_papers = self._link_within_window(records, window)
        papers = self._linker.link([hit.paper for hit in local])
        hits = [hit.model_copy(update={"paper": paper}) for hit, paper in zip(local, papers, strict=True)]
        known_ids = {paper.id for paper in papers} | {excluded_id}
        new_papers = [paper for paper in remote_papers if paper.id not in known_ids]
        if not new_papers:
            return hits
        cosines = await measure(new_papers)
        remote_hits = [
            Hit(paper=paper, similarity=cosines[paper.id], near_beyond_corpus=cosines[paper.id] >= self._settings.near)
            for paper in new_papers
        ]
        self._record_near_papers(remote_hits)
        hits += remote_hits
        return sorted(hits, key=lambda hit: (-hit.similarity, hit.paper.id))[:limit]

    async def _merge_passages(
        self, query: str, local: Sequence[Passage], snippets: Sequence[Snippet], limit: int, window: Window
    ) -> list[Passage]:
        papers = self._linker.link([passage.paper for passage in local])
        passages = [item.model_copy(update={"paper": paper}) for item, paper in zip(local, papers, strict=True)]
        snippets_in_window = keep_within_window(snippets, window, lambda snippet: snippet.paper.publication_date)
        if not snippets_in_window:
            return passages
        remote_papers = self._linker.link([snippet.paper for snippet in snippets_in_window])
        cosines = await self._similarity.compare_passages_to_query(
            query, [(item.paper.title, item.text) for item in snippets_in_window]
        )
        known_ids = {paper.id for paper in papers}
        remote_passages = [
            Passage(
                paper=paper,
                section=item.section,
                text=item.text,
                similarity=cosine,
                cites=self._assign_cited_ids(item.cites),
                near_beyond_corpus=cosine >= self._settings.near and paper.id not in known_ids,
            )
            for item, paper, cosine in zip(snippets_in_window, remote_papers, cosines, strict=True)
        ]
        self._record_near_papers(remote_passages)
        passages += remote_passages
        return sorted(passages, key=lambda item: (-item.similarity, item.paper.id, item.text))[:limit]

    def _record_near_papers(self, results: Iterable[Hit | Passage]) -> None:
        """Record near papers from remote sources in the journal, except papers published after the cutoff."""
        cutoff_window = Window.until(self._run.cutoff)
        self._run.journal.near_remote_papers.update(
            (item.paper.id, item.paper.source)
            for item in results
            if item.near_beyond_corpus and admits(cutoff_window, item.paper.publication_date)
        )

    def _assign_cited_ids(self, cited_works: Iterable[Identifiers]) -> tuple[PaperId, ...]:
        ids = (self._linker.assign_id(item) for item in cited_works)
        return tuple(dict.fromkeys(item for item in ids if item is not None))


def _get_similarities(results: Iterable[Hit | Passage]) -> list[float]:
    return [item.similarity for item in results]


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
        sources = [create_source(run) for create_source in self.sources.values()]
        remote = RemoteLiterature(sources, self.settings, run)
        return FederatedLiterature(self.corpus, remote, self.version, self.settings, run)
