"""Query a corpus with texts that are already embedded: query all shards concurrently and merge their results. An
unsharded corpus is treated as a single shard.

A key combines a shard number and a unit within the shard into one number, so that merged results look like one
reader's. Cosines are comparable across shards, so nearest-neighbour results are exact. BM25 scores use each shard's own
statistics, which differ no more than those of random samples, because papers are distributed over shards by the hashes
of their ids. Reference lists contain these hashes too, so a cited paper's shard is known. Texts are fetched last, and
only for the final results."""

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence
from typing import Concatenate, ParamSpec, TypeVar

import numpy as np
from numpy.typing import NDArray

from assayer.models import Absent, Filters, FullText, Hit, Paper, PaperContents, PaperId, Passage, Window
from assayer.ports import CitationIds, Vectors
from assayer.run.concurrency import gather_all
from index.search.hybrid_ranking import HybridMatches, QueryCandidates, compute_candidate_depth, rank_candidates
from index.search.hybrid_search import Query
from index.search.local_reader import ReaderHandle
from index.search.version_reader import VersionReader
from index.segments.bm25_index import Bm25Matches
from index.segments.citation_graph import keep_newest
from index.segments.lexical_index import LexicalMatches
from index.segments.passage_citations import CitedKeys, collect_keys, find_cited_papers
from index.segments.vector_index import VectorMatches
from index.shards.shard_store import assign_shards

P = ParamSpec("P")
Out = TypeVar("Out")
Of = TypeVar("Of")
_UNIT_BITS = 40
_NOTHING = np.empty(0, np.int64), np.empty(0, np.float64)
_NO_MATCHES = HybridMatches(VectorMatches(*_NOTHING), Bm25Matches(*_NOTHING))
"""Matches from a shard without passages."""
_UNWEIGHED = LexicalMatches(*_NOTHING)


