"""BM25 search over stemmed words, in a tantivy index. A version shares unchanged index files with its predecessor.

Documents store their segment and row, so a document does not change when others are added or deleted."""

import datetime as dt
import os
import shutil
from collections import Counter
from collections.abc import Iterable, Iterator
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import NamedTuple

import numpy as np
import tantivy
from numpy.typing import NDArray
from tantivy import FieldType, Occur, Query

from assayer.errors import CorpusError
from assayer.models import OPEN, Filters
from index.disk_access import convert_library_errors, link_or_copy

TOKENIZER = "english stems 1"
"""Name of the tokenizer. The index stores it, and an index with another tokenizer cannot be opened."""
_MAX_TERMS = 32
"""Maximum number of terms to search for. The query's rarest words are used, because very common words hardly affect the
ranking and cost the most."""
_HEAP_BYTES = 128 << 20
_UNDATED = 2**31
"""Day number for undated papers, which is after every cutoff."""
_EPOCH = dt.date(1970, 1, 1)
_REBUILD = "Build it again: assayer corpus build PATH."


class Bm25Document(NamedTuple):
    place: int
    text: str
    day: dt.date | None
    venue: str
    fields: tuple[str, ...]
    retracted: bool


class Bm25Matches(NamedTuple):
    """Document ids (see `compute_document_id`) and their BM25 scores, best first. Equal scores are ordered by id."""

    documents: NDArray[np.int64]
    scores: NDArray[np.float64]


def compute_document_id(segment: int, row: int) -> int:
    """Return the document id for a row in the segment with ordinal `segment`."""
    return segment << 32 | row


@cache
def _build_schema() -> tantivy.Schema:
    builder = tantivy.SchemaBuilder()
    builder.add_text_field("text", tokenizer_name=TOKENIZER, index_option="freq")
    builder.add_unsigned_field("place", indexed=True, fast=True)
    builder.add_integer_field("day", indexed=True, fast=True)
    builder.add_text_field("venue", tokenizer_name="raw", index_option="basic")
    builder.add_text_field("field", tokenizer_name="raw", index_option="basic")
    builder.add_boolean_field("retracted", indexed=True)
    return builder.build()


@cache
def _build_analyzer() -> tantivy.TextAnalyzer:
    return (
        tantivy.TextAnalyzerBuilder(tantivy.Tokenizer.regex(r"\w\w+"))
        .filter(tantivy.Filter.remove_long(60))
        .filter(tantivy.Filter.lowercase())
        .filter(tantivy.Filter.stopword("english"))
        .filter(tantivy.Filter.stemmer("english"))
        .build()
    )


def _open_index(directory: Path) -> tantivy.Index:
    try:
        index = tantivy.Index(_build_schema(), path=str(directory), reuse=True)
    except ValueError as error:
        raise CorpusError(f"The word index in {directory} cannot be opened: {error}.", _REBUILD) from None
    index.register_tokenizer(TOKENIZER, _build_analyzer())
    return index


def write_bm25_index(directory: Path, added_documents: Iterable[Bm25Document], removed_ids: Iterable[int] = ()) -> None:
    """Add documents to the index in a directory, and remove others by id. If the directory is empty, the index is
    created."""
    index = _open_index(directory)
    with convert_library_errors(directory):
        writer = index.writer(heap_size=_HEAP_BYTES, num_threads=1)
        for document_id in removed_ids:
            writer.delete_documents_by_query(Query.term_query(_build_schema(), "place", document_id))
        for document in added_documents:
            writer.add_document(_convert_document(document))
        writer.commit()
        writer.wait_merging_threads()


def copy_bm25_index(source: Path, target: Path) -> None:
    """Copy an index. Large files never change, so they are hard-linked if the disk supports it."""
    target.mkdir()
    for path in source.iterdir():
        if path.suffix in (".json", ".lock"):
            shutil.copyfile(path, target / path.name)
        else:
            link_or_copy(path, target / path.name)


