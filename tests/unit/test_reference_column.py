"""Column of a table by which its proposals are numbered: CSV file and workbook."""

import datetime as dt
import io
from collections.abc import Callable

import pytest

from assayer.ideas.tables import IdeaTable, IdeaTableRow, table_ideas
from assayer.models import Idea
from orchestrator.batches.body_reader import collect_rows
from orchestrator.batches.csv_rows import read_csv_rows
from orchestrator.batches.rows import LineCounter
from tests.unit.batch_bodies import make_idea_text, render_csv

_TODAY = dt.date(2026, 11, 21)
_ROWS = 3


def read_csv_sources(names: list[str], values: list[list[str]]) -> list[str]:
    rows = [[f"Rehearsal {n}", make_idea_text(n), *cells] for n, cells in enumerate(values)]
    file = io.BytesIO(render_csv(["title", "text", *names], rows).encode())
    lines = LineCounter(_ROWS + 1, lambda: False)
    intake = collect_rows(read_csv_rows(file, "", 1, 100_000, _TODAY, lines))
    assert not intake.rejected
    return [row.idea.source for row in intake.accepted if row.idea]


def read_workbook_sources(names: list[str], values: list[list[str]]) -> list[str]:
    header = IdeaTableRow(number=1, cells=("title", "text", *names))
    rows = [
        IdeaTableRow(number=n + 2, cells=(f"Rehearsal {n}", make_idea_text(n), *cells))
        for n, cells in enumerate(values)
    ]
    ideas = [row.idea for row in table_ideas(IdeaTable(sheet="a", rows=(header, *rows)), "row").rows]
    return [idea.source.replace("row:", "row ") for idea in ideas if isinstance(idea, Idea)]


@pytest.mark.parametrize("sources_of", [read_csv_sources, read_workbook_sources])
@pytest.mark.parametrize(
    ("names", "values", "references"),
    [
        (["proposal_number"], [["7"], ["8"], ["9"]], ["7", "8", "9"]),
        (["Award ID"], [["A/1"], ["A/2"], ["A/3"]], ["A_1", "A_2", "A_3"]),
        (["Proposal No."], [["P-1"], ["P-2"], ["P-3"]], ["P-1", "P-2", "P-3"]),
        (["REFERENCE"], [["r1"], ["r2"], ["r3"]], ["r1", "r2", "r3"]),
        (["reference", "grant-id"], [["x", "1"], ["x", "2"], ["y", "3"]], ["1", "2", "3"]),
        (["id", "reference"], [["1", "a"], ["2", "b"], ["3", "c"]], ["1", "2", "3"]),
        (["award_id"], [["1"], ["2"], ["1"]], None),
        (["award_id"], [["1"], ["2"], [""]], None),
        (["award_id"], [["a/b"], ["a b"], ["c"]], None),
        (["phone_number"], [["1"], ["2"], ["3"]], None),
    ],
)
def test_column_that_numbers_proposals_is_the_reference_if_its_values_differ(
    sources_of: Callable[[list[str], list[list[str]]], list[str]],
    names: list[str],
    values: list[list[str]],
    references: list[str] | None,
) -> None:
    expected = [f"row {n + 1}" + (f" ({references[n]})" if references else "") for n in range(_ROWS)]
    assert sources_of(names, values) == expected
