"""Makes segments and versions: what a build and an update have in common."""

import asyncio
import hashlib
import json
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pyarrow.compute as pc
from pydantic import Field, ValidationError

from assayer.errors import CorpusError
from assayer.models import Frozen
from assayer.ports import Vectors
from index.building.acceptance import Accept
from index.building.calibration import measure_fit
from index.building.sorting import SortedPapers, sort_papers
from index.building.texts import Text, paper_texts, passage_texts
from index.building.writing import Embedding, Written, write_segment
from index.files import sums, verify
from index.filters import EVERYTHING
from index.fit import FitCalibration
from index.ids import Hashes
from index.reading.records import PaperRecord
from index.reading.sources import Rejection, SourceFile
from index.searching.reader import Reader
from index.segments.dense import EXACT_UP_TO, Nearest
from index.segments.hiding import write_hidden
from index.segments.layout import PAPERS, PASSAGES, REJECTED, WORDS
from index.segments.segment import Segment, SegmentEntry
from index.segments.words import Document, copy_words, place, write_words
from index.versions.format import FORMAT
from index.versions.manifest import Changes, Manifest, counted
from index.versions.sealing import MANIFEST, write_sealed
from index.versions.versions import Versions

__all__ = ["BuildOptions", "Maker", "Plan"]

_ENTRY = "segment.json"


class BuildOptions(Frozen):
    exact_up_to: int = Field(default=EXACT_UP_TO, ge=0)
    """Rows that are searched exactly; beyond, an approximate index is built."""
    papers_per_segment: int = Field(default=1_000_000, ge=1)
    """At most."""
    keep: int = Field(default=3, ge=1)
    """Versions that stay in the directory, the current one included, and those that somebody reads. An evaluation that
    a crash has interrupted goes on with its version as long as that is there."""
    embed_anew: bool = False
    """Leave out the vectors that came with records."""


@dataclass(frozen=True)
class Plan:
    """A version before it is made. Segments that it shares with the version before are in `kept`."""

    kept: Sequence[SegmentEntry]
    added: Sequence[SegmentEntry]
    hidden: Mapping[str, Sequence[int]]
    """Rows by the kept segment's name."""
    removed: Sequence[int] = ()
    """Places of papers in the word index of the version before that do not answer any more."""
    removed_passages: Sequence[int] = ()
    before: Path | None = None
    """Directory of the version before, whose word index is taken over."""
    fit: FitCalibration | None = None
    """To be kept while the corpus has about the same size."""
    sources: tuple[SourceFile, ...] = ()
    rejections: Sequence[Rejection] = ()
    changes: Changes | None = None

    @property
    def entries(self) -> tuple[SegmentEntry, ...]:
        hidden = {name: len(rows) for name, rows in self.hidden.items()}
        return (*(one.model_copy(update={"hidden": hidden.get(one.name, 0)}) for one in self.kept), *self.added)