@contextmanager
def _open_writable_directory(directory: Path) -> Iterator[Path]:
    """Yield a directory in which tantivy can write the lock file that it needs even for reading: `directory` itself or,
    if that is read-only, a temporary directory of links. It is needed only while the index is being opened."""
    if os.access(directory, os.W_OK):
        yield directory
        return
    with TemporaryDirectory(prefix="assayer-words-") as place:
        for path in directory.iterdir():
            if path.suffix != ".lock":
                (Path(place) / path.name).symlink_to(path.resolve())
        yield Path(place)


class Bm25Index:
    def __init__(self, directory: Path) -> None:
        with _open_writable_directory(directory) as place:
            self._searcher = _open_index(place).searcher()

    def __len__(self) -> int:
        return int(self._searcher.num_docs)

    def search(self, query: str, limit: int, filters: Filters) -> Bm25Matches:
        """Return the best documents for a query. Only the query's rarest words are searched for."""
        terms = self._find_rarest_terms(query)
        if not terms or not limit:
            return Bm25Matches(np.empty(0, np.int64), np.empty(0, np.float64))
        parsed_query = _add_filters(
            Query.boolean_query([(Occur.Should, _build_term_query(*term)) for term in terms]), filters
        )
        hits = self._searcher.search(parsed_query, limit, count=False).hits
        places = np.array(self._searcher.fast_field_values("place", [address for _, address in hits]), np.int64)
        scores = np.array([score for score, _ in hits], np.float64)
        order = np.lexsort((places, -scores))
        return Bm25Matches(places[order], scores[order])

    def _find_rarest_terms(self, query: str) -> list[tuple[str, int]]:
        """Return the rarest of the query's words that occur in the index, with their counts in the query."""
        counts = Counter(_build_analyzer().analyze(query))
        frequencies = [(self._searcher.doc_freq("text", word), word) for word in counts]
        rarest = sorted(word_frequency for word_frequency in frequencies if word_frequency[0])[:_MAX_TERMS]
        return [(word, counts[word]) for _, word in rarest]


def _build_term_query(word: str, times: int) -> Query:
    query = Query.term_query(_build_schema(), "text", word, "freq")
    return query if times == 1 else Query.boost_query(query, float(times))


def _add_filters(query: Query, filters: Filters) -> Query:
    """Add the filters as conditions that do not change the score."""
    required: list[tuple[Occur, Query]] = []
    days = _build_day_query(filters)
    if days is not None:
        required.append((Occur.Must, Query.range_query(_build_schema(), "day", FieldType.Integer, *days)))
    for name, values in (("venue", filters.venues), ("field", filters.fields)):
        if values:
            required.append(
                (Occur.Must, Query.term_set_query(_build_schema(), name, [value.lower() for value in sorted(values)]))
            )
    if filters.retracted is not None:
        required.append((Occur.Must, Query.term_query(_build_schema(), "retracted", filters.retracted)))
    if not required:
        return query
    conditions = [(occur, Query.const_score_query(query, 0.0)) for occur, query in required]
    return Query.boolean_query([(Occur.Must, query), *conditions])


def _build_day_query(filters: Filters) -> tuple[int, int] | None:
    window = filters.window
    if window == OPEN:
        return None
    first = (window.after - _EPOCH).days if window.after else -(2**31)
    last = (window.before - _EPOCH).days if window.before else _UNDATED
    return first, last


def _convert_document(bm25_document: Bm25Document) -> tantivy.Document:
    document = tantivy.Document()
    document.add_text("text", bm25_document.text)
    document.add_unsigned("place", bm25_document.place)
    document.add_integer("day", _UNDATED if bm25_document.day is None else (bm25_document.day - _EPOCH).days)
    document.add_text("venue", bm25_document.venue.lower())
    for field in bm25_document.fields:
        document.add_text("field", field.lower())
    document.add_boolean("retracted", bm25_document.retracted)
    return document
