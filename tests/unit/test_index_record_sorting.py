import datetime as dt
import tempfile
from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st

from index.building import segment_writer
from index.building.segment_writer import SortedPapers, sort_papers
from index.records.paper_record import PaperRecord
from index.segments.paper_store import compute_record_digest
from tests.corpus_papers import record

DAYS = st.none() | st.dates(dt.date(2019, 12, 30), dt.date(2020, 1, 3))


def make_papers(days: list[dt.date | None]) -> list[PaperRecord]:
    """Return papers of these days whose ids are not in order."""
    records = [
        record(0, id=f"p{number * 7919 % 1000}", year=None, publication_date=day and str(day))
        for number, day in enumerate(days)
    ]
    return [PaperRecord.model_validate(item) for item in records]


def list_ids(sorted_papers: SortedPapers, first: int, last: int) -> list[str]:
    return [item for batch in sorted_papers.read_batches(first, last) for item in batch["id"].to_pylist()]


@given(st.lists(DAYS, max_size=40), st.integers(0, 40), st.integers(0, 40))
def test_papers_are_sorted_by_date_and_id_with_undated_last(days: list[dt.date | None], first: int, last: int) -> None:
    records = make_papers(days)
    expected = sorted(records, key=lambda item: (item.publication_date is None, item.publication_date, item.id))
    with tempfile.TemporaryDirectory() as directory, pytest.MonkeyPatch.context() as patch:
        patch.setattr(segment_writer, "_RUN", 7)
        patch.setattr(segment_writer, "_BLOCK", 5)
        sorted_papers = sort_papers(iter(records), Path(directory) / "sorted.arrow")
        assert len(sorted_papers) == len(records)
        assert list_ids(sorted_papers, 0, len(records)) == [item.id for item in expected]
        last = min(last, len(records))
        assert list_ids(sorted_papers, first, last) == [item.id for item in expected[first:last]]
        assert sorted_papers.digests.tolist() == [compute_record_digest(item) for item in expected]


def test_blocks_are_split_into_store_sized_batches(tmp_path: Path) -> None:
    records = [PaperRecord.model_validate(record(0, id=f"p{number}")) for number in range(2500)]
    sorted_papers = sort_papers(records, tmp_path / "sorted.arrow")
    assert [batch.num_rows for batch in sorted_papers.read_batches(0, 2500)] == [1024, 1024, 452]
