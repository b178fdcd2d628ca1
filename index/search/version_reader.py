"""Answer queries on one version of a corpus or shard. `LocalReader` runs a reader in a thread, and
`index.shards.sharded_queries` merges several readers' results."""

import datetime as dt
from collections.abc import Iterable, Sequence
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.models import Absent, Filters, FullText, Paper, PaperContents, PaperId, Passage
from assayer.ports import CitationIds, Vectors
from index.hashing import Hashes, hash64
from index.search.citation_steps import CitationSteps
from index.search.hybrid_ranking import QueryCandidates
from index.search.hybrid_search import HybridSearch, Query
from index.search.query_batching import batchable
from index.segments.citation_graph import DatedUnit, keep_newest
from index.segments.content_graph import compute_name_keys
from index.segments.gpus import Gpus
from index.segments.paper_keys import compute_keys_of_work
from index.segments.passage_citations import CitedKeys, collect_keys, find_cited_papers
from index.segments.passages import ABSTRACT, split_passages
from index.segments.row_filter import read_hidden
from index.segments.segment import Segment
from index.segments.vector_index import VectorMatches
from index.versions.manifest import Manifest
from index.versions.version_store import BM25_FOLDER, VersionStore


class PaperVector(NamedTuple):
    unit: int
    vector: NDArray[np.float32]


