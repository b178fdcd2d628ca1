"""Fast search for papers, pages, repositories and data sets from before or after the cutoff. Results are records."""

import hashlib
from collections.abc import Iterable, Mapping, Sequence
from typing import Literal, NamedTuple

from assayer.cutoff import admits
from assayer.evaluation_context import EvaluationContext
from assayer.literature.own_paper import build_shingles, is_own_paper
from assayer.methods.innoeval.dimensions import EvidenceKind
from assayer.methods.innoeval.options import InnoEvalOptions
from assayer.methods.innoeval.schemas import SourceQuery
from assayer.models import Dataset, Operation, Paper, PaperId, Repository, WebResult, Window
from assayer.run.concurrency import Failed, gather_all, gather_settled
from assayer.text.sanitise import sanitise

SOURCE_KINDS: tuple[EvidenceKind, ...] = ("literature", "web", "code", "data")
SOURCE_NOUNS: Mapping[EvidenceKind, str] = {
    "literature": "paper",
    "web": "web page",
    "code": "repository",
    "data": "data set",
}

_OPERATIONS: Mapping[EvidenceKind, Operation] = {"web": "web", "code": "code", "data": "datasets"}
"""The operation under which the journal counts results of each kind."""

CutoffSide = Literal["before", "after"]
"""A side of the cutoff; without a cutoff, everything counts as before it."""


class _Place(NamedTuple):
    """A query, and one of the sources to which it is sent."""

    query: SourceQuery
    source: str


class SearchCandidate(NamedTuple):
    """A search result that has not been read yet."""

    paper: Paper
    kind: EvidenceKind
    standing: str
    """Facts about the source's reception, such as venue, citations or stars. With a cutoff, facts that may be newer
    than the cutoff are left out."""


