"""Results of a batch as files, read back by what people read them with."""

import csv
import io
import json
import unicodedata
from collections.abc import AsyncIterator

import pyarrow.parquet as pq
import pytest
from openpyxl import load_workbook

from assayer.models import Absent, IdeaId, RepeatedIdea
from assayer_client.batches import RowError
from orchestrator.batches.results import (
    ResultLine,
    flatten_result,
    merge_rows,
    render_csv,
    render_json_line,
    render_parquet,
)
from orchestrator.batches.workbook import render_xlsx
from orchestrator.jobs.submissions import BatchRow
from tests.unit.batch_rows import BUDGET_PROBLEM, make_batch_row
from tests.unit.reports_fixture import make_full_report
from tests.unit.verdict_reports import VERDICT, make_report_with_verdict

ROWS = [
    make_batch_row(1, "succeeded", make_full_report()),
    make_batch_row(2, "failed", title='=HYPERLINK("http://evil")'),
    make_batch_row(3, "cancelled"),
]


ROW_ERRORS = [RowError(row=number, source=f"calls.csv:{number}", field="text", detail="No text.") for number in (4, 0)]


async def iterate_rows() -> AsyncIterator[BatchRow]:
    for row in ROWS:
        yield row


@pytest.mark.parametrize(
    "title",
    ["=1+1", " \t=1+1", "\x01=1+1", "\u200b@SUM(A1)", "foo;=1+1", "foo; \x07+1", 'foo;"=1+1"', "foo\t=1+1", "a;b;-1"]
    + [f"{sign}1+1" for sign in "\uff1d\uff0b\uff0d\uff20\ufe66\u2212"]
    + ["foo;" + "\u200b" * 1_000 + "\uff1d1+1"],
)
def test_formulas_are_escaped_for_every_spelling_and_csv_delimiter(title: str) -> None:
    table = render_csv([flatten_result(make_batch_row(1, "cancelled", title=title))])
    for separator in ",;\t":
        for line in table.splitlines():
            for part in line.split(separator):
                visible_part = unicodedata.normalize("NFKC", part.replace("\u200b", "")).strip('\ufeff\ufffd" ')
                assert not visible_part.startswith(("=", "+", "-", "@", "\u2212")), part


@pytest.mark.parametrize("title", ["Corals; a study", "2+2 is 4", "x; y = z", "well-known", "a;b"])
def test_non_formula_titles_are_unchanged(title: str) -> None:
    table = render_csv([flatten_result(make_batch_row(1, "cancelled", title=title))]).removeprefix("\ufeff")
    assert next(csv.DictReader(io.StringIO(table)))["title"] == title


async def test_rejected_rows_are_listed_in_order_with_reason() -> None:
    lines = [
        ResultLine.model_validate_json(render_json_line(row)) async for row in merge_rows(iterate_rows(), ROW_ERRORS)
    ]
    assert [(line.row, line.state) for line in lines] == [
        (0, "refused"),
        (1, "succeeded"),
        (2, "failed"),
        (3, "cancelled"),
        (4, "refused"),
    ]
    (first, *_, last) = [flatten_result(row) async for row in merge_rows(iterate_rows(), ROW_ERRORS)]
    assert (first["id"], first["cost_usd"], first["scores"]) == (None, None, {})
    assert (last["source"], last["problem"], last["problem_detail"]) == ("calls.csv:4", "invalid-request", "No text.")


def test_lines_contain_the_full_report_or_the_problem() -> None:
    succeeded, failed, cancelled = (ResultLine.model_validate_json(render_json_line(row)) for row in ROWS)
    assert succeeded.report == make_full_report()
    assert failed.problem == BUDGET_PROBLEM
    assert (failed.report, cancelled.report, cancelled.problem) == (None, None, None)
    assert (succeeded.source, succeeded.row) == ("calls.csv:1", 1)


