import datetime as dt
import json
import tempfile
from pathlib import Path
from typing import Any

from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import InputError
from assayer.models import Identifiers, PaperId
from index.records.paper_record import PaperRecord
from index.records.record_sources import RecordReader
from index.segments.paper_store import BATCH, PaperStore, build_record_batch, write_papers
from tests.corpus_papers import RECORDS, record, write_jsonl

ANYTHING = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=20),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=5), inner, max_size=3),
    max_leaves=5,
)
FIELDS = st.sampled_from(["id", *PaperRecord.model_fields])


def store_papers(directory: Path, records: list[dict[str, Any]]) -> PaperStore:
    valid = [PaperRecord.model_validate(item) for item in records]
    write_papers([build_record_batch(valid[start : start + BATCH]) for start in range(0, len(valid), BATCH)], directory)
    return PaperStore(directory)


def test_store_returns_stored_papers(tmp_path: Path) -> None:
    store = store_papers(tmp_path, list(RECORDS))
    assert store.find_rows([PaperId("bee-12"), PaperId("nobody")]) == {"bee-12": 12}
    row = 12
    paper = store.get_paper(row)
    assert (paper.title, paper.source) == ("A handbook of pollinator transects", "corpus")
    assert paper.authors == ("Ada Field", "Ben Moor")
    assert [section.title for section in store.get_sections(row)] == ["Counting protocol", "Statistics"]
    assert store.read_record(row).references == ("bee-00", "bee-05", "unknown-1", "bee-03")
    assert store.read_record(0).references is None
    assert store.get_sections(0) == ()


def test_store_keeps_identifiers(tmp_path: Path) -> None:
    store = store_papers(tmp_path, [record(1, doi="10.1000/1", arxiv="2305.00001"), record(2)])
    assert [store.get_paper(row).identifiers for row in (0, 1)] == [
        Identifiers(doi="10.1000/1", arxiv="2305.00001"),
        Identifiers(),
    ]


def test_store_of_many_batches_finds_every_row(tmp_path: Path) -> None:
    store = store_papers(tmp_path, [record(n, id=f"p{n}") for n in range(2500)])
    assert len(store) == 2500
    assert all(store.get_paper(row).id == f"p{row}" for row in (0, 1023, 1024, 2047, 2048, 2499))


def test_store_counts_the_rows_up_to_a_day(tmp_path: Path) -> None:
    days = ["1969-12-30", "2020-01-01", "2020-01-01", "2021-05-31"]
    dated = [record(n, id=f"p{n}", publication_date=day) for n, day in enumerate(days)]
    store = store_papers(tmp_path, [*dated, record(9, publication_date=None, year=None)])
    limits = (None, dt.date(2021, 5, 31), dt.date(2021, 5, 30), dt.date(2020, 1, 1), dt.date(1969, 12, 29))
    assert [store.count_until(day) for day in limits] == [5, 4, 3, 3, 0]


@given(st.lists(st.dictionaries(FIELDS, ANYTHING, max_size=4), min_size=1, max_size=5))
def test_any_json_record_is_stored_or_rejected(changes: list[dict[str, Any]]) -> None:
    with tempfile.TemporaryDirectory() as name:
        directory = Path(name)
        lines = [json.dumps(record(n) | change) for n, change in enumerate(changes)]
        source = write_jsonl(directory / "papers.jsonl", lines)
        try:
            harvest = RecordReader([source])
            stored_records = [item.record for item in harvest]
        except InputError:
            return
        write_papers([build_record_batch(stored_records)], directory)
        store = PaperStore(directory)
        assert len(store) + len(harvest.rejections) == len(changes)
        assert [store.get_paper(row).id for row in range(len(store))] == [item.id for item in stored_records]