class VersionReader:
    """Reader of a version, for use by one thread only. A unit is the number of a paper or passage; see
    `UnitNumbers`."""

    def __init__(self, segments: Sequence[Segment], bm25_folder: Path) -> None:
        self.segments = segments
        self._search = HybridSearch(segments, bm25_folder)
        self._units = self._search.units

    @classmethod
    def open(cls, versions: VersionStore, manifest: Manifest) -> "VersionReader":
        directory = versions.get_version_path(manifest.version)
        segments = [
            Segment(
                versions.get_segment_path(entry.name), entry, read_hidden(directory, entry.name), manifest.exact_up_to
            )
            for entry in manifest.segments
        ]
        return cls(segments, directory / BM25_FOLDER)

    def move_to(self, gpus: Gpus) -> None:
        """Copy all vectors to the GPUs. Raises ConfigurationError if they do not fit."""
        self._search.move_to(gpus)

    def __len__(self) -> int:
        """Return the number of papers, including hidden papers."""
        return int(self._units.papers[-1])

    @batchable(2)
    def find_candidates(
        self, queries: Sequence[Query], vectors: Vectors, depth: int, filters: Filters, with_passages: bool = False
    ) -> list[QueryCandidates]:
        """Return the candidates for each query before fusion: up to `depth` from each ranking."""
        columns, excluded_units = _drop_excluded_ids(filters), self._find_excluded_units(filters)
        return self._search.find_candidates(queries, vectors, depth, columns, excluded_units, with_passages)

    @batchable(1)
    def find_nearest(self, vectors: Vectors, limit: int, filters: Filters) -> list[VectorMatches]:
        """Return the nearest papers for each vector, as units."""
        return self._search.find_nearest_papers(
            vectors, limit, _drop_excluded_ids(filters), self._find_excluded_units(filters)
        )

    def compute_similarities(self, ids: Sequence[PaperId], vector: NDArray[np.float32]) -> dict[PaperId, float]:
        """Return the cosine between a vector and each paper, keyed by id; unknown ids are left out."""
        units = self.find_units(ids)
        return dict(zip(units, self._search.compute_similarities(vector, list(units.values())), strict=True))

    def get_paper_vectors(self, ids: Sequence[PaperId]) -> dict[PaperId, PaperVector]:
        """Return each paper's unit and vector, keyed by id; unknown ids are left out."""
        return {paper_id: PaperVector(unit, self.get_vector(unit)) for paper_id, unit in self.find_units(ids).items()}

    def get_vector(self, unit: int) -> NDArray[np.float32]:
        """Return a paper's vector."""
        segment, row = self._locate(unit)
        vector: NDArray[np.float32] = segment.papers.vectors[row].astype(np.float32)
        return vector

    def get_papers(self, ids: Sequence[PaperId], filters: Filters) -> dict[PaperId, Paper]:
        return {
            paper_id: self.get_paper(unit)
            for paper_id, unit in self.find_units(ids).items()
            if self.passes_filters(unit, filters)
        }

    def get_papers_at(self, units: Sequence[int]) -> list[Paper]:
        return [self.get_paper(unit) for unit in units]

    def get_paper(self, unit: int) -> Paper:
        segment, row = self._locate(unit)
        return segment.store.get_paper(row)

    def get_contents(self, ids: Sequence[PaperId]) -> dict[PaperId, PaperContents]:
        """Return the concepts, methods and claims in each paper, keyed by id; unknown ids are left out."""
        rows = {paper_id: self._locate(unit) for paper_id, unit in self.find_units(ids).items()}
        return {paper_id: segment.get_contents(row) for paper_id, (segment, row) in rows.items()}

    def find_units_naming(self, name: str, limit: int, filters: Filters) -> list[DatedUnit]:
        """Return up to `limit` papers that name a method or a concept, newest first."""
        columns, excluded_units = _drop_excluded_ids(filters), self._find_excluded_units(filters)
        units: set[DatedUnit] = set()
        for start, segment in zip(self._units.papers, self.segments, strict=False):
            for rows in map(segment.contents.find_papers_naming, compute_name_keys(name)):
                newest = segment.select_newest(rows, limit + len(excluded_units), columns).tolist()
                units |= {DatedUnit(int(start) + row, segment.store.get_day_number(row)) for row in newest}
        return keep_newest((dated_unit for dated_unit in units if dated_unit.unit not in excluded_units), limit)

    def get_full_texts(self, ids: Sequence[PaperId]) -> dict[PaperId, FullText | Absent]:
        """Return the full text of each paper, or the reason why it is absent."""
        units = self.find_units(ids)
        texts: dict[PaperId, FullText | Absent] = {}
        for paper_id in ids:
            if paper_id not in units:
                texts[paper_id] = Absent(reason="the paper is not in the corpus")
            else:
                texts[paper_id] = self._get_full_text(units[paper_id]) or Absent(
                    reason="the corpus contains only the abstract"
                )
        return texts

    def get_passages_at(self, units: Sequence[int]) -> list[Passage]:
        """Return the passages with these units. The caller must add their similarities and cited papers."""
        return [self._get_passage(unit) for unit in units]

    def get_works_cited_at(self, units: Sequence[int]) -> list[CitedKeys]:
        """Return the keys of the works that each passage cites; empty for papers."""
        works: list[CitedKeys] = []
        for unit in units:
            segment, row = self._locate(unit)
            works.append([] if self._units.is_paper(unit) else segment.passage_citations.get_cited_keys(row))
        return works

    def find_papers_by_key(self, keys: Sequence[int]) -> dict[int, list[PaperId]]:
        """Look up papers by key. A paper matches a key that is the hash of its id, or the key of its DOI, its arXiv id,
        or its title and year. The result is keyed by key; unknown keys are left out."""
        papers: dict[int, list[PaperId]] = {}
        by_id = self._find_units_with_hashes(np.array(keys, np.uint64)) if keys else []
        for key, units in zip(keys, by_id, strict=True):
            units_by_title = [
                int(start) + row
                for start, segment in zip(self._units.papers, self.segments, strict=False)
                for row in segment.paper_keys.find_rows(key).tolist()
                if not segment.is_hidden(row)
            ]
            if units or units_by_title:
                papers[key] = [self.get_paper(unit).id for unit in dict.fromkeys([*units, *units_by_title])]
        return papers

    def _get_passage(self, unit: int) -> Passage:
        segment, passage_row = self._locate(unit)
        if self._units.is_paper(unit):
            paper = segment.store.get_paper(passage_row)
            section, text = "abstract", paper.abstract
            start, end = split_passages(text)[0]
        else:
            row, number, start, end = segment.passage_locations[passage_row].tolist()
            paper = segment.store.get_paper(row)
            section, text = "abstract", paper.abstract
            if number != ABSTRACT:
                section_text = segment.store.get_sections(row)[number]
                section, text = section_text.title, section_text.text
        return Passage(paper=paper, section=section, text=text[start:end].strip(), similarity=0.0)

    def get_record_digest(self, unit: int) -> int:
        segment, row = self._locate(unit)
        return segment.store.get_digest(row)

    def list_publication_days(self) -> tuple[dt.date, ...]:
        """Return the distinct publication days, ascending."""
        return tuple(sorted({day for segment in self.segments for day in segment.store.list_publication_days()}))

    def _find_cited_units(self, unit: int) -> Iterable[int] | None:
        """Return the units of the papers that a paper cites, from its source's reference list or, if the source has
        none, from the works cited in its text; None if the paper has neither."""
        hashes = self._get_cited_hashes(unit)
        if hashes is not None:
            return dict.fromkeys(cited_unit for units in self._find_units_with_hashes(hashes) for cited_unit in units)
        works = self._get_works_cited_by(unit)
        papers = find_cited_papers(works, self.find_papers_by_key(sorted(collect_keys([works])))) if works else ()
        return self.find_units(papers).values() if works else None

    def find_works_cited_by(self, ids: Sequence[PaperId]) -> dict[PaperId, CitedKeys]:
        """Return the keys of the works that papers cite in their texts. Papers with a reference list from their source
        are left out."""
        units = {
            paper_id: unit for paper_id, unit in self.find_units(ids).items() if self._get_cited_hashes(unit) is None
        }
        works_by_id = {paper_id: self._get_works_cited_by(unit) for paper_id, unit in units.items()}
        return {paper_id: works for paper_id, works in works_by_id.items() if works}

    def _get_works_cited_by(self, unit: int) -> CitedKeys:
        segment, row = self._locate(unit)
        return [compute_keys_of_work(work).tolist() for work in segment.store.get_cited_in_text(row)]

    def find_cited_hashes(self, ids: Sequence[PaperId]) -> dict[PaperId, list[int]]:
        """Return the hashed ids in each paper's reference list, keyed by paper id; papers without a list are left
        out."""
        hashes_by_id = {paper_id: self._get_cited_hashes(unit) for paper_id, unit in self.find_units(ids).items()}
        return {paper_id: hashes.tolist() for paper_id, hashes in hashes_by_id.items() if hashes is not None}

    def find_citing_units(self, ids: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[DatedUnit]]:
        """Return, for each paper, up to `limit` papers that cite it, newest first. The cited papers may be in another
        shard."""
        columns, excluded_units = _drop_excluded_ids(filters), self._find_excluded_units(filters)
        answers = {}
        for paper_id, id_hash in zip(ids, hash64(ids).tolist(), strict=True):
            dated_units = (
                DatedUnit(int(start) + row, segment.store.get_day_number(row))
                for start, segment in zip(self._units.papers, self.segments, strict=False)
                for row in segment.find_newest_citing(id_hash, limit + len(excluded_units), columns).tolist()
            )
            answers[paper_id] = keep_newest(
                (dated_unit for dated_unit in dated_units if dated_unit.unit not in excluded_units), limit
            )
        return answers

    def find_citations(self, ids: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, CitationIds]:
        """Return, for each paper, the ids of up to `limit` papers that it cites and up to `limit` that cite it; unknown
        ids are left out."""
        units = self.find_units(ids)
        steps = CitationSteps(
            self.segments, self._units.papers, _drop_excluded_ids(filters), self._find_excluded_units(filters)
        )
        reference_hashes = {
            unit: hashes for unit in units.values() if (hashes := self._get_cited_hashes(unit)) is not None
        }
        cited_units = dict(zip(reference_hashes, steps.find_cited(list(reference_hashes.values()), limit), strict=True))
        for unit in units.values():
            if unit not in cited_units:
                passing_units = (
                    cited_unit
                    for cited_unit in self._find_cited_units(unit) or ()
                    if self.passes_filters(cited_unit, filters)
                )
                cited_units[unit] = np.array(list(islice(passing_units, limit)), np.int64)
        citing_units = steps.find_citing(hash64(units), limit)
        paper_ids = steps.get_paper_ids(np.concatenate([np.empty(0, np.int64), *cited_units.values(), *citing_units]))
        lists = iter(paper_ids)
        id_lists = [list(islice(lists, len(unit_ids))) for unit_ids in (*cited_units.values(), *citing_units)]
        by_unit = dict(zip(cited_units, id_lists, strict=False))
        return {
            paper_id: CitationIds(by_unit[unit], unit_ids)
            for (paper_id, unit), unit_ids in zip(units.items(), id_lists[len(cited_units) :], strict=True)
        }

    def find_units(self, ids: Iterable[PaperId]) -> dict[PaperId, int]:
        """Look up papers' units. The result is keyed by id, in the order the ids were passed; unknown and hidden papers
        are left out."""
        distinct_ids = list(dict.fromkeys(ids))
        units: dict[PaperId, int] = {}
        for start, segment in zip(self._units.papers, self.segments, strict=False):
            rows = segment.store.find_rows(distinct_ids)
            units |= {paper_id: int(start) + row for paper_id, row in rows.items() if not segment.is_hidden(row)}
        return {paper_id: units[paper_id] for paper_id in distinct_ids if paper_id in units}

    def find_units_by_hash(self, hashes: Sequence[int], filters: Filters) -> dict[int, list[int]]:
        """Look up papers by the hash of their id. The result has, for each hash, the units of those that pass the
        filters."""
        pairs = zip(hashes, self._find_units_with_hashes(np.array(hashes, np.uint64)), strict=True)
        return {id_hash: [unit for unit in units if self.passes_filters(unit, filters)] for id_hash, units in pairs}

    def locate_unit(self, unit: int) -> tuple[int, int]:
        """Return a paper's segment number and its row in that segment."""
        return self._units.locate(unit)

    def passes_filters(self, unit: int, filters: Filters) -> bool:
        """Return whether a paper passes the filters and is not hidden."""
        segment, row = self._locate(unit)
        row_filter = segment.get_row_filter(_drop_excluded_ids(filters))
        passes = bool(row_filter.allows(np.array([row]))[0])
        return passes and (not filters.without or segment.store.get_id(row) not in filters.without)

    def count_passing(self, filters: Filters) -> int:
        """Return the number of papers that pass the filters, ignoring `without`."""
        return sum(segment.get_row_filter(_drop_excluded_ids(filters)).count for segment in self.segments)

    def _find_excluded_units(self, filters: Filters) -> frozenset[int]:
        return frozenset(self.find_units(filters.without).values())

    def _locate(self, unit: int) -> tuple[Segment, int]:
        number, row = self._units.locate(unit)
        return self.segments[number], row

    def _get_full_text(self, unit: int) -> FullText | None:
        segment, row = self._locate(unit)
        sections = segment.store.get_sections(row)
        return FullText(paper_id=segment.store.get_id(row), sections=sections, parser="corpus") if sections else None

    def _get_cited_hashes(self, unit: int) -> Hashes | None:
        """Return the hashed ids in a paper's reference list; None if the source provides no list."""
        segment, row = self._locate(unit)
        return segment.citations.get_cited_hashes(row) if segment.store.has_references(row) else None

    def _find_units_with_hashes(self, hashes: Hashes) -> list[list[int]]:
        """Return, for each hashed id, the units of the papers that have it and are not hidden."""
        units: list[list[int]] = [[] for _ in hashes]
        for start, segment in zip(self._units.papers, self.segments, strict=False):
            for hash_units, rows in zip(units, segment.store.by_hash.find_candidates(hashes), strict=True):
                hash_units += [int(start) + row for row in rows if not segment.is_hidden(row)]
        return units


def _drop_excluded_ids(filters: Filters) -> Filters:
    """Return the filters without `without`, whose ids must be looked up across all segments."""
    return filters.model_copy(update={"without": frozenset()}) if filters.without else filters
