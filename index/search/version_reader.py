"""Answers queries about one version of a corpus, one after the other. `LocalReader` runs it in a thread.

Methods that take ids answer for a corpus in one piece. Those that take units or hashes are for shards, whose partial
answers `index.shards.sharded_queries` merges.
"""

import datetime as dt
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.models import Absent, Filters, FullText, Hit, Paper, PaperContents, PaperId, Passage
from assayer.ports import CitationIds, Vectors
from index.hashing import Hashes, hash64
from index.search.citation_steps import CitationSteps
from index.search.hybrid_ranking import QueryCandidates, candidate_depth, rank_candidates
from index.search.hybrid_search import HybridSearch, Query
from index.search.query_batching import batchable
from index.segments.citation_graph import DatedUnit, newest_first
from index.segments.content_graph import name_keys
from index.segments.gpus import Gpus
from index.segments.paper_keys import keys_of_work
from index.segments.passage_citations import CitedKeys, keys_in, papers_cited
from index.segments.passages import ABSTRACT, split_passages
from index.segments.row_filter import read_hidden
from index.segments.segment import Segment
from index.segments.vector_index import VectorMatches
from index.versions.manifest import Manifest
from index.versions.version_store import BM25_FOLDER, VersionStore

__all__ = ["PaperVector", "VersionReader"]


class PaperVector(NamedTuple):
    unit: int
    vector: NDArray[np.float32]


