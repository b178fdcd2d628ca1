"""A corpus in shards answers as one: every shard is asked at the same time, and their answers are merged.

A key is a shard and a unit in it, as one number, so that what is merged looks like the answer of one reader. Cosines
compare across shards, so what is nearest is exact. BM25 scores count with each shard's own statistics; papers are
spread over shards by the hashes of their ids, so these differ no more than samples of one corpus do. Texts are fetched
last, and only those of the answer. The hash of its id tells a paper's own shard, and such hashes are what a list of
references holds.
"""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from assayer.models import Absent, Filters, FullText, Hit, Paper, PaperContents, PaperId, Passage
from assayer.ports import CitationIds, Vectors
from assayer.run.structured_concurrency import together
from index.search.corpus_queries import ReaderHandle
from index.search.hybrid_ranking import HybridMatches, QueryCandidates, candidate_depth, rank_candidates
from index.search.hybrid_search import Query
from index.search.version_reader import VersionReader
from index.segments.bm25_index import Bm25Matches
from index.segments.citation_graph import newest_first
from index.segments.lexical_index import LexicalMatches
from index.segments.passage_citations import CitedKeys, keys_in, papers_cited
from index.segments.vector_index import VectorMatches
from index.shards.shard_store import shard_of

__all__ = ["ShardedCorpusQueries", "merge_candidates", "merge_matches", "shard_key", "split_shard_key"]


P = ParamSpec("P")
Out = TypeVar("Out")
Of = TypeVar("Of")
_UNIT_BITS = 40
_NOTHING = np.empty(0, np.int64), np.empty(0, np.float64)
_NO_MATCHES = HybridMatches(VectorMatches(*_NOTHING), Bm25Matches(*_NOTHING))
"""The answer of a shard without passages."""
_UNWEIGHED = LexicalMatches(*_NOTHING)