def test_csv_has_a_row_per_idea_and_formulas_are_escaped() -> None:
    text = render_csv([flatten_result(row) for row in ROWS])
    assert text.startswith("\ufeff")
    succeeded, failed, cancelled = csv.DictReader(io.StringIO(text.removeprefix("\ufeff")))
    report = make_full_report()
    for part in report.parts:
        if not isinstance(part.score, Absent):
            assert float(succeeded[f"score_{part.name}"]) == part.score.value
    assert int(succeeded["papers_cited"]) == report.coverage.papers_cited
    assert failed["title"] == '\'=HYPERLINK("http://evil")'
    assert failed["problem_detail"] == "'=It cost too much, by far."
    assert failed["cost_usd"] == ""
    assert cancelled["state"] == "cancelled"
    assert not any(
        value.startswith(("=", "+", "@")) for line in (succeeded, failed, cancelled) for value in line.values()
    )


@pytest.mark.parametrize(
    "title", ["=1+1", "+cmd|' /C calc'!A0", "@SUM(A1)", "-2+3", '=HYPERLINK("http://a")', "a\x0bb"]
)
def test_a_workbook_holds_texts_as_text_and_numbers_as_numbers(title: str) -> None:
    workbook_bytes = render_xlsx(
        [
            flatten_result(make_batch_row(1, "succeeded", make_full_report(), title=title)),
            flatten_result(make_batch_row(2, "failed")),
        ]
    )
    sheet = load_workbook(io.BytesIO(workbook_bytes))["Results"]
    names, first, second = sheet.iter_rows()
    columns = {str(cell.value): place for place, cell in enumerate(names)}
    proposal_cell = first[columns["Proposal"]]
    assert proposal_cell.data_type in ("s", "inlineStr")
    assert proposal_cell.value == title.replace("\x0b", "\ufffd")
    assert all(cell.data_type != "f" for line in (names, first, second) for cell in line)
    assert first[columns["Soundness"]].data_type == "n"
    assert second[columns["Soundness"]].value is None
    assert (sheet.freeze_panes, sheet.auto_filter.ref is not None) == ("A2", True)


def test_duplicate_of_labelled_idea_is_named_in_its_row() -> None:
    repeats = RepeatedIdea(
        kind="paraphrase", idea=IdeaId("bees"), title="=Reading by bees", url="", share=0.9, pairs=()
    )
    unique_report = make_report_with_verdict(VERDICT.model_copy(update={"repeats": None}))
    duplicate_report = make_report_with_verdict(VERDICT.model_copy(update={"repeats": repeats}))
    unknown = make_report_with_verdict(VERDICT)
    rows = [
        flatten_result(make_batch_row(number, "succeeded", report))
        for number, report in enumerate((duplicate_report, unique_report, unknown), 1)
    ]
    assert [row["repeats"] for row in rows] == ["paraphrase of =Reading by bees", None, None]
    first, *_ = csv.DictReader(io.StringIO(render_csv(rows).removeprefix("\ufeff")))
    assert first["repeats"] == "paraphrase of =Reading by bees"


def test_parquet_is_read_back_with_types_and_gaps() -> None:
    table = pq.read_table(io.BytesIO(render_parquet([flatten_result(row) for row in ROWS])))
    succeeded, failed, _ = table.to_pylist()
    scored = [part for part in make_full_report().parts if not isinstance(part.score, Absent)]
    assert scored
    for part in scored:
        assert succeeded[f"score_{part.name}"] == json.loads(part.score.model_dump_json())["value"]
        assert failed[f"score_{part.name}"] is None
    assert table.schema.field("row").type == "int32"
    assert (succeeded["row"], succeeded["cost_usd"], failed["cost_usd"]) == (1, 0.25, None)
    assert failed["title"] == '=HYPERLINK("http://evil")'


def test_result_files_without_any_report_keep_their_columns() -> None:
    results = [flatten_result(row) for row in ROWS[1:]]
    assert pq.read_table(io.BytesIO(render_parquet(results))).num_rows == 2
    assert len(list(csv.reader(io.StringIO(render_csv(results))))) == 3
    assert pq.read_table(io.BytesIO(render_parquet([]))).num_rows == 0
