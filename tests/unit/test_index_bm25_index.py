import datetime as dt
import errno
import os
from pathlib import Path

import pytest

from assayer.errors import CorpusError
from assayer.models import Filters, Window
from index.segments.bm25_index import Bm25Document, Bm25Index, compute_document_id, copy_bm25_index, write_bm25_index
from index.segments.row_filter import NO_FILTERS

TEXTS = (
    "Wild bees pollinate orchards",
    "A compiler fuses loops of tensor programs",
    "Counting bees and hoverflies on transects",
    "The and of",
    "Bee hotels for solitary bees: nesting of bees",
)
DAYS = (dt.date(2019, 5, 1), dt.date(2020, 5, 1), dt.date(2021, 5, 1), dt.date(1969, 1, 1), None)


def make_document(row: int) -> Bm25Document:
    venue, fields = ("Ecology Letters", ("Biology",)) if row % 2 == 0 else ("", ("Computer Science", "Art"))
    return Bm25Document(compute_document_id(0, row), TEXTS[row], DAYS[row], venue, fields, retracted=row == 2)


@pytest.fixture
def directory(tmp_path: Path) -> Path:
    (tmp_path / "words").mkdir()
    write_bm25_index(tmp_path / "words", map(make_document, range(len(TEXTS))))
    return tmp_path / "words"


def search(words: Bm25Index, query: str, limit: int = 10, filters: Filters = NO_FILTERS) -> list[int]:
    matches = words.search(query, limit, filters)
    assert matches.scores.tolist() == sorted(matches.scores.tolist(), reverse=True)
    places: list[int] = matches.documents.tolist()
    return places


def test_query_matches_other_word_forms_with_best_match_first(directory: Path) -> None:
    words = Bm25Index(directory)
    assert search(words, "The BEE, pollinating!")[0] == 0
    assert search(words, "bee")[0] == 4
    assert set(search(words, "bee")) == {0, 2, 4}
    assert len(search(words, "bees", limit=1)) == 1
    assert search(words, "bees", limit=0) == []


@pytest.mark.parametrize(
    ("filters", "rows"),
    [
        (Filters(window=Window(before=dt.date(2019, 5, 1))), {0}),
        (Filters(window=Window(before=dt.date(2019, 4, 30))), set()),
        (Filters(window=Window(after=dt.date(2019, 5, 2))), {2, 4}),
        (Filters(window=Window(after=dt.date(2019, 5, 1), before=dt.date(2021, 5, 1))), {0, 2}),
        (Filters(venues=frozenset({"ecology letters"})), {0, 2, 4}),
        (Filters(fields=frozenset({"ART", "biology"})), {0, 2, 4}),
        (Filters(fields=frozenset({"Art"})), set()),
        (Filters(retracted=True), {2}),
        (Filters(retracted=False), {0, 4}),
    ],
)
def test_filters_keep_matching_rows_in_ranking_order(directory: Path, filters: Filters, rows: set[int]) -> None:
    words = Bm25Index(directory)
    ranked_rows = search(words, "bees", filters=filters)
    assert set(ranked_rows) == rows
    assert ranked_rows == [row for row in search(words, "bees") if row in rows]


@pytest.mark.parametrize("query", ["", "the of and", "quasar", "!?", 'text:bees AND "x', "place:1"])
def test_query_of_unknown_words_finds_nothing_and_query_syntax_is_ignored(directory: Path, query: str) -> None:
    ranked_rows = search(Bm25Index(directory), query)
    assert ranked_rows == ([] if "bees" not in query else search(Bm25Index(directory), "bees"))


@pytest.mark.parametrize("documents", [[], [Bm25Document(0, "!", None, "", (), False)]])
def test_index_without_words_answers_nothing(tmp_path: Path, documents: list[Bm25Document]) -> None:
    write_bm25_index(tmp_path, documents)
    assert search(Bm25Index(tmp_path), "bees") == []


def test_changing_a_copied_index_leaves_the_original_unchanged(directory: Path, tmp_path: Path) -> None:
    before = Bm25Index(directory)
    copy_bm25_index(directory, tmp_path / "copy")
    added = Bm25Document(compute_document_id(1, 0), "Bees of the tundra", dt.date(2022, 1, 1), "", (), False)
    write_bm25_index(tmp_path / "copy", [added], removed_ids=[compute_document_id(0, 0), compute_document_id(0, 4)])
    assert set(search(Bm25Index(tmp_path / "copy"), "bees")) == {2, compute_document_id(1, 0)}
    assert set(search(Bm25Index(directory), "bees")) == set(search(before, "bees")) == {0, 2, 4}


def test_invalid_index_cannot_be_opened(tmp_path: Path) -> None:
    (tmp_path / "meta.json").write_text("{")
    with pytest.raises(CorpusError, match="cannot be opened"):
        Bm25Index(tmp_path)


def test_index_copy_works_without_hard_links(directory: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def refuse(*_: object) -> None:
        raise OSError(errno.EPERM, os.strerror(errno.EPERM))

    monkeypatch.setattr(os, "link", refuse)
    copy_bm25_index(directory, tmp_path / "copy")
    write_bm25_index(tmp_path / "copy", [make_document(0)._replace(place=compute_document_id(1, 0))])
    assert len(Bm25Index(tmp_path / "copy")) == len(TEXTS) + 1
    assert search(Bm25Index(directory), "compiler") == [compute_document_id(0, 1)]
