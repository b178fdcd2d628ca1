"""Write segments and versions, for builds and updates."""

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
from index.building.segment_writer import SortedPapers, WrittenSegment, sort_papers, write_segment
from index.building.text_embedding import TextEmbedding
from index.corpus_fit import FitCalibration, measure_fit
from index.hashing import FileChecksum, Hashes, compute_file_checksums, verify_files
from index.records.paper_record import PaperRecord
from index.records.record_sources import RecordSource, RejectedLine
from index.search.version_reader import VersionReader
from index.segments.bm25_index import Bm25Document, compute_document_id, copy_bm25_index, write_bm25_index
from index.segments.citation_graph import CitationGraph
from index.segments.content_graph import ContentGraph
from index.segments.content_readings import READINGS_FILE, ContentReadings
from index.segments.gpus import Device, Gpus, open_gpus
from index.segments.passages import IndexedText, iterate_paper_texts, iterate_passage_texts
from index.segments.row_filter import NO_FILTERS, write_hidden
from index.segments.segment import PAPERS_FOLDER, PASSAGES_FOLDER, Segment, SegmentEntry
from index.segments.vector_index import EXACT_UP_TO, VectorMatches
from index.versions.manifest import (
    FORMAT,
    MANIFEST,
    CorpusChanges,
    Manifest,
    count_rejections,
    read_manifest,
    write_sealed,
)
from index.versions.version_store import BM25_FOLDER, REJECTED_FILE, VersionStore

_ENTRY = "segment.json"
_WEIGHED = "lexical weights 1"
"""Part of the hash in the name of a segment with lexical weights. Change it whenever the format of the weights
changes."""


class BuildOptions(Frozen):
    exact_up_to: int = Field(default=EXACT_UP_TO, ge=0)
    """Largest number of rows that is searched exactly; larger segments get an approximate index."""
    papers_per_segment: int = Field(default=1_000_000, ge=1)
    """Maximum number of papers per segment."""
    keep: int = Field(default=3, ge=1)
    """Number of versions to keep, including the current one; versions in use are kept too. An interrupted evaluation
    can resume only while its version exists."""
    embed_anew: bool = False
    """True to ignore the vectors supplied with records and embed their texts again."""
    device: Device = "cpu"
    """Device used to train large indexes and to assign rows to their lists."""
    readings: Path | None = None
    """File of names and claims extracted by a language model; None means the one in the corpus directory."""


@dataclass(frozen=True)
class VersionPlan:
    """Contents of a new version. `kept` are segments shared with the previous version."""

    kept: Sequence[SegmentEntry]
    added: Sequence[SegmentEntry]
    hidden: Mapping[str, Sequence[int]]
    """Hidden rows, keyed by the kept segment's name."""
    removed_papers: Sequence[int] = ()
    """Ids of the documents to remove from the papers' BM25 index."""
    removed_passages: Sequence[int] = ()
    previous_directory: Path | None = None
    """Directory of the previous version, whose BM25 index is copied."""
    fit: FitCalibration | None = None
    """The previous version's calibration, which is reused if the corpus still has about the same size."""
    sources: tuple[RecordSource, ...] = ()
    rejections: Sequence[RejectedLine] = ()
    changes: CorpusChanges | None = None

    @property
    def entries(self) -> tuple[SegmentEntry, ...]:
        hidden_counts = {name: len(rows) for name, rows in self.hidden.items()}
        return (
            *(entry.model_copy(update={"hidden": hidden_counts.get(entry.name, 0)}) for entry in self.kept),
            *self.added,
        )


