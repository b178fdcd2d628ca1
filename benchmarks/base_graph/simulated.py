"""A corpus of simulated papers, array by array: ids, citations and names by power laws, next to no text.

What is simulated: citations within fields of 500 papers (two thirds) and to anywhere (one third), how often a paper is
cited by a power law, one work that 100,000 papers cite, cycles wherever they fall; nine names a paper out of as many
names as papers, by Zipf's law. What is not: texts, embeddings, the search that gives a walk its seeds.
"""

from pathlib import Path
from typing import NamedTuple

import numpy as np
import pyarrow as pa
from numpy.typing import NDArray

from assayer.models import Identifiers
from index.hashing import hash64
from index.search.version_reader import VersionReader
from index.segments.bm25_index import write_bm25_index
from index.segments.citation_graph import write_citations
from index.segments.content_graph import CLAIM, NAME_USE, ContentBatch, ContentGraph, write_contents
from index.segments.paper_keys import write_paper_keys
from index.segments.paper_store import BATCH, SORTING_SCHEMA, PaperStore, write_papers
from index.segments.segment import PAPERS_FOLDER, PASSAGES_FOLDER, Segment, SegmentEntry
from index.segments.vector_index import build_vector_index, create_vectors_file

__all__ = ["FIELD", "HUB", "Simulated", "simulated"]

FIELD = 500
HUB = 7
"""Row of the work that everybody cites."""
_REFERENCES, _NAMES = 20, 9
_CITE_HUB = 100_000
_DAYS = 20_000


class Simulated(NamedTuple):
    reader: VersionReader
    citations: int


def simulated(papers: int, directory: Path) -> Simulated:
    """Written below the directory, which must be empty."""
    draw = np.random.default_rng(1)
    rows = np.arange(papers)
    cited = _cited(papers, draw)
    directory.mkdir(parents=True, exist_ok=True)
    write_papers((_batch(rows[start : start + BATCH], papers) for start in range(0, papers, BATCH)), directory)
    store = PaperStore(directory)
    write_citations([_lists(cited[start : start + BATCH]) for start in range(0, papers, BATCH)], directory)
    write_paper_keys(store, directory)
    write_contents([_contents(papers, draw)], directory)
    (directory / PAPERS_FOLDER).mkdir()
    vectors = create_vectors_file(directory / PAPERS_FOLDER, papers, 2)
    index = build_vector_index(vectors, directory / PAPERS_FOLDER, np.empty((0, 2), np.float32), papers)
    for name in (PAPERS_FOLDER, PASSAGES_FOLDER):
        (directory / "words" / name).mkdir(parents=True)
        write_bm25_index(directory / "words" / name, ())
    entry = SegmentEntry(
        name="simulated", ordinal=0, papers=papers, dated=papers, earliest=None, latest=None, full_texts=0,
        with_references=papers, passages=0, paper_index=index, passage_index=None,
        graph=ContentGraph(directory).counts(cited.size), files=(),
    )  # fmt: skip
    segment = Segment(directory, entry, np.empty(0, np.int64), papers)
    return Simulated(VersionReader([segment], directory / "words"), int(cited.size))


def _cited(papers: int, draw: np.random.Generator) -> NDArray[np.int64]:
    """Shape (papers, references)."""
    near = np.arange(papers)[:, None] // FIELD * FIELD + draw.integers(0, FIELD, (papers, _REFERENCES))
    famous = np.minimum((papers * draw.random((papers, _REFERENCES)) ** 3).astype(np.int64), papers - 1)
    cited = np.where(draw.random((papers, _REFERENCES)) < 2 / 3, np.minimum(near, papers - 1), famous)
    cited[draw.permutation(papers)[: min(_CITE_HUB, papers)], 0] = HUB
    return cited


def _name(row: int) -> str:
    return f"paper-{row:07}"


def _lists(cited: NDArray[np.int64]) -> pa.ListArray:
    offsets = np.arange(len(cited) + 1, dtype=np.int32) * cited.shape[1]
    return pa.ListArray.from_arrays(pa.array(offsets), pa.array([_name(one) for one in cited.ravel().tolist()]))


def _batch(rows: NDArray[np.int64], papers: int) -> pa.RecordBatch:
    """References are left out here: the arrays of citations have them."""
    names = [_name(row) for row in rows.tolist()]
    given = {
        "id": pa.array(names),
        "title": pa.array([f"Title of {one}" for one in names]),
        "abstract": pa.array([f"What {one} is about." for one in names]),
        "publication_date": pa.array((rows * _DAYS // papers).astype(np.int32)).cast(pa.date32()),
        "digest": pa.array(hash64(names)),
        "references": pa.array([[]] * len(rows), pa.list_(pa.string())),
    }
    empty = {
        "identifiers": Identifiers().model_dump(),
        "venue": "",
        "url": "",
        "retracted": False,
        "authors": [],
        "fields": [],
    }
    columns = [
        given.get(field.name, pa.array([empty.get(field.name)] * len(rows), field.type)).cast(field.type)
        for field in SORTING_SCHEMA
    ]
    return pa.RecordBatch.from_arrays(columns, schema=SORTING_SCHEMA)


def _contents(papers: int, draw: np.random.Generator) -> ContentBatch:
    names = np.minimum(draw.zipf(1.3, papers * _NAMES), papers)
    uses = np.zeros(len(names), NAME_USE)
    uses["flags"] = draw.random(len(names)) < 0.05
    return ContentBatch(
        counts=np.full(papers, _NAMES),
        keys=names.astype(np.uint64) * np.uint64(0x9E3779B97F4A7C15),
        names=pa.array([f"a name of {one}" for one in names.tolist()]),
        methods=names % 2 == 0,
        uses=uses,
        claim_counts=np.full(papers, 2),
        claims=np.zeros(2 * papers, CLAIM),
    )
