"""Answers questions about one version of a corpus, one after the other. `index.corpus` runs it in a thread.

Every segment is asked and the answers are merged: exactly, as cosines compare across segments, and words are counted
over all of them together.
"""

import datetime as dt
from collections.abc import Iterable, Mapping, Sequence
from functools import cached_property
from itertools import accumulate
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

from assayer.models import FullText, Hit, Paper, PaperId, Passage, Section
from assayer.ports import Vectors
from index.filters import Filters
from index.ids import Hashes, hashed
from index.searching.combining import by_query
from index.searching.ranking import Found, Opinion, best, depth_of
from index.segments.dense import Nearest
from index.segments.hiding import read_hidden
from index.segments.layout import ABSTRACT, PAPERS, PASSAGES, WORDS
from index.segments.passages import spans
from index.segments.segment import Segment
from index.segments.words import Scored, Words
from index.versions.manifest import Manifest
from index.versions.versions import Versions

__all__ = ["Reader"]

Units = NDArray[np.int64]


class Reader:
    """A unit is a paper, by its row after those of all earlier segments, or a passage, counted likewise after all
    papers."""

    def __init__(self, segments: Sequence[Segment], words: Path) -> None:
        self.segments = segments
        self._words, self._passage_words = Words(words / PAPERS), Words(words / PASSAGES)
        self._starts = np.array([0, *accumulate(len(one) for one in segments)], np.int64)
        passages = np.array([0, *accumulate(len(one.places) for one in segments)], np.int64)
        self._passage_starts = self._starts[-1] + passages

    @classmethod
    def open(cls, versions: Versions, manifest: Manifest) -> "Reader":
        directory = versions.path(manifest.version)
        segments = [
            Segment(versions.segment(entry.name), entry, read_hidden(directory, entry.name), manifest.exact_up_to)
            for entry in manifest.segments
        ]
        return cls(segments, directory / WORDS)

    def move(self, device: str) -> None:
        """All vectors. Raises ConfigurationError."""
        for segment in self.segments:
            for dense in (segment.papers, segment.passages):
                if dense is not None:
                    dense.move(device)

    @cached_property
    def _segment_of(self) -> dict[int, int]:
        return {segment.entry.ordinal: number for number, segment in enumerate(self.segments)}

    @by_query(2)
    def search(self, queries: Sequence[str], vectors: Vectors, limit: int, filters: Filters) -> list[list[Hit]]:
        opinions = self.opinions(queries, vectors, depth_of(limit), filters)
        return [
            [Hit(paper=self.paper(unit), similarity=similarity) for unit, similarity in best(opinion, limit)]
            for opinion in opinions
        ]

    @by_query(2)
    def snippets(self, queries: Sequence[str], vectors: Vectors, limit: int, filters: Filters) -> list[list[Passage]]:
        opinions = self.opinions(queries, vectors, depth_of(limit), filters, with_passages=True)
        return [[self.passage(*one) for one in best(opinion, limit)] for opinion in opinions]

    def neighbours(self, papers: Mapping[PaperId, int], limit: int, filters: Filters) -> dict[PaperId, list[Hit]]:
        if not papers:
            return {}
        own = np.stack([self.vector(unit) for unit in papers.values()])
        answers = {}
        for (paper_id, unit), nearest in zip(papers.items(), self.nearest(own, limit + 1, filters), strict=True):
            others = [
                Hit(paper=self.paper(other), similarity=similarity)
                for other, similarity in zip(*map(np.ndarray.tolist, nearest), strict=True)
                if other != unit
            ]
            answers[paper_id] = others[:limit]
        return answers

    def references(self, papers: Mapping[PaperId, int], limit: int, filters: Filters) -> dict[PaperId, list[Paper]]:
        """In the order of each paper's own list; papers whose references nobody said are missing."""
        answers = {}
        for paper_id, unit in papers.items():
            hashes = self.cited(unit)
            if hashes is not None:
                cited = dict.fromkeys(other for some in self.with_hashes(hashes) for other in some)
                counting = [other for other in cited if self.counts(other, filters)]
                answers[paper_id] = [self.paper(other) for other in counting[:limit]]
        return answers

    def cited(self, unit: int) -> Hashes | None:
        """Hashes of the ids in a paper's list of references; None where nobody said."""
        segment, row = self._row(unit)
        return segment.citations.cited_by(row) if segment.store.says_references(row) else None

    def citations(self, papers: Sequence[PaperId], limit: int, filters: Filters) -> dict[PaperId, list[Paper]]:
        """Papers of the corpus that cite each, the newest first; undated ones last."""
        answers = {}
        for paper_id, hashes in zip(papers, hashed(papers).tolist(), strict=True):
            citing = [
                int(start) + row
                for start, segment in zip(self._starts, self.segments, strict=False)
                for row in segment.citations.citing(hashes)
            ]
            found = [self.paper(unit) for unit in citing if self.counts(unit, filters)]
            answers[paper_id] = sorted(found, key=lambda one: one.publication_date or dt.date.min, reverse=True)[:limit]
        return answers

    def units(self, ids: Iterable[PaperId]) -> dict[PaperId, int]:
        """Of the known papers, in the order of their ids as asked."""
        asked = list(dict.fromkeys(ids))
        found: dict[PaperId, int] = {}
        for start, segment in zip(self._starts, self.segments, strict=False):
            rows = segment.store.rows(asked)
            found |= {one: int(start) + row for one, row in rows.items() if not segment.hides(row)}
        return {one: found[one] for one in asked if one in found}

    def __len__(self) -> int:
        """Papers, hidden ones included."""
        return int(self._starts[-1])

    def locate(self, unit: int) -> tuple[int, int]:
        """Number of a paper's segment, and its row there."""
        number = int(np.searchsorted(self._starts, unit, side="right")) - 1
        return number, unit - int(self._starts[number])

    def digest(self, unit: int) -> int:
        segment, row = self._row(unit)
        return segment.store.digest(row)

    def newest(self, before: dt.date | None) -> dt.date | None:
        """Day of the newest paper that counts; None when none is dated."""
        return max((day for one in self.segments if (day := one.store.newest(before))), default=None)

    def days(self) -> tuple[dt.date, ...]:
        """On which papers were published, each once, in order."""
        return tuple(sorted({day for one in self.segments for day in one.store.days()}))

    def counts(self, unit: int, filters: Filters) -> bool:
        """Whether a paper passes, and is not hidden."""
        segment, row = self._row(unit)
        allowed = segment.allowed(_by_column(filters))
        passes = row < allowed.rows and (allowed.mask is None or bool(allowed.mask[row]))
        return passes and (not filters.without or segment.store.id(row) not in filters.without)

    def paper(self, unit: int) -> Paper:
        segment, row = self._row(unit)
        return segment.store.paper(row)

    def sections(self, unit: int) -> tuple[Section, ...]:
        segment, row = self._row(unit)
        return segment.store.sections(row)

    def full_text(self, unit: int) -> FullText | None:
        sections = self.sections(unit)
        return FullText(paper_id=self.paper(unit).id, sections=sections, parser="corpus") if sections else None

    @by_query(1)
    def nearest(self, vectors: Vectors, limit: int, filters: Filters) -> list[Nearest]:
        """Units of papers."""
        without = set(self.units(filters.without).values())
        filters = _by_column(filters)
        each = [
            segment.papers.nearest(vectors, limit + len(without), segment.allowed(filters)) for segment in self.segments
        ]
        return _merged(each, self._starts, limit, len(vectors), without)

    def similarities(self, query: NDArray[np.float32], units: Sequence[int]) -> list[float]:
        """Cosines with papers and passages, in order."""
        asked = np.asarray(units, np.int64)
        cosines = np.zeros(len(asked))
        for number, segment in enumerate(self.segments):
            for starts, dense in ((self._starts, segment.papers), (self._passage_starts, segment.passages)):
                here = (asked >= starts[number]) & (asked < starts[number + 1])
                if dense is not None and here.any():
                    cosines[here] = dense.similarities(query, asked[here] - starts[number])
        found: list[float] = cosines.tolist()
        return found

    def counting(self, filters: Filters) -> int:
        """How many papers pass, whatever `without` names."""
        return sum(segment.allowed(_by_column(filters)).count for segment in self.segments)

    @by_query(2)
    def opinions(
        self, queries: Sequence[str], vectors: Vectors, depth: int, filters: Filters, with_passages: bool = False
    ) -> list[Opinion]:
        """Before anything is fused: so many candidates of each kind."""
        papers = self._find(self.nearest(vectors, depth, filters), self._words, self._starts, queries, depth, filters)
        passages: Sequence[Found | None] = [None] * len(queries)
        if with_passages and self._passage_starts[-1] > self._passage_starts[0]:
            nearest = self._nearest_passages(vectors, depth, filters)
            passages = self._find(nearest, self._passage_words, self._passage_starts, queries, depth, filters)
        return [
            Opinion(first, second, depth, self._cosines(vector, first, second))
            for vector, first, second in zip(vectors, papers, passages, strict=True)
        ]

    def _nearest_passages(self, vectors: Vectors, limit: int, filters: Filters) -> list[Nearest]:
        columns = _by_column(filters)
        each = [
            segment.passages.nearest(vectors, limit, segment.allowed_passages(columns)) if segment.passages else []
            for segment in self.segments
        ]
        return _merged(each, self._passage_starts, limit, len(vectors), set())

    def _find(
        self,
        by_meaning: Sequence[Nearest],
        words: Words,
        starts: Units,
        queries: Sequence[str],
        depth: int,
        filters: Filters,
    ) -> list[Found]:
        return [
            Found(nearest, self._by_words(words, starts, query, depth, filters))
            for query, nearest in zip(queries, by_meaning, strict=True)
        ]

    def _cosines(self, vector: NDArray[np.float32], *founds: Found | None) -> dict[int, float]:
        named = list(
            dict.fromkeys(
                unit
                for found in founds
                if found is not None
                for unit in (*found.by_meaning.rows.tolist(), *found.by_words.places.tolist())
            )
        )
        return dict(zip(named, self.similarities(vector, named), strict=True))

    def _by_words(self, words: Words, starts: Units, query: str, depth: int, filters: Filters) -> Scored:
        found = words.best(query, depth + len(filters.without), filters)
        units = np.array(
            [int(starts[self._segment_of[one >> 32]]) + (one & 0xFFFFFFFF) for one in found.places.tolist()], np.int64
        )
        if filters.without:
            kept = np.array([self._id(unit) not in filters.without for unit in units.tolist()], np.bool_)
            units, found = units[kept], Scored(found.places[kept], found.scores[kept])
        return Scored(units[:depth], found.scores[:depth])

    def passage(self, unit: int, similarity: float) -> Passage:
        """Which papers a passage cites is not known: sources give references by paper."""
        if unit < self._starts[-1]:
            paper, section, text = self.paper(unit), "abstract", self.paper(unit).abstract
            start, end = spans(text)[0]
        else:
            segment, own = self._row(unit)
            row, number, start, end = segment.places[own].tolist()
            paper = segment.store.paper(row)
            section, text = "abstract", paper.abstract
            if number != ABSTRACT:
                found = segment.store.sections(row)[number]
                section, text = found.title, found.text
        return Passage(paper=paper, section=section, text=text[start:end].strip(), similarity=similarity)

    def _id(self, unit: int) -> PaperId:
        """Of a paper, or of the paper of a passage."""
        segment, row = self._row(unit)
        return segment.store.id(row if unit < self._starts[-1] else int(segment.places[row][0]))

    def _row(self, unit: int) -> tuple[Segment, int]:
        """The segment of a unit and the row in it, of papers or of passages."""
        starts = self._starts if unit < self._starts[-1] else self._passage_starts
        number = int(np.searchsorted(starts, unit, side="right")) - 1
        return self.segments[number], unit - int(starts[number])

    def vector(self, unit: int) -> NDArray[np.float32]:
        """Of a paper."""
        segment, row = self._row(unit)
        vector: NDArray[np.float32] = segment.papers.vectors[row].astype(np.float32)
        return vector

    def with_hashes(self, hashes: Hashes) -> list[list[int]]:
        """For each hash of an id the units of the papers that have it and are not hidden."""
        found: list[list[int]] = [[] for _ in hashes]
        for start, segment in zip(self._starts, self.segments, strict=False):
            for some, rows in zip(found, segment.store.with_hashes(hashes), strict=True):
                some += [int(start) + row for row in rows if not segment.hides(row)]
        return found


def _merged(
    each: Sequence[Sequence[Nearest]], starts: Units, limit: int, queries: int, without: set[int]
) -> list[Nearest]:
    """The best of all segments, as units."""
    merged = []
    for query in range(queries):
        parts = [(found[query], start) for found, start in zip(each, starts, strict=False) if found]
        units = np.concatenate([np.empty(0, np.int64), *(part.rows + start for part, start in parts)])
        similarities = np.concatenate([np.empty(0), *(part.similarities for part, _ in parts)])
        if without:
            kept = ~np.isin(units, list(without))
            units, similarities = units[kept], similarities[kept]
        if len(parts) > 1:
            order = np.lexsort((units, -similarities))
            units, similarities = units[order], similarities[order]
        merged.append(Nearest(units[:limit], similarities[:limit]))
    return merged


def _by_column(filters: Filters) -> Filters:
    """What a segment's columns can tell; ids are looked up over all segments."""
    return filters.model_copy(update={"without": frozenset()}) if filters.without else filters