@dataclass(frozen=True)
class VersionBuilder:
    versions: VersionStore
    embedding: TextEmbedding
    options: BuildOptions

    @property
    def gpus(self) -> Gpus | None:
        """GPUs of the configured device; None for the CPU. Raises ConfigurationError if there is no suitable GPU."""
        return open_gpus(self.options.device)

    async def write_segments(self, records: Iterable[PaperRecord], first_ordinal: int) -> list[SegmentEntry]:
        """Sort the records by date, and write them as segments. Intact segments from an interrupted build are
        reused."""
        with self.versions.create_scratch_directory() as directory:
            papers = await asyncio.to_thread(sort_papers, records, directory / "sorted.arrow")
            return await self.write_sorted_papers(papers, first_ordinal)

    async def write_sorted_papers(self, papers: SortedPapers, first_ordinal: int) -> list[SegmentEntry]:
        """Write sorted papers as segments; see `write_segments`."""
        starts = range(0, len(papers), self.options.papers_per_segment)
        path = self.options.readings or self.versions.directory / READINGS_FILE
        readings = await asyncio.to_thread(ContentReadings.open, path)
        return [
            await self._write_segment(papers, start, first_ordinal + number, readings)
            for number, start in enumerate(starts)
        ]

    async def _write_segment(
        self, papers: SortedPapers, start: int, ordinal: int, readings: ContentReadings
    ) -> SegmentEntry:
        stop = min(len(papers), start + self.options.papers_per_segment)
        read = await asyncio.to_thread(_format_readings_as_json, papers, start, stop, readings)
        name = self._name_segment(papers.digests[start:stop], read)
        segment = await asyncio.to_thread(_find_intact_segment, self.versions.get_segment_path(name))
        if segment is None:
            with self.versions.create_scratch_directory() as directory:
                batches = papers.read_batches(start, stop)
                written_segment = await write_segment(
                    batches, directory, self.embedding, self.options.exact_up_to, readings, self.gpus
                )
                has_weights = self.embedding.lexical is not None
                segment = await asyncio.to_thread(_build_segment_entry, name, written_segment, directory, has_weights)
                (directory / _ENTRY).write_text(segment.model_dump_json(indent=1) + "\n", "utf-8")
                await asyncio.to_thread(self.versions.add_segment, directory, name)
        return segment.model_copy(update={"ordinal": ordinal})

    def _name_segment(self, digests: Hashes, readings: Sequence[str]) -> str:
        """Return the segment's name, a hash of the records' digests and everything else that affects its files."""
        parameters = [
            FORMAT,
            self.embedding.embedder.name,
            self.options.exact_up_to,
            self.embedding.signature,
            *readings,
        ]
        if self.embedding.lexical is not None:
            parameters.append(_WEIGHED)
        return hashlib.sha256(json.dumps(parameters).encode() + digests.astype("<u8").tobytes()).hexdigest()[:16]

    def name_version(self, plan: VersionPlan) -> str:
        digest = hashlib.sha256(json.dumps([FORMAT, self.embedding.embedder.name, self.options.exact_up_to]).encode())
        for entry in plan.entries:
            digest.update(json.dumps([entry.name, list(plan.hidden.get(entry.name, ()))]).encode())
        return digest.hexdigest()[:16]

    async def publish(self, plan: VersionPlan, accept: Accept | None = None) -> Manifest:
        """Write the planned version and make it current. If `accept` raises an exception, the version is removed again;
        the next attempt can reuse its segments."""
        version = self.name_version(plan)
        with self.versions.create_scratch_directory() as directory:
            await asyncio.to_thread(self._write_files, plan, directory)
            reader = VersionReader(list(self._open_segments(plan)), directory / BM25_FOLDER)
            manifest = Manifest(
                version=version,
                embedder=self.embedding.embedder.name,
                dimensions=self.embedding.embedder.dimensions,
                exact_up_to=self.options.exact_up_to,
                lexical=self.embedding.lexical is not None,
                segments=plan.entries,
                fit=await self._measure_fit(reader, plan.fit),
                sources=plan.sources,
                rejected=count_rejections(plan.rejections),
                changes=plan.changes,
                files=await asyncio.to_thread(_compute_checksums, directory, plan.previous_directory),
            )
            write_sealed(manifest, directory)
            await asyncio.to_thread(self.versions.add_version, directory, version)
        if accept is not None:
            with self.versions.remove_on_error(version):
                await accept(self.versions.directory, manifest)
        self.versions.set_current(version)
        self.versions.prune(self.options.keep)
        return manifest

    def _write_files(self, plan: VersionPlan, directory: Path) -> None:
        lines = (rejection.model_dump_json() + "\n" for rejection in plan.rejections)
        (directory / REJECTED_FILE).write_text("".join(lines), "utf-8")
        for name, rows in plan.hidden.items():
            write_hidden(directory, name, rows)
        (directory / BM25_FOLDER).mkdir()
        added_segments = [self._open_segment(entry, ()) for entry in plan.added]
        for name, documents, removed_documents in (
            (
                PAPERS_FOLDER,
                (paper_document for segment in added_segments for paper_document in _build_paper_documents(segment)),
                plan.removed_papers,
            ),
            (
                PASSAGES_FOLDER,
                (
                    passage_document
                    for segment in added_segments
                    for passage_document in _build_passage_documents(segment)
                ),
                plan.removed_passages,
            ),
        ):
            if plan.previous_directory is None:
                (directory / BM25_FOLDER / name).mkdir()
            else:
                copy_bm25_index(plan.previous_directory / BM25_FOLDER / name, directory / BM25_FOLDER / name)
            write_bm25_index(directory / BM25_FOLDER / name, documents, removed_documents)

    def _open_segments(self, plan: VersionPlan) -> Iterator[Segment]:
        for entry in plan.entries:
            yield self._open_segment(entry, plan.hidden.get(entry.name, ()))

    def _open_segment(self, entry: SegmentEntry, hidden_rows: Sequence[int]) -> Segment:
        rows = np.array(sorted(hidden_rows), np.int64)
        return Segment(self.versions.get_segment_path(entry.name), entry, rows, self.options.exact_up_to)

    async def _measure_fit(
        self, reader: VersionReader, earlier_calibration: FitCalibration | None
    ) -> FitCalibration | None:
        def search(queries: Vectors, limit: int) -> list[VectorMatches]:
            return reader.find_nearest(queries, limit, NO_FILTERS)

        return await measure_fit(
            [reader], search, lambda place: place.unit, self.embedding.embed_queries, earlier_calibration
        )


