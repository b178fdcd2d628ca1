"""Determine from records which texts a build embeds."""

from collections.abc import Iterator
from itertools import chain, islice
from pathlib import Path

import numpy as np

from assayer.ports import Embedder
from index.hashing import Hashes, hash64
from index.records.parquet_records import RecordWithVector
from index.records.record_sources import RecordReader
from index.segments.passages import ABSTRACT, build_paper_text, build_passage_text, list_passage_locations

_HASHED_AT_ONCE = 4096


def list_texts_to_embed(item: RecordWithVector) -> Iterator[str]:
    """Yield the texts that a build embeds for a paper: its passages and, unless the record has a vector, its title and
    abstract."""
    record = item.record
    if item.vector is None:
        yield build_paper_text(record.title, record.abstract)
    sections = [section.text for section in record.sections]
    for place in list_passage_locations(0, record.abstract, sections):
        text = record.abstract if place.section == ABSTRACT else sections[place.section]
        yield build_passage_text(record.title, text, place)


def hash_texts_to_embed(source: Path, embedder: Embedder | None) -> Hashes:
    """Return the sorted, unique hashes of the texts that a build embeds for all records in a source; `embedder` is as
    in RecordReader."""
    texts = chain.from_iterable(map(list_texts_to_embed, RecordReader([source], embedder)))
    hashes = [np.empty(0, np.uint64)]
    while chunk := list(islice(texts, _HASHED_AT_ONCE)):
        hashes.append(hash64(chunk))
    return np.unique(np.concatenate(hashes))