@dataclass(frozen=True)
class Maker:
    versions: Versions
    embedding: Embedding
    options: BuildOptions

    async def segments(self, records: Iterable[PaperRecord], first_ordinal: int) -> list[SegmentEntry]:
        """Sorted by date and cut into segments. One that a killed build left whole is used as it is."""
        with self.versions.unfinished() as directory:
            papers = await asyncio.to_thread(sort_papers, records, directory / "sorted.arrow")
            return await self.cut(papers, first_ordinal)

    async def cut(self, papers: SortedPapers, first_ordinal: int) -> list[SegmentEntry]:
        """As `segments`, of papers that are sorted."""
        starts = range(0, len(papers), self.options.papers_per_segment)
        return [await self._segment(papers, start, first_ordinal + number) for number, start in enumerate(starts)]

    async def _segment(self, papers: SortedPapers, start: int, ordinal: int) -> SegmentEntry:
        stop = min(len(papers), start + self.options.papers_per_segment)
        name = self._name(papers.digests[start:stop])
        found = await asyncio.to_thread(_intact, self.versions.segment(name))
        if found is None:
            with self.versions.unfinished() as directory:
                batches = papers.batches(start, stop)
                written = await write_segment(batches, directory, self.embedding, self.options.exact_up_to)
                found = await asyncio.to_thread(_entry, name, written, directory)
                (directory / _ENTRY).write_text(found.model_dump_json(indent=1) + "\n", "utf-8")
                await asyncio.to_thread(self.versions.keep, directory, name)
        return found.model_copy(update={"ordinal": ordinal})

    def _name(self, digests: Hashes) -> str:
        """Hash of everything that determines what is made of the records with these digests."""
        made = [FORMAT, self.embedding.embedder.name, self.options.exact_up_to, self.embedding.signature]
        return hashlib.sha256(json.dumps(made).encode() + digests.astype("<u8").tobytes()).hexdigest()[:16]

    def version(self, plan: Plan) -> str:
        made = hashlib.sha256(json.dumps([FORMAT, self.embedding.embedder.name, self.options.exact_up_to]).encode())
        for entry in plan.entries:
            made.update(json.dumps([entry.name, list(plan.hidden.get(entry.name, ()))]).encode())
        return made.hexdigest()[:16]

    async def publish(self, plan: Plan, accept: Accept | None = None) -> Manifest:
        """Raises what `accept` does; the version is then gone, and its segments wait for another trial."""
        version = self.version(plan)
        with self.versions.unfinished() as directory:
            await asyncio.to_thread(self._write, plan, directory)
            reader = Reader(list(self._opened(plan)), directory / WORDS)
            manifest = Manifest(
                version=version,
                embedder=self.embedding.embedder.name,
                dimensions=self.embedding.embedder.dimensions,
                exact_up_to=self.options.exact_up_to,
                segments=plan.entries,
                fit=await self._fit(reader, plan.fit),
                sources=plan.sources,
                rejected=counted(plan.rejections),
                changes=plan.changes,
                files=await asyncio.to_thread(sums, directory, MANIFEST),
            )
            write_sealed(manifest, directory)
            await asyncio.to_thread(self.versions.add, directory, version)
        if accept is not None:
            with self.versions.on_trial(version):
                await accept(self.versions.directory, manifest)
        self.versions.point_at(version)
        self.versions.prune(self.options.keep)
        return manifest

    def _write(self, plan: Plan, directory: Path) -> None:
        lines = (rejection.model_dump_json() + "\n" for rejection in plan.rejections)
        (directory / REJECTED).write_text("".join(lines), "utf-8")
        for name, rows in plan.hidden.items():
            write_hidden(directory, name, rows)
        (directory / WORDS).mkdir()
        added = [self._open(entry, ()) for entry in plan.added]
        for name, documents, removed in (
            (PAPERS, (one for segment in added for one in _papers(segment)), plan.removed),
            (PASSAGES, (one for segment in added for one in _passages(segment)), plan.removed_passages),
        ):
            if plan.before is None:
                (directory / WORDS / name).mkdir()
            else:
                copy_words(plan.before / WORDS / name, directory / WORDS / name)
            write_words(directory / WORDS / name, documents, removed)

    def _opened(self, plan: Plan) -> Iterator[Segment]:
        for entry in plan.entries:
            yield self._open(entry, plan.hidden.get(entry.name, ()))

    def _open(self, entry: SegmentEntry, hidden: Sequence[int]) -> Segment:
        rows = np.array(sorted(hidden), np.int64)
        return Segment(self.versions.segment(entry.name), entry, rows, self.options.exact_up_to)

    async def _fit(self, reader: Reader, before: FitCalibration | None) -> FitCalibration | None:
        def search(asked: Vectors, limit: int) -> list[Nearest]:
            return reader.nearest(asked, limit, EVERYTHING)

        return await measure_fit([reader], search, lambda place: place.unit, self.embedding.queries, before)


def _papers(segment: Segment) -> Iterator[Document]:
    for row, one in enumerate(paper_texts(segment.store)):
        yield _document(segment, row, one)


def _passages(segment: Segment) -> Iterator[Document]:
    for row, one in enumerate(passage_texts(segment.store, segment.places)):
        yield _document(segment, row, one)


def _document(segment: Segment, row: int, one: Text) -> Document:
    own, (text, record) = place(segment.entry.ordinal, row), one
    day, venue, retracted = record["publication_date"], record["venue"], record["retracted"]
    return Document(own, text, day, venue, tuple(record["fields"]), retracted)


def _entry(name: str, written: Written, directory: Path) -> SegmentEntry:
    store = written.store
    days = store.days()
    return SegmentEntry(
        name=name,
        ordinal=0,
        papers=len(store),
        dated=len(store) - store.column("publication_date").null_count,
        earliest=min(days, default=None),
        latest=max(days, default=None),
        full_texts=pc.sum(pc.greater(pc.list_value_length(store.column("sections")), 0)).as_py() or 0,
        with_references=len(store) - store.column("references").null_count,
        passages=written.passages,
        paper_index=written.paper_index,
        passage_index=written.passage_index,
        files=sums(directory),
    )


def _intact(directory: Path) -> SegmentEntry | None:
    try:
        entry = SegmentEntry.model_validate_json((directory / _ENTRY).read_bytes())
        verify(entry.files, directory)
    except (OSError, ValidationError, CorpusError):
        return None
    return entry