class FastSearch:
    """Searches all sources for one evaluation. The idea's own paper, page and repository are excluded."""

    def __init__(self, context: EvaluationContext[InnoEvalOptions]) -> None:
        backends, words = context.backends, context.idea.own_words
        self._web, self._code, self._library = backends.web, backends.code, context.library
        self._datasets = {source.source: source for source in backends.datasets}
        self._run, self._options = context.run, context.options
        self._title, self._shingles = words.title, build_shingles(words.text)
        self._is_admitted: dict[tuple[PaperId, CutoffSide], bool] = {}

    @property
    def kinds(self) -> tuple[EvidenceKind, ...]:
        is_available = {
            "literature": True,
            "web": self._web is not None,
            "code": self._code is not None,
            "data": bool(self._datasets),
        }
        return tuple(kind for kind in SOURCE_KINDS if is_available[kind])

    def get_window(self, cutoff_side: CutoffSide) -> Window:
        """Return the date window on this side of the cutoff, or an unlimited one without a cutoff."""
        cutoff = self._run.cutoff
        if cutoff_side == "before" or cutoff is None:
            return Window.until(cutoff)
        return Window.later_than(cutoff)

    async def search(
        self, queries: Sequence[SourceQuery], cutoff_side: CutoffSide = "before"
    ) -> dict[SourceQuery, list[SearchCandidate]]:
        """Search for every query; results are best first. Raises LiteratureError if the corpus fails. If a query for
        web, code or data fails, the journal records it, and the query is missing from the result."""
        papers = [query for query in queries if query.kind == "literature"]
        other_queries = [query for query in queries if query.kind != "literature"]
        answers = await gather_all(
            [self._search_papers(papers, cutoff_side), self._search_beyond_papers(other_queries, cutoff_side)]
        )
        return {query: candidates for answer in answers for query, candidates in answer.items()}

    async def _search_papers(
        self, queries: Sequence[SourceQuery], cutoff_side: CutoffSide
    ) -> dict[SourceQuery, list[SearchCandidate]]:
        if not queries:
            return {}
        texts = [query.text for query in queries]
        if cutoff_side == "before":
            answers = await self._library.search(texts, self._options.hits)
        else:
            answers = await self._library.search_after_cutoff(texts, self._options.hits)
        return {
            query: [SearchCandidate(hit.paper, "literature", self._describe_paper_standing(hit.paper)) for hit in hits]
            for query, hits in zip(queries, answers, strict=True)
        }

    async def _search_beyond_papers(
        self, queries: Sequence[SourceQuery], cutoff_side: CutoffSide
    ) -> dict[SourceQuery, list[SearchCandidate]]:
        places = [_Place(query, source) for query in queries for source in self._list_sources(query.kind)]
        outcomes = await gather_settled(places, lambda place: self._search_place(place, cutoff_side))
        self._run.keep_successes(outcomes, "query for web, code or data")
        candidates_by_query: dict[SourceQuery, list[SearchCandidate]] = {}
        for (query, source), outcome in zip(places, outcomes, strict=True):
            if isinstance(outcome, Failed):
                self._run.journal.record_source_failure(source, _OPERATIONS[query.kind], outcome.error)
            else:
                self._run.journal.record_use(source, _OPERATIONS[query.kind], results=len(outcome))
                candidates_by_query.setdefault(query, []).extend(outcome)
        return {
            query: self._keep_admitted(candidates, cutoff_side) for query, candidates in candidates_by_query.items()
        }

    def _list_sources(self, kind: EvidenceKind) -> tuple[str, ...]:
        return {"web": ("web",), "code": ("github",), "data": tuple(self._datasets)}.get(kind, ())

    async def _search_place(self, place: _Place, cutoff_side: CutoffSide) -> list[SearchCandidate]:
        query, window = place.query, self.get_window(cutoff_side)
        if query.kind == "web" and self._web is not None:
            (pages,) = await self._web.search([query.text], self._options.pages, window)
            return [SearchCandidate(_build_page_record(page), "web", "") for page in pages]
        if query.kind == "code" and self._code is not None:
            (repositories,) = await self._code.search([query.text], self._options.repositories, window)
            return [
                SearchCandidate(
                    _build_repository_record(repository), "code", self._describe_repository_standing(repository)
                )
                for repository in repositories
            ]
        if query.kind == "data":
            (datasets,) = await self._datasets[place.source].search([query.text], self._options.datasets, window)
            return [
                SearchCandidate(
                    _build_dataset_record(item, place.source), "data", self._describe_dataset_standing(item)
                )
                for item in datasets
            ]
        return []

    def _keep_admitted(self, candidates: Iterable[SearchCandidate], cutoff_side: CutoffSide) -> list[SearchCandidate]:
        admitted_candidates = []
        for item in candidates:
            key = item.paper.id, cutoff_side
            if key not in self._is_admitted:
                self._is_admitted[key] = self.admits(item.paper, cutoff_side)
            if self._is_admitted[key]:
                admitted_candidates.append(self._remove_later_details(item, cutoff_side))
        return admitted_candidates

    def _remove_later_details(self, search_candidate: SearchCandidate, cutoff_side: CutoffSide) -> SearchCandidate:
        """Return the candidate as it was at the cutoff. A repository loses its description and topics, which reflect
        its current state; its files are later read as of the cutoff."""
        if search_candidate.kind != "code" or cutoff_side == "after" or self._run.cutoff is None:
            return search_candidate
        return search_candidate._replace(paper=search_candidate.paper.model_copy(update={"abstract": ""}))

    def admits(self, record: Paper, cutoff_side: CutoffSide) -> bool:
        """Return whether a page, repository or data set may be used; if not, the journal records why. Check again after
        reading, because the content can reveal a different date."""
        if not admits(self.get_window(cutoff_side), record.publication_date):
            self._run.journal.record_dropped(_get_noun(record), "on the other side of the cutoff, or undated")
            return False
        if self._is_own(record):
            self._run.journal.record_dropped(_get_noun(record), "belongs to the idea itself")
            return False
        self._run.journal.found.add(record.id)
        return True

    def _is_own(self, record: Paper) -> bool:
        """Return whether the record is the idea's own page, repository or paper. A page or repository counts as its own
        if it mentions the title anywhere."""
        title = " ".join(self._title.casefold().split())
        record_text = " ".join(f"{record.title} {record.abstract}".casefold().split())
        names_title = len(title.split()) >= 4 and title in record_text
        return names_title or is_own_paper(self._title, self._shingles, record)

    def _describe_paper_standing(self, paper: Paper) -> str:
        """Return the paper's venue and citation count, or an empty string with a cutoff: venues are often added to
        records after the paper's date."""
        if self._run.cutoff:
            return ""
        citations = f"cited {paper.citation_count} times" if paper.citation_count is not None else ""
        return _join_facts(paper.venue, citations)

    def _describe_dataset_standing(self, dataset: Dataset) -> str:
        if self._run.cutoff:
            return dataset.publisher
        downloads = f"downloaded {dataset.downloads} times" if dataset.downloads is not None else ""
        return _join_facts(dataset.publisher, dataset.licence, downloads)

    def _describe_repository_standing(self, repository: Repository) -> str:
        if self._run.cutoff:
            return repository.language
        stars = f"{repository.stars} stars" if repository.stars is not None else ""
        last_change = f"last changed {repository.pushed}" if repository.pushed else ""
        return _join_facts(repository.language, stars, last_change)


def _join_facts(*facts: str) -> str:
    return ", ".join(" ".join(sanitise(fact)[0].split())[:80] for fact in facts if fact)


def _get_noun(record: Paper) -> str:
    kinds: Mapping[str, EvidenceKind] = {"web": "web", "github": "code"}
    return SOURCE_NOUNS[kinds.get(record.source, "data")]


def _build_page_record(page: WebResult) -> Paper:
    key = hashlib.sha256(page.url.encode()).hexdigest()[:16]
    return Paper(
        id=PaperId(f"web:{key}"),
        title=page.title or page.url,
        abstract=page.snippet,
        publication_date=page.published,
        url=page.url,
        source="web",
    )


def _build_repository_record(repository: Repository) -> Paper:
    topics = f" Topics: {', '.join(repository.topics)}." if repository.topics else ""
    return Paper(
        id=PaperId(f"github:{repository.name}"),
        title=repository.name,
        abstract=f"{repository.description}{topics}",
        publication_date=repository.created,
        url=repository.url,
        source="github",
    )


def _build_dataset_record(dataset: Dataset, source: str) -> Paper:
    return Paper(
        id=PaperId(dataset.key),
        title=dataset.title,
        abstract=dataset.description,
        authors=dataset.creators,
        publication_date=dataset.published,
        venue=dataset.publisher,
        url=dataset.url,
        source=source,
    )