class VersionReader:
    """Units are those of `UnitNumbers`: papers and passages, counted over all segments."""

    def __init__(self, segments: Sequence[Segment], bm25_folder: Path) -> None:
        self.segments = segments
        self._search = HybridSearch(segments, bm25_folder)
        self._units = self._search.units

    @classmethod
    def open(cls, versions: VersionStore, manifest: Manifest) -> "VersionReader":
        directory = versions.version_path(manifest.version)
        segments = [
            Segment(versions.segment_path(entry.name), entry, read_hidden(directory, entry.name), manifest.exact_up_to)
            for entry in manifest.segments
        ]
        return cls(segments, directory / BM25_FOLDER)

    def move_to(self, gpus: Gpus) -> None:
        """All vectors. Raises ConfigurationError."""
        self._search.move_to(gpus)

    def __len__(self) -> int:
        """Papers, hidden ones included."""
        return int(self._units.papers[-1])

    @batchable(2)
    def search(self, queries: Sequence[Query], vectors: Vectors, limit: int, filters: Filters) -> list[list[Hit]]:
        found = self.candidates(queries, vectors, candidate_depth(limit), filters)
        return [
            [Hit(paper=self.paper(unit), similarity=similarity) for unit, similarity in rank_candidates(one, limit)]
            for one in found
        ]

    @batchable(2)
    def snippets(self, queries: Sequence[Query], vectors: Vectors, limit: int, filters: Filters) -> list[list[Passage]]:
        found = self.candidates(queries, vectors, candidate_depth(limit), filters, with_passages=True)
        ranked = [rank_candidates(one, limit) for one in found]
        units = list(dict.fromkeys(unit for some in ranked for unit, _ in some))
        cited = dict(zip(units, self.works_cited_at(units), strict=True))
        papers = self.papers_by_key(sorted(keys_in(cited.values())))
        return [[self.passage(*one, papers_cited(cited[one[0]], papers)) for one in some] for some in ranked]

    @batchable(2)
    def candidates(
        self, queries: Sequence[Query], vectors: Vectors, depth: int, filters: Filters, with_passages: bool = False
    ) -> list[QueryCandidates]:
        """So many of each kind for each query, before anything is fused."""
        columns, without = _column_filters(filters), self._without(filters)
        return self._search.candidates(queries, vectors, depth, columns, without, with_passages)

    @batchable(1)
    def nearest(self, vectors: Vectors, limit: int, filters: Filters) -> list[VectorMatches]:
        """Units of papers."""
        return self._search.nearest_papers(vectors, limit, _column_filters(filters), self._without(filters))

    def neighbours(self, ids: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Hit]]:
        own = self.paper_vectors(ids)
        if not own:
            return {}
        vectors = np.stack([one.vector for one in own.values()])
        answers = {}
        for (paper_id, one), nearest in zip(own.items(), self.nearest(vectors, limit + 1, filters), strict=True):
            others = [
                Hit(paper=self.paper(other), similarity=similarity)
                for other, similarity in zip(*map(np.ndarray.tolist, nearest), strict=True)
                if other != one.unit
            ]
            answers[paper_id] = others[:limit]
        return answers

    def similarities(self, ids: Sequence[PaperId], vector: NDArray[np.float32]) -> dict[PaperId, float]:
        """Cosines of the known papers."""
        known = self.units_of(ids)
        return dict(zip(known, self._search.similarities(vector, list(known.values())), strict=True))

    def paper_vectors(self, ids: Sequence[PaperId]) -> dict[PaperId, PaperVector]:
        """Of the known papers."""
        return {one: PaperVector(unit, self.vector(unit)) for one, unit in self.units_of(ids).items()}

    def vector(self, unit: int) -> NDArray[np.float32]:
        """Of a paper."""
        segment, row = self._segment_row(unit)
        vector: NDArray[np.float32] = segment.papers.vectors[row].astype(np.float32)
        return vector

    def papers(self, ids: Sequence[PaperId], filters: Filters) -> dict[PaperId, Paper]:
        return {one: self.paper(unit) for one, unit in self.units_of(ids).items() if self.passes(unit, filters)}

    def papers_at(self, units: Sequence[int]) -> list[Paper]:
        return [self.paper(unit) for unit in units]

    def paper(self, unit: int) -> Paper:
        segment, row = self._segment_row(unit)
        return segment.store.paper(row)

    def contents(self, ids: Sequence[PaperId]) -> dict[PaperId, PaperContents]:
        """Of the known papers."""
        found = {one: self._segment_row(unit) for one, unit in self.units_of(ids).items()}
        return {one: segment.contents_at(row) for one, (segment, row) in found.items()}

    def units_naming(self, name: str, limit: int, filters: Filters) -> list[DatedUnit]:
        """Papers that name a method or a concept, the newest first. Those that an earlier release wrote are missing."""
        columns, without = _column_filters(filters), self._without(filters)
        found: set[DatedUnit] = set()
        for start, segment in zip(self._units.papers, self.segments, strict=False):
            for rows in [] if segment.contents is None else map(segment.contents.papers_naming, name_keys(name)):
                newest = segment.newest(rows, limit + len(without), columns).tolist()
                found |= {DatedUnit(int(start) + row, segment.store.day_number(row)) for row in newest}
        return newest_first((one for one in found if one.unit not in without), limit)

    def naming(self, name: str, limit: int, filters: Filters) -> list[Paper]:
        return self.papers_at([one.unit for one in self.units_naming(name, limit, filters)])

    def full_texts(self, ids: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
        """Every asked paper is in the answer."""
        known = self.units_of(ids)
        found: dict[PaperId, FullText | Absent] = {}
        for one in ids:
            if one not in known:
                found[one] = Absent(reason="the paper is not in the corpus")
            else:
                found[one] = self._full_text(known[one]) or Absent(reason="the corpus holds only the abstract")
        return found

    def passages_at(self, units: Sequence[int]) -> list[Passage]:
        """Their similarities and what they cite are left to the caller."""
        return [self.passage(unit, 0.0) for unit in units]

    def works_cited_at(self, units: Sequence[int]) -> list[CitedKeys]:
        """Keys of the works that each passage cites. Abstracts cite nothing."""
        found: list[CitedKeys] = []
        for unit in units:
            segment, own = self._segment_row(unit)
            found.append([] if self._units.is_paper(unit) else segment.passage_citations.cited(own))
        return found

    def papers_by_key(self, keys: Sequence[int]) -> dict[int, list[PaperId]]:
        """Papers whose id has a hash, or whose DOI, arXiv id or title and year have it as their key; unknown keys are
        missing."""
        found: dict[int, list[PaperId]] = {}
        by_id = self._units_with_hashes(np.array(keys, np.uint64)) if keys else []
        for key, units in zip(keys, by_id, strict=True):
            keyed = [
                int(start) + row
                for start, segment in zip(self._units.papers, self.segments, strict=False)
                for row in segment.paper_keys.rows(key)
                if not segment.hides(row)
            ]
            if units or keyed:
                found[key] = [self.paper(unit).id for unit in dict.fromkeys([*units, *keyed])]
        return found

    def passage(self, unit: int, similarity: float, cites: tuple[PaperId, ...] = ()) -> Passage:
        segment, own = self._segment_row(unit)
        if self._units.is_paper(unit):
            paper = segment.store.paper(own)
            section, text = "abstract", paper.abstract
            start, end = split_passages(text)[0]
        else:
            row, number, start, end = segment.passage_locations[own].tolist()
            paper = segment.store.paper(row)
            section, text = "abstract", paper.abstract
            if number != ABSTRACT:
                found = segment.store.sections(row)[number]
                section, text = found.title, found.text
        others = tuple(one for one in cites if one != paper.id)
        return Passage(paper=paper, section=section, text=text[start:end].strip(), similarity=similarity, cites=others)

    def record_digest(self, unit: int) -> int:
        segment, row = self._segment_row(unit)
        return segment.store.digest(row)

    def publication_days(self) -> tuple[dt.date, ...]:
        """On which papers were published, each once, in order."""
        return tuple(sorted({day for one in self.segments for day in one.store.publication_days()}))

    def references(self, ids: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Paper]]:
        """In the order of each paper's own list; papers whose references no source gave are missing."""
        answers = {}
        for paper_id, unit in self.units_of(ids).items():
            cited = self._cited_units(unit)
            if cited is not None:
                passing = (other for other in cited if self.passes(other, filters))
                answers[paper_id] = self.papers_at(list(islice(passing, limit)))
        return answers

    def _cited_units(self, unit: int) -> Iterable[int] | None:
        """By the list of ids that a source gave, else by the works that its text cites; None where there is neither."""
        hashes = self._cited_hashes(unit)
        if hashes is not None:
            return dict.fromkeys(other for some in self._units_with_hashes(hashes) for other in some)
        works = self._works_cited_by(unit)
        papers = papers_cited(works, self.papers_by_key(sorted(keys_in([works])))) if works else ()
        return self.units_of(papers).values() if works else None

    def works_cited_by(self, ids: Sequence[PaperId]) -> dict[PaperId, CitedKeys]:
        """Keys of the works that the texts of papers cite, of those papers whose references no source gave."""
        units = {one: unit for one, unit in self.units_of(ids).items() if self._cited_hashes(unit) is None}
        found = {one: self._works_cited_by(unit) for one, unit in units.items()}
        return {one: works for one, works in found.items() if works}

    def _works_cited_by(self, unit: int) -> CitedKeys:
        segment, row = self._segment_row(unit)
        return [keys_of_work(work).tolist() for work in segment.store.cited_in_text(row)]

    def cited_hashes(self, ids: Sequence[PaperId]) -> dict[PaperId, list[int]]:
        """Hashes of the ids in each paper's list of references; papers whose references no source gave are missing."""
        found = {one: self._cited_hashes(unit) for one, unit in self.units_of(ids).items()}
        return {one: hashes.tolist() for one, hashes in found.items() if hashes is not None}

    def citing(self, ids: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Paper]]:
        """The newest first, undated papers last."""
        found = self.citing_units(list(self.units_of(ids)), limit, filters)
        return {one: self.papers_at([citing.unit for citing in some]) for one, some in found.items()}

    def citing_units(self, ids: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[DatedUnit]]:
        """As `citing`, also of papers that lie in another shard."""
        columns, without = _column_filters(filters), self._without(filters)
        answers = {}
        for paper_id, hashed in zip(ids, hash64(ids).tolist(), strict=True):
            citing = (
                DatedUnit(int(start) + row, segment.store.day_number(row))
                for start, segment in zip(self._units.papers, self.segments, strict=False)
                for row in segment.newest_citing(hashed, limit + len(without), columns).tolist()
            )
            answers[paper_id] = newest_first((one for one in citing if one.unit not in without), limit)
        return answers

    def citations(self, ids: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, CitationIds]:
        """Of the known papers."""
        units = self.units_of(ids)
        steps = CitationSteps(self.segments, self._units.papers, _column_filters(filters), self._without(filters))
        listed = {unit: hashes for unit in units.values() if (hashes := self._cited_hashes(unit)) is not None}
        cited = dict(zip(listed, steps.cited(list(listed.values()), limit), strict=True))
        for unit in units.values():
            if unit not in cited:
                others = (other for other in self._cited_units(unit) or () if self.passes(other, filters))
                cited[unit] = np.array(list(islice(others, limit)), np.int64)
        citing = steps.citing(hash64(units), limit)
        named = steps.ids(np.concatenate([np.empty(0, np.int64), *cited.values(), *citing]))
        lists = iter(named)
        taken = [list(islice(lists, len(some))) for some in (*cited.values(), *citing)]
        by_unit = dict(zip(cited, taken, strict=False))
        return {
            one: CitationIds(by_unit[unit], some)
            for (one, unit), some in zip(units.items(), taken[len(cited) :], strict=True)
        }

    def units_of(self, ids: Iterable[PaperId]) -> dict[PaperId, int]:
        """Of the known papers, in the order of their ids as asked."""
        asked = list(dict.fromkeys(ids))
        found: dict[PaperId, int] = {}
        for start, segment in zip(self._units.papers, self.segments, strict=False):
            rows = segment.store.rows(asked)
            found |= {one: int(start) + row for one, row in rows.items() if not segment.hides(row)}
        return {one: found[one] for one in asked if one in found}

    def units_by_hash(self, hashes: Sequence[int], filters: Filters) -> dict[int, list[int]]:
        """Units of the papers that pass, by the hashes of their ids."""
        found = zip(hashes, self._units_with_hashes(np.array(hashes, np.uint64)), strict=True)
        return {one: [unit for unit in units if self.passes(unit, filters)] for one, units in found}

    def segment_and_row(self, unit: int) -> tuple[int, int]:
        """Number of a paper's segment, and its row there."""
        return self._units.locate(unit)

    def passes(self, unit: int, filters: Filters) -> bool:
        """Whether a paper passes, and is not hidden."""
        segment, row = self._segment_row(unit)
        allowed = segment.row_filter(_column_filters(filters))
        passes = bool(allowed.allows(np.array([row]))[0])
        return passes and (not filters.without or segment.store.id(row) not in filters.without)

    def count_passing(self, filters: Filters) -> int:
        """How many papers pass, whatever `without` names."""
        return sum(segment.row_filter(_column_filters(filters)).count for segment in self.segments)

    def _without(self, filters: Filters) -> frozenset[int]:
        return frozenset(self.units_of(filters.without).values())

    def _segment_row(self, unit: int) -> tuple[Segment, int]:
        number, row = self._units.locate(unit)
        return self.segments[number], row

    def _full_text(self, unit: int) -> FullText | None:
        segment, row = self._segment_row(unit)
        sections = segment.store.sections(row)
        return FullText(paper_id=segment.store.id(row), sections=sections, parser="corpus") if sections else None

    def _cited_hashes(self, unit: int) -> Hashes | None:
        """None where no source gave the references."""
        segment, row = self._segment_row(unit)
        return segment.citations.cited_by(row) if segment.store.has_references(row) else None

    def _units_with_hashes(self, hashes: Hashes) -> list[list[int]]:
        """For each hash of an id the units of the papers that have it and are not hidden."""
        found: list[list[int]] = [[] for _ in hashes]
        for start, segment in zip(self._units.papers, self.segments, strict=False):
            for some, rows in zip(found, segment.store.rows_with_hashes(hashes), strict=True):
                some += [int(start) + row for row in rows if not segment.hides(row)]
        return found


def _column_filters(filters: Filters) -> Filters:
    """What a segment's columns can tell; ids are looked up over all segments."""
    return filters.model_copy(update={"without": frozenset()}) if filters.without else filters