def _compute_checksums(directory: Path, previous_version: Path | None) -> tuple[FileChecksum, ...]:
    """Return the checksums of a new version's files. Files shared with the previous version, which was verified before
    the update, are not hashed again: their checksums come from its manifest."""
    known_checksums = {}
    if previous_version is not None:
        for file in read_manifest(previous_version).files:
            path = directory / file.path
            if path.exists() and path.samefile(previous_version / file.path):
                known_checksums[file.path] = file
    return compute_file_checksums(directory, MANIFEST, known_checksums)


def _format_readings_as_json(papers: SortedPapers, start: int, stop: int, readings: ContentReadings) -> list[str]:
    """Return the content readings for papers `start` to `stop` (exclusive) as JSON, in paper order."""
    if not readings.by_text:
        return []
    texts = (
        text
        for batch in papers.read_batches(start, stop)
        for text in zip(batch["title"].to_pylist(), batch["abstract"].to_pylist(), strict=True)
    )
    return [reading.model_dump_json() for text in texts if (reading := readings.find(*text))]


def _build_paper_documents(segment: Segment) -> Iterator[Bm25Document]:
    for row, paper_text in enumerate(iterate_paper_texts(segment.store)):
        yield _build_document(segment, row, paper_text)


def _build_passage_documents(segment: Segment) -> Iterator[Bm25Document]:
    for row, passage_text in enumerate(iterate_passage_texts(segment.store, segment.passage_locations)):
        yield _build_document(segment, row, passage_text)


def _build_document(segment: Segment, row: int, indexed_text: IndexedText) -> Bm25Document:
    number, (text, record) = compute_document_id(segment.entry.ordinal, row), indexed_text
    day, venue, is_retracted = record["publication_date"], record["venue"], record["retracted"]
    return Bm25Document(number, text, day, venue, tuple(record["fields"]), is_retracted)


def _build_segment_entry(name: str, segment: WrittenSegment, directory: Path, has_weights: bool) -> SegmentEntry:
    store = segment.store
    days = store.list_publication_days()
    return SegmentEntry(
        name=name,
        ordinal=0,
        papers=len(store),
        dated=len(store) - store.read_column("publication_date").null_count,
        earliest=min(days, default=None),
        latest=max(days, default=None),
        full_texts=pc.sum(pc.greater(pc.list_value_length(store.read_column("sections")), 0)).as_py() or 0,
        with_references=len(store) - store.read_column("references").null_count,
        passages=segment.passages,
        paper_index=segment.paper_index,
        passage_index=segment.passage_index,
        lexical=has_weights,
        graph=ContentGraph(directory).count_nodes_and_edges(citations=len(CitationGraph(directory))),
        files=compute_file_checksums(directory),
    )


def _find_intact_segment(directory: Path) -> SegmentEntry | None:
    try:
        entry = SegmentEntry.model_validate_json((directory / _ENTRY).read_bytes())
        verify_files(entry.files, directory)
    except (OSError, ValidationError, CorpusError):
        return None
    return entry
