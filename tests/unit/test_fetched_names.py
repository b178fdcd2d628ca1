"""Reports are called what their senders call them: unique, the same each time, and fit for every file system."""

import re
from random import Random

import pytest
from hypothesis import given
from hypothesis import strategies as st

from cluster.cli.batch.fetched_names import NamedProposal, report_names


def list_report_names(*sources: str, taken_names: tuple[str, ...] = ()) -> list[str]:
    proposals = [NamedProposal(f"ev_{row}", row, source) for row, source in enumerate(sources, 1)]
    return list(report_names(proposals, taken_names).values())


@pytest.mark.parametrize(
    ("source", "name"),
    [
        ("A-2026-0007.pdf", "A-2026-0007"),
        ("call.csv:14 (A-2026-0147)", "A-2026-0147"),
        ("Förderantrag Müller.odt", "Förderantrag_Müller"),
        ("../../etc/passwd", "etc_passwd"),
        ("-rf.txt", "_-rf"),
        ("con.txt", "_con"),
        ("row 3 (LPT1.x)", "_LPT1.x"),
        ("=cmd|'/c calc'!A1", "cmd_c_calc_A1"),
        (".pdf", "pdf"),
    ],
)
def test_report_file_is_named_after_the_submitted_file(source: str, name: str) -> None:
    assert list_report_names(source) == [name]


def test_unnamed_report_is_named_by_row_and_id() -> None:
    assert list_report_names("", "???") == ["row-00001-ev_1", "row-00002-ev_2"]


def test_reports_with_conflicting_names_include_row_and_id() -> None:
    assert list_report_names("A-1.pdf", "a-1.docx", "A-2.pdf") == ["A-1-row-00001-ev_1", "a-1-row-00002-ev_2", "A-2"]
    assert list_report_names("index.txt", "bt_1", taken_names=("index", "bt_1")) == [
        "index-row-00001-ev_1",
        "bt_1-row-00002-ev_2",
    ]


_text = st.text(max_size=300)


@given(st.lists(_text, max_size=12))
def test_report_file_names_are_unique_and_portable(sources: list[str]) -> None:
    names = list_report_names(*sources, taken_names=("index", "bt_1"))
    folded_names = [name.casefold() for name in names]
    assert len(set(folded_names) | {"index", "bt_1"}) == len(names) + 2
    for name in names:
        assert 0 < len(f"{name}.parquet".encode()) <= 255
        assert not re.search(r"[\x00-\x1f/\\:*?\"<>|;\s]", name)
        assert name[0] not in ".-=+@"
        assert name[-1] not in ". "


@given(st.lists(st.sampled_from(["A-1.pdf", "A-2.pdf", "a-1.txt", "", "x (1)"]), max_size=12), st.randoms())
def test_report_name_is_independent_of_proposal_order(sources: list[str], random: Random) -> None:
    proposals = [NamedProposal(f"ev_{row}", row, source) for row, source in enumerate(sources, 1)]
    shuffled = list(proposals)
    random.shuffle(shuffled)
    assert report_names(proposals) == report_names(shuffled)