class ShardedCorpusQueries:
    """Implements `index.search.corpus_queries.CorpusQueries` over the shards of one version, in their order."""

    def __init__(self, shards: Sequence[ReaderHandle]) -> None:
        self._shards = shards

    async def search(self, queries: Sequence[Query], vectors: Vectors, limit: int, filters: Filters) -> list[list[Hit]]:
        found = await self._ranked(queries, vectors, limit, filters, with_passages=False)
        papers = await self._fetch(VersionReader.papers_at, (key for one in found for key, _ in one))
        return [[Hit(paper=papers[key], similarity=cosine) for key, cosine in one] for one in found]

    async def snippets(
        self, queries: Sequence[Query], vectors: Vectors, limit: int, filters: Filters
    ) -> list[list[Passage]]:
        found = await self._ranked(queries, vectors, limit, filters, with_passages=True)
        passages = await self._fetch(VersionReader.passages_at, (key for one in found for key, _ in one))
        cites = await self._papers_cited(passages)
        return [
            [passages[key].model_copy(update={"similarity": cosine, "cites": cites[key]}) for key, cosine in one]
            for one in found
        ]

    async def _papers_cited(self, passages: Mapping[int, Passage]) -> dict[int, tuple[PaperId, ...]]:
        """The papers that passages cite, whichever shard they lie in."""
        cited = await self._fetch(VersionReader.works_cited_at, passages)
        papers = await self._papers_by_key(cited.values())
        return {
            key: tuple(one for one in papers_cited(cited[key], papers) if one != passage.paper.id)
            for key, passage in passages.items()
        }

    async def _papers_by_key(self, cited: Iterable[CitedKeys]) -> Mapping[int, Sequence[PaperId]]:
        papers: dict[int, list[PaperId]] = defaultdict(list)
        for found in await self._call_all(VersionReader.papers_by_key, sorted(keys_in(cited))):
            for key, some in found.items():
                papers[key] += some
        return papers

    async def neighbours(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Hit]]:
        own = await self._call_owners(VersionReader.paper_vectors, papers)
        if not own:
            return {}
        vectors = np.stack([one.vector for one in own.values()])
        nearest = await self.nearest(vectors, limit + 1, filters)
        found = {}
        for (paper, one), near in zip(own.items(), nearest, strict=True):
            itself = shard_key(int(shard_of([paper], len(self._shards))[0]), one.unit)
            pairs = zip(near.rows.tolist(), near.similarities.tolist(), strict=True)
            found[paper] = [pair for pair in pairs if pair[0] != itself][:limit]
        fetched = await self._fetch(VersionReader.papers_at, (key for some in found.values() for key, _ in some))
        return {
            paper: [Hit(paper=fetched[key], similarity=cosine) for key, cosine in some] for paper, some in found.items()
        }

    async def references(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Paper]]:
        lists = await self._call_owners(VersionReader.cited_hashes, papers)
        count = len(self._shards)
        hashes = dict.fromkeys(one for some in lists.values() for one in some)
        found = await self._call_grouped({one: one % count for one in hashes}, VersionReader.units_by_hash, filters)
        cited = {
            paper: list(dict.fromkeys(shard_key(one % count, unit) for one in some for unit in found[one]))[:limit]
            for paper, some in lists.items()
        }
        fetched = await self._fetch(VersionReader.papers_at, (key for keys in cited.values() for key in keys))
        answers = {paper: [fetched[key] for key in keys] for paper, keys in cited.items()}
        answers |= await self._cited_in_texts([one for one in papers if one not in answers], limit, filters)
        return {one: answers[one] for one in papers if one in answers}

    async def _cited_in_texts(
        self, papers: Sequence[PaperId], limit: int, filters: Filters
    ) -> dict[PaperId, list[Paper]]:
        """Of papers whose references no source gave."""
        works = await self._call_owners(VersionReader.works_cited_by, papers)
        by_key = await self._papers_by_key(works.values())
        cited = {paper: papers_cited(some, by_key) for paper, some in works.items()}
        passing = await self.papers(list(dict.fromkeys(one for some in cited.values() for one in some)), filters)
        return {paper: [passing[one] for one in some if one in passing][:limit] for paper, some in cited.items()}

    async def citing(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Paper]]:
        known = list(await self._call_owners(VersionReader.units_of, papers))
        each = await self._call_all(VersionReader.citing_units, known, limit, filters)
        newest = {
            paper: newest_first(
                (
                    one._replace(unit=shard_key(shard, one.unit))
                    for shard, found in enumerate(each)
                    for one in found[paper]
                ),
                limit,
            )
            for paper in known
        }
        fetched = await self._fetch(VersionReader.papers_at, (one.unit for some in newest.values() for one in some))
        return {paper: [fetched[one.unit] for one in some] for paper, some in newest.items()}

    async def papers(self, ids: Sequence[PaperId], filters: Filters) -> dict[PaperId, Paper]:
        return await self._call_owners(VersionReader.papers, ids, filters)

    async def citations(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, CitationIds]:
        cited, citing = await together([self.references(papers, limit, filters), self.citing(papers, limit, filters)])
        return {
            one: CitationIds([each.id for each in cited.get(one, ())], [each.id for each in some])
            for one, some in citing.items()
        }

    async def naming(self, name: str, limit: int, filters: Filters) -> list[Paper]:
        each = await self._call_all(VersionReader.units_naming, name, limit, filters)
        keyed = (one._replace(unit=shard_key(shard, one.unit)) for shard, found in enumerate(each) for one in found)
        newest = [one.unit for one in newest_first(keyed, limit)]
        fetched = await self._fetch(VersionReader.papers_at, newest)
        return [fetched[one] for one in newest]

    async def contents(self, papers: Sequence[PaperId]) -> dict[PaperId, PaperContents]:
        return await self._call_owners(VersionReader.contents, papers)

    async def similarities(self, vector: NDArray[np.float32], papers: Sequence[PaperId]) -> dict[PaperId, float]:
        return await self._call_owners(VersionReader.similarities, papers, vector)

    async def full_texts(self, papers: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
        return await self._call_owners(VersionReader.full_texts, papers)

    async def nearest(self, vectors: Vectors, limit: int, filters: Filters) -> list[VectorMatches]:
        each = await self._call_all(VersionReader.nearest, vectors, limit, filters)
        return [merge_matches(found, limit) for found in zip(*each, strict=True)]

    async def count_passing(self, filters: Filters) -> int:
        return sum(await self._call_all(VersionReader.count_passing, filters))

    async def _ranked(
        self, queries: Sequence[Query], vectors: Vectors, limit: int, filters: Filters, with_passages: bool
    ) -> list[list[tuple[int, float]]]:
        """Keys and cosines for every query."""
        each = await self._call_all(
            VersionReader.candidates, queries, vectors, candidate_depth(limit), filters, with_passages
        )
        return [rank_candidates(merge_candidates(opinions), limit) for opinions in zip(*each, strict=True)]

    async def _call_all(
        self, function: Callable[Concatenate[VersionReader, P], Out], *args: P.args, **kwargs: P.kwargs
    ) -> list[Out]:
        return await together(shard.call(function, *args, **kwargs) for shard in self._shards)

    async def _call_owners(
        self,
        function: Callable[Concatenate[VersionReader, Sequence[PaperId], P], dict[PaperId, Out]],
        papers: Sequence[PaperId],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> dict[PaperId, Out]:
        """In the order of the papers as asked."""
        asked = list(dict.fromkeys(papers))
        owners = shard_of(asked, len(self._shards)).tolist()
        return await self._call_grouped(dict(zip(asked, owners, strict=True)), function, *args, **kwargs)

    async def _call_grouped(
        self,
        owners: Mapping[Of, int],
        function: Callable[Concatenate[VersionReader, Sequence[Of], P], dict[Of, Out]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> dict[Of, Out]:
        """Calls each shard with what it owns."""
        groups: dict[int, list[Of]] = defaultdict(list)
        for one, shard in owners.items():
            groups[shard].append(one)
        each = await together(
            self._shards[shard].call(function, some, *args, **kwargs) for shard, some in groups.items()
        )
        found = {one: said for answers in each for one, said in answers.items()}
        return {one: found[one] for one in owners if one in found}

    async def _fetch(
        self, function: Callable[[VersionReader, Sequence[int]], list[Out]], keys: Iterable[int]
    ) -> dict[int, Out]:
        groups: dict[int, list[int]] = defaultdict(list)
        for key in dict.fromkeys(keys):
            groups[split_shard_key(key)[0]].append(key)
        each = await together(
            self._shards[shard].call(function, [split_shard_key(key)[1] for key in some])
            for shard, some in groups.items()
        )
        pairs = (zip(some, found, strict=True) for some, found in zip(groups.values(), each, strict=True))
        return {key: one for some in pairs for key, one in some}


def shard_key(shard: int, unit: int) -> int:
    return unit | shard << _UNIT_BITS


def split_shard_key(key: int) -> tuple[int, int]:
    """The shard and the unit in it."""
    return key >> _UNIT_BITS, key & ((1 << _UNIT_BITS) - 1)


def merge_matches(each: Sequence[VectorMatches], limit: int) -> VectorMatches:
    """The best for one query, from one answer a shard; equal cosines by shard and unit."""
    keys = _keys([one.rows for one in each])
    similarities = np.concatenate([one.similarities for one in each])
    order = np.lexsort((keys, -similarities))[:limit]
    return VectorMatches(keys[order], similarities[order])


def merge_candidates(each: Sequence[QueryCandidates]) -> QueryCandidates:
    """For one query, from one answer a shard."""
    depth = each[0].depth
    papers = _merged_hybrid([one.papers for one in each], depth)
    passages = None
    if any(one.passages for one in each):
        passages = _merged_hybrid([one.passages or _NO_MATCHES for one in each], depth)
    cosines = {shard_key(shard, unit): cosine for shard, one in enumerate(each) for unit, cosine in one.cosines.items()}
    lexical = {shard_key(shard, unit): score for shard, one in enumerate(each) for unit, score in one.lexical.items()}
    named = _units_named(papers) | (_units_named(passages) if passages else set())
    weighed = {key: lexical[key] for key in sorted(named)} if lexical else {}
    return QueryCandidates(papers, passages, depth, {key: cosines[key] for key in sorted(named)}, weighed)


def _units_named(found: HybridMatches) -> set[int]:
    lexical = found.by_lexical.rows.tolist() if found.by_lexical else ()
    return {*found.by_vector.rows.tolist(), *found.by_bm25.documents.tolist(), *lexical}


def _merged_hybrid(each: Sequence[HybridMatches], depth: int) -> HybridMatches:
    keys, scores = _best([one.by_bm25.documents for one in each], [one.by_bm25.scores for one in each], depth)
    weighed = [one.by_lexical or _UNWEIGHED for one in each]
    lexical = None
    if any(one.by_lexical is not None for one in each):
        lexical = LexicalMatches(*_best([one.rows for one in weighed], [one.scores for one in weighed], depth))
    return HybridMatches(merge_matches([one.by_vector for one in each], depth), Bm25Matches(keys, scores), lexical)


def _best(
    units: Sequence[NDArray[np.int64]], scores: Sequence[NDArray[np.float64]], depth: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Keys and scores of one list a shard, the highest first; equal ones by shard and unit."""
    keys, every = _keys(units), np.concatenate(scores)
    order = np.lexsort((keys, -every))[:depth]
    return keys[order], every[order]


def _keys(each: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([units | (shard << _UNIT_BITS) for shard, units in enumerate(each)])
