"""Sort any number of records by date, and write them as a segment with vectors, passages and graphs."""

import asyncio
from collections.abc import Iterable, Iterator
from itertools import islice
from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
import pyarrow.compute as pc
from numpy.typing import NDArray

from index.building.text_embedding import TextEmbedding
from index.corpus_fit import SAMPLE_SIZE, select_fit_passages
from index.hashing import Hashes
from index.records.paper_record import PaperRecord
from index.segments.citation_graph import write_citations
from index.segments.content_graph import write_content_graph
from index.segments.content_readings import NOTHING_READ, ContentReadings
from index.segments.gpus import Gpus
from index.segments.lexical_index import write_lexical_index
from index.segments.lexical_rows import LexicalSpool
from index.segments.paper_keys import write_paper_keys
from index.segments.paper_store import (
    BATCH,
    PAPERS_SCHEMA,
    SORTING_SCHEMA,
    PaperStore,
    build_record_batch,
    write_papers,
)
from index.segments.passage_citations import write_passage_citations
from index.segments.passages import (
    PassageLocation,
    iterate_paper_texts,
    iterate_passage_texts,
    list_passage_locations,
    write_locations,
)
from index.segments.segment import PAPERS_FOLDER, PASSAGES_FOLDER
from index.segments.vector_index import VectorIndexParameters, build_vector_index, create_vectors_file

_RUN = 16_384
"""Number of records in memory while they are read and sorted."""
_BLOCK = 8 * BATCH
"""Number of rows in memory while sorted runs are merged."""
_ORDER = [("publication_date", "ascending"), ("id", "ascending")]
_KEYS = ["publication_date", "id", "digest"]


class WrittenSegment(NamedTuple):
    """Result of writing a segment."""

    store: PaperStore
    passages: int
    paper_index: VectorIndexParameters
    passage_index: VectorIndexParameters | None


async def write_segment(
    batches: Iterable[pa.RecordBatch],
    directory: Path,
    embedding: TextEmbedding,
    exact_up_to: int,
    readings: ContentReadings = NOTHING_READ,
    gpus: Gpus | None = None,
) -> WrittenSegment:
    """Write a segment from `batches`, which must be as `write_papers` requires. Large indexes are trained on `gpus`, if
    set. Memory use does not grow with the number of papers, except for passage locations of a few tens of bytes
    each."""
    store = await asyncio.to_thread(_write_records, batches, directory, readings)
    places = await asyncio.to_thread(_locate_passages, store)
    tuning_queries = np.empty((0, embedding.embedder.dimensions), np.float32)
    if max(len(store), len(places)) > exact_up_to:
        sample = np.linspace(0, len(store) - 1, min(len(store), SAMPLE_SIZE)).astype(int).tolist()
        tuning_queries = await embedding.embed_queries(
            [fit_passage for row in sample for fit_passage in select_fit_passages(store.get_title_and_abstract(row)[1])]
        )

    async def index(name: str, count: int, texts: Iterator[str]) -> VectorIndexParameters:
        (directory / name).mkdir()
        vectors = create_vectors_file(directory / name, count, embedding.embedder.dimensions)
        if embedding.lexical is None:
            await embedding.fill(vectors, texts)
        else:
            with LexicalSpool(directory / f"{name}.weights") as spool:
                await embedding.fill(vectors, texts, spool)
                await asyncio.to_thread(write_lexical_index, directory / name, spool)
        return await asyncio.to_thread(
            build_vector_index, vectors, directory / name, tuning_queries, exact_up_to, gpus=gpus
        )

    papers = await index(PAPERS_FOLDER, len(store), (paper_text.text for paper_text in iterate_paper_texts(store)))
    passages = None
    if len(places):
        passages = await index(
            PASSAGES_FOLDER, len(places), (passage_text.text for passage_text in iterate_passage_texts(store, places))
        )
        write_locations(places, directory / PASSAGES_FOLDER)
        write_passage_citations(store, places, directory / PASSAGES_FOLDER)
    return WrittenSegment(store, len(places), papers, passages)


def _write_records(batches: Iterable[pa.RecordBatch], directory: Path, readings: ContentReadings) -> PaperStore:
    write_papers(batches, directory)
    store = PaperStore(directory)
    write_citations(store.read_column("references").chunks, directory)
    write_paper_keys(store, directory)
    write_content_graph(store, directory, readings)
    return store


def _locate_passages(store: PaperStore) -> NDArray[np.int32]:
    """Return the locations of all passages as an array with the columns of PassageLocation."""
    locations = [np.empty((0, len(PassageLocation._fields)), np.int32)]
    for row, record in enumerate(store.read_all_indexed_columns()):
        paper_passages = list_passage_locations(
            row, record["abstract"], [section["text"] for section in record["sections"] or ()]
        )
        if paper_passages:
            locations.append(np.array(paper_passages, np.int32))
    return np.concatenate(locations)


def sort_papers(records: Iterable[PaperRecord], path: Path) -> "SortedPapers":
    """Sort papers by date, then by id, undated papers last. The records are written to a file at `path`; only their
    keys stay in memory."""
    keys = []
    remaining_records = iter(records)
    with pa.OSFile(str(path), "wb") as file, pa.ipc.new_file(file, SORTING_SCHEMA) as writer:
        while run_records := list(islice(remaining_records, _RUN)):
            run = build_record_batch(run_records)
            run = run.take(pc.sort_indices(run, sort_keys=_ORDER))
            writer.write_batch(run)
            keys.append(run.select(_KEYS))
    schema = pa.schema([PAPERS_SCHEMA.field(name) for name in _KEYS])
    return SortedPapers(path, pa.Table.from_batches(keys, schema))


class SortedPapers:
    def __init__(self, path: Path, keys: pa.Table) -> None:
        """Open the file of sorted runs. `keys` must be in the order of the file."""
        reader = pa.ipc.open_file(pa.memory_map(str(path)))
        self._runs = [reader.get_batch(number) for number in range(reader.num_record_batches)]
        self._order: NDArray[np.int64] = pc.sort_indices(keys, sort_keys=_ORDER).to_numpy().astype(np.int64)
        self.digests: Hashes = keys["digest"].to_numpy()[self._order]
        """Digests of the papers, in sorted order."""

    def __len__(self) -> int:
        return len(self._order)

    def read_batches(self, first: int, last: int) -> Iterator[pa.RecordBatch]:
        """Yield the papers `first` to `last` (exclusive) in batches of `BATCH` rows."""
        for start in range(first, last, _BLOCK):
            yield from self._read_block(self._order[start : min(last, start + _BLOCK)]).to_batches(max_chunksize=BATCH)

    def _read_block(self, rows: NDArray[np.int64]) -> pa.Table:
        """Return rows of the file as a table. Because runs are sorted, contiguous rows are read from each run."""
        runs, places = np.divmod(rows, _RUN)
        pieces, order, rows_taken = [], np.empty(len(rows), np.int64), 0
        for run in np.unique(runs):
            in_run = runs == run
            first, last = int(places[in_run].min()), int(places[in_run].max()) + 1
            order[in_run] = rows_taken + places[in_run] - first
            pieces.append(self._runs[run].slice(first, last - first))
            rows_taken += last - first
        return pa.Table.from_batches(pieces).combine_chunks().take(pa.array(order))