class CorpusQueries:
    """Queries the shards of a single version. `assayer.ports.Literature` documents its methods."""

    def __init__(self, shards: Sequence[ReaderHandle]) -> None:
        self._shards = shards

    async def find_embedded(
        self, queries: Sequence[Query], vectors: Vectors, limit: int, filters: Filters
    ) -> list[list[Hit]]:
        rankings = await self._rank(queries, vectors, limit, filters, with_passages=False)
        papers = await self._fetch(VersionReader.get_papers_at, (key for ranking in rankings for key, _ in ranking))
        return [[Hit(paper=papers[key], similarity=cosine) for key, cosine in ranking] for ranking in rankings]

    async def find_passages_embedded(
        self, queries: Sequence[Query], vectors: Vectors, limit: int, filters: Filters
    ) -> list[list[Passage]]:
        rankings = await self._rank(queries, vectors, limit, filters, with_passages=True)
        passages = await self._fetch(VersionReader.get_passages_at, (key for ranking in rankings for key, _ in ranking))
        cites = await self._find_cited_papers(passages)
        return [
            [passages[key].model_copy(update={"similarity": cosine, "cites": cites[key]}) for key, cosine in ranking]
            for ranking in rankings
        ]

    async def _find_cited_papers(self, passages: Mapping[int, Passage]) -> dict[int, tuple[PaperId, ...]]:
        """Return the papers, from any shard, that each passage cites."""
        cited_keys = await self._fetch(VersionReader.get_works_cited_at, passages)
        papers = await self._find_papers_by_key(cited_keys.values())
        return {
            key: tuple(
                paper_id for paper_id in find_cited_papers(cited_keys[key], papers) if paper_id != passage.paper.id
            )
            for key, passage in passages.items()
        }

    async def _find_papers_by_key(self, cited_keys: Iterable[CitedKeys]) -> Mapping[int, Sequence[PaperId]]:
        papers: dict[int, list[PaperId]] = defaultdict(list)
        for shard_papers in await self._call_all(VersionReader.find_papers_by_key, sorted(collect_keys(cited_keys))):
            for key, paper_ids in shard_papers.items():
                papers[key] += paper_ids
        return papers

    async def neighbours(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Hit]]:
        paper_vectors = await self._call_owners(VersionReader.get_paper_vectors, papers)
        if not paper_vectors:
            return {}
        vectors = np.stack([paper_vector.vector for paper_vector in paper_vectors.values()])
        nearest = await self.find_nearest(vectors, limit + 1, Filters(window=window))
        neighbours_of = {}
        for (paper, item), matches in zip(paper_vectors.items(), nearest, strict=True):
            own_key = make_shard_key(int(assign_shards([paper], len(self._shards))[0]), item.unit)
            pairs = zip(matches.rows.tolist(), matches.similarities.tolist(), strict=True)
            neighbours_of[paper] = [pair for pair in pairs if pair[0] != own_key][:limit]
        papers_by_key = await self._fetch(
            VersionReader.get_papers_at,
            (key for neighbour_pairs in neighbours_of.values() for key, _ in neighbour_pairs),
        )
        return {
            paper: [Hit(paper=papers_by_key[key], similarity=cosine) for key, cosine in neighbour_pairs]
            for paper, neighbour_pairs in neighbours_of.items()
        }

    async def references(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Paper]]:
        """Return each paper's references, in the order of its own list. Papers whose references are not known are left
        out."""
        lists = await self._call_owners(VersionReader.find_cited_hashes, papers)
        count = len(self._shards)
        hashes = dict.fromkeys(id_hash for paper_hashes in lists.values() for id_hash in paper_hashes)
        owners, filters = {id_hash: id_hash % count for id_hash in hashes}, Filters(window=window)
        units = await self._call_grouped(owners, VersionReader.find_units_by_hash, filters)
        cited_keys = {
            paper: list(
                dict.fromkeys(
                    make_shard_key(id_hash % count, unit) for id_hash in paper_hashes for unit in units[id_hash]
                )
            )[:limit]
            for paper, paper_hashes in lists.items()
        }
        papers_by_key = await self._fetch(
            VersionReader.get_papers_at, (key for keys in cited_keys.values() for key in keys)
        )
        answers = {paper: [papers_by_key[key] for key in keys] for paper, keys in cited_keys.items()}
        answers |= await self._find_papers_cited_in_texts(
            [paper for paper in papers if paper not in answers], limit, window
        )
        return {paper: answers[paper] for paper in papers if paper in answers}

    async def _find_papers_cited_in_texts(
        self, papers: Sequence[PaperId], limit: int, window: Window
    ) -> dict[PaperId, list[Paper]]:
        """Return the papers that papers without a reference list cite in their texts."""
        works = await self._call_owners(VersionReader.find_works_cited_by, papers)
        by_key = await self._find_papers_by_key(works.values())
        cited_ids = {paper: find_cited_papers(cited_keys, by_key) for paper, cited_keys in works.items()}
        admitted_papers = await self.papers(
            list(dict.fromkeys(cited_id for paper_ids in cited_ids.values() for cited_id in paper_ids)), window
        )
        return {
            paper: [admitted_papers[cited_id] for cited_id in paper_ids if cited_id in admitted_papers][:limit]
            for paper, paper_ids in cited_ids.items()
        }

    async def citing(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, list[Paper]]:
        """Return, for each paper, the papers that cite it, newest first and undated papers last."""
        known_papers = list(await self._call_owners(VersionReader.find_units, papers))
        units_by_shard = await self._call_all(
            VersionReader.find_citing_units, known_papers, limit, Filters(window=window)
        )
        newest = {
            paper: keep_newest(
                (
                    dated_unit._replace(unit=make_shard_key(shard, dated_unit.unit))
                    for shard, units in enumerate(units_by_shard)
                    for dated_unit in units[paper]
                ),
                limit,
            )
            for paper in known_papers
        }
        papers_by_key = await self._fetch(
            VersionReader.get_papers_at,
            (dated_unit.unit for dated_units in newest.values() for dated_unit in dated_units),
        )
        return {
            paper: [papers_by_key[dated_unit.unit] for dated_unit in dated_units]
            for paper, dated_units in newest.items()
        }

    async def papers(self, ids: Sequence[PaperId], window: Window) -> dict[PaperId, Paper]:
        return await self._call_owners(VersionReader.get_papers, ids, Filters(window=window))

    async def citations(self, papers: Sequence[PaperId], limit: int, window: Window) -> dict[PaperId, CitationIds]:
        if len(self._shards) == 1:
            return await self._shards[0].call(VersionReader.find_citations, papers, limit, Filters(window=window))
        cited, citing = await gather_all([self.references(papers, limit, window), self.citing(papers, limit, window)])
        return {
            paper_id: CitationIds(
                [paper.id for paper in cited.get(paper_id, ())], [paper.id for paper in citing_papers]
            )
            for paper_id, citing_papers in citing.items()
        }

    async def find_papers_naming(self, name: str, limit: int, filters: Filters) -> list[Paper]:
        """Return the newest papers that name a method or a concept, according to the base graph."""
        units_by_shard = await self._call_all(VersionReader.find_units_naming, name, limit, filters)
        dated_keys = (
            dated_unit._replace(unit=make_shard_key(shard, dated_unit.unit))
            for shard, units in enumerate(units_by_shard)
            for dated_unit in units
        )
        newest = [dated_unit.unit for dated_unit in keep_newest(dated_keys, limit)]
        papers_by_key = await self._fetch(VersionReader.get_papers_at, newest)
        return [papers_by_key[key] for key in newest]

    async def contents(self, papers: Sequence[PaperId]) -> dict[PaperId, PaperContents]:
        return await self._call_owners(VersionReader.get_contents, papers)

    async def compute_similarities(
        self, vector: NDArray[np.float32], papers: Sequence[PaperId]
    ) -> dict[PaperId, float]:
        return await self._call_owners(VersionReader.compute_similarities, papers, vector)

    async def full_texts(self, papers: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
        return await self._call_owners(VersionReader.get_full_texts, papers)

    async def find_nearest(self, vectors: Vectors, limit: int, filters: Filters) -> list[VectorMatches]:
        matches_by_shard = await self._call_all(VersionReader.find_nearest, vectors, limit, filters)
        return [merge_matches(matches, limit) for matches in zip(*matches_by_shard, strict=True)]

    async def count_passing(self, filters: Filters) -> int:
        return sum(await self._call_all(VersionReader.count_passing, filters))

    async def _rank(
        self, queries: Sequence[Query], vectors: Vectors, limit: int, filters: Filters, with_passages: bool
    ) -> list[list[tuple[int, float]]]:
        """Return the best (key, cosine) pairs for each query."""
        candidates_by_shard = await self._call_all(
            VersionReader.find_candidates, queries, vectors, compute_candidate_depth(limit), filters, with_passages
        )
        return [
            rank_candidates(merge_candidates(candidates), limit)
            for candidates in zip(*candidates_by_shard, strict=True)
        ]

    async def _call_all(
        self, function: Callable[Concatenate[VersionReader, P], Out], *args: P.args, **kwargs: P.kwargs
    ) -> list[Out]:
        return await gather_all(shard.call(function, *args, **kwargs) for shard in self._shards)

    async def _call_owners(
        self,
        function: Callable[Concatenate[VersionReader, Sequence[PaperId], P], dict[PaperId, Out]],
        papers: Sequence[PaperId],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> dict[PaperId, Out]:
        """Call the function on the shards that own the papers. Results are in the order the papers were passed."""
        distinct_papers = list(dict.fromkeys(papers))
        owners = assign_shards(distinct_papers, len(self._shards)).tolist()
        return await self._call_grouped(dict(zip(distinct_papers, owners, strict=True)), function, *args, **kwargs)

    async def _call_grouped(
        self,
        owners: Mapping[Of, int],
        function: Callable[Concatenate[VersionReader, Sequence[Of], P], dict[Of, Out]],
        *args: P.args,
        **kwargs: P.kwargs,
    ) -> dict[Of, Out]:
        """Call the function on each shard with the items that it owns."""
        groups: dict[int, list[Of]] = defaultdict(list)
        for owned, shard in owners.items():
            groups[shard].append(owned)
        answers_by_shard = await gather_all(
            self._shards[shard].call(function, shard_items, *args, **kwargs) for shard, shard_items in groups.items()
        )
        merged = {owned: answer for answers in answers_by_shard for owned, answer in answers.items()}
        return {owner: merged[owner] for owner in owners if owner in merged}

    async def _fetch(
        self, function: Callable[[VersionReader, Sequence[int]], list[Out]], keys: Iterable[int]
    ) -> dict[int, Out]:
        groups: dict[int, list[int]] = defaultdict(list)
        for key in dict.fromkeys(keys):
            groups[split_shard_key(key)[0]].append(key)
        items_by_shard = await gather_all(
            self._shards[shard].call(function, [split_shard_key(key)[1] for key in shard_keys])
            for shard, shard_keys in groups.items()
        )
        pairs = (
            zip(shard_keys, papers, strict=True)
            for shard_keys, papers in zip(groups.values(), items_by_shard, strict=True)
        )
        return {key: answer for shard_keys in pairs for key, answer in shard_keys}


def make_shard_key(shard: int, unit: int) -> int:
    return unit | shard << _UNIT_BITS


def split_shard_key(key: int) -> tuple[int, int]:
    """Split a key into the shard number and the unit within the shard."""
    return key >> _UNIT_BITS, key & ((1 << _UNIT_BITS) - 1)


def merge_matches(matches_by_shard: Sequence[VectorMatches], limit: int) -> VectorMatches:
    """Merge all shards' matches for a query, and return the best as keys. Equal cosines are ordered by shard and
    unit."""
    keys = _make_keys([shard_matches.rows for shard_matches in matches_by_shard])
    similarities = np.concatenate([shard_matches.similarities for shard_matches in matches_by_shard])
    order = np.lexsort((keys, -similarities))[:limit]
    return VectorMatches(keys[order], similarities[order])


def merge_candidates(candidates_by_shard: Sequence[QueryCandidates]) -> QueryCandidates:
    """Merge all shards' candidates for one query."""
    if len(candidates_by_shard) == 1:
        return candidates_by_shard[0]
    depth = candidates_by_shard[0].depth
    papers = _merge_hybrid([candidates.papers for candidates in candidates_by_shard], depth)
    passages = None
    if any(candidates.passages for candidates in candidates_by_shard):
        passages = _merge_hybrid([candidates.passages or _NO_MATCHES for candidates in candidates_by_shard], depth)
    cosines = {
        make_shard_key(shard, unit): cosine
        for shard, candidates in enumerate(candidates_by_shard)
        for unit, cosine in candidates.cosines.items()
    }
    lexical = {
        make_shard_key(shard, unit): score
        for shard, candidates in enumerate(candidates_by_shard)
        for unit, score in candidates.lexical.items()
    }
    keys = _collect_units(papers) | (_collect_units(passages) if passages else set())
    lexical_scores = {key: lexical[key] for key in sorted(keys)} if lexical else {}
    return QueryCandidates(papers, passages, depth, {key: cosines[key] for key in sorted(keys)}, lexical_scores)


def _collect_units(matches: HybridMatches) -> set[int]:
    lexical = matches.by_lexical.rows.tolist() if matches.by_lexical else ()
    return {*matches.by_vector.rows.tolist(), *matches.by_bm25.documents.tolist(), *lexical}


def _merge_hybrid(matches_by_shard: Sequence[HybridMatches], depth: int) -> HybridMatches:
    keys, scores = _merge_best(
        [shard_matches.by_bm25.documents for shard_matches in matches_by_shard],
        [shard_matches.by_bm25.scores for shard_matches in matches_by_shard],
        depth,
    )
    lexical_by_shard = [shard_matches.by_lexical or _UNWEIGHED for shard_matches in matches_by_shard]
    lexical = None
    if any(shard_matches.by_lexical is not None for shard_matches in matches_by_shard):
        lexical = LexicalMatches(
            *_merge_best(
                [shard_matches.rows for shard_matches in lexical_by_shard],
                [shard_matches.scores for shard_matches in lexical_by_shard],
                depth,
            )
        )
    return HybridMatches(
        merge_matches([shard_matches.by_vector for shard_matches in matches_by_shard], depth),
        Bm25Matches(keys, scores),
        lexical,
    )


def _merge_best(
    units: Sequence[NDArray[np.int64]], scores: Sequence[NDArray[np.float64]], depth: int
) -> tuple[NDArray[np.int64], NDArray[np.float64]]:
    """Merge the shards' lists into keys and scores, highest first. Equal scores are ordered by shard and unit."""
    keys, all_scores = _make_keys(units), np.concatenate(scores)
    order = np.lexsort((keys, -all_scores))[:depth]
    return keys[order], all_scores[order]


def _make_keys(units_by_shard: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([units | (shard << _UNIT_BITS) for shard, units in enumerate(units_by_shard)])
