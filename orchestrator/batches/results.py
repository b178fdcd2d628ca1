"""Results of a batch as JSON lines, CSV or Parquet: one line per row, rejected rows included."""

import csv
import io
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import Literal, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from assayer.models import Absent, FlagKind, Frozen, RepeatedIdea, Report
from assayer.models.base import Dollars
from assayer.models.sender_references import own_reference
from assayer.reports.escaping import cell, one_line
from orchestrator.batches.rows import RejectedRow
from orchestrator.jobs.models import JobState, Problem
from orchestrator.jobs.submissions import BatchRow

__all__ = [
    "FlatResult",
    "ResultLine",
    "ResultRow",
    "as_csv",
    "as_json_line",
    "as_parquet",
    "as_xlsx",
    "flat_result",
    "rows_in_order",
]

ResultRow: TypeAlias = BatchRow | RejectedRow
RowState: TypeAlias = JobState | Literal["refused"]
"""`refused`: the row holds no usable idea, so there is no evaluation."""

_MOST_IN_A_CELL = 32_000
"""Characters: what Excel opens."""
_SCORE_PREFIX = "score_"
"""Prefix of the columns with scores."""

_TYPES = {"row": pa.int32(), "papers_found": pa.int32(), "papers_cited": pa.int32(), "quotes_unverified": pa.int32()}


class ResultLine(Frozen):
    """One JSON line: the result of one row."""

    id: str | None
    """Of its evaluation; a rejected row has none."""
    row: int | None
    source: str
    reference: str
    """The sender's own name alone: the id that the row holds, a file's name; empty where there is none."""
    title: str
    flags: tuple[FlagKind, ...] = ()
    """What is suspicious in the idea's text, for people to look at."""
    state: RowState
    cost_usd: Dollars | None
    problem: Problem | None
    report: Report | None


class FlatResult(Frozen):
    """One row of a table. None is an empty cell, and never zero."""

    id: str | None
    row: int | None
    source: str
    reference: str | None
    """The sender's own name alone: the id that the row holds, a file's name."""
    title: str
    state: RowState
    release: Literal["complete", "incomplete"] | None
    flags: str | None
    """What is suspicious in the idea's text, for people to look at: `hidden_text, suspected_injection`."""
    below_minima: str | None
    """Minima that an incomplete report fails, for which it has no total: `judged, quotes_found`."""
    scores: dict[str, float]
    """By part of the method, on the scale of the report; parts without a score are missing, all of
    them in an incomplete report."""
    decision: str | None
    """By labelled ideas or a calibrated board, where the method gives one."""
    repeats: str | None
    """The labelled idea that it repeats, and how: `paraphrase of Reading by bees`. For people to look at both."""
    corpus_fit: str | None
    papers_found: int | None
    papers_cited: int | None
    quotes_unverified: int | None
    cost_usd: Dollars | None
    problem: str | None
    """Its type: `budget-exhausted`."""
    problem_detail: str | None


async def rows_in_order(rows: AsyncIterator[BatchRow], rejected: Sequence[RejectedRow]) -> AsyncIterator[ResultRow]:
    """In the order in which they were submitted."""
    left = deque(sorted(rejected, key=lambda one: one.row))
    async for row in rows:
        while left and row.job.row is not None and left[0].row < row.job.row:
            yield left.popleft()
        yield row
    for one in left:
        yield one


def as_json_line(row: ResultRow) -> bytes:
    return _result_line(row).model_dump_json().encode() + b"\n"


def _result_line(row: ResultRow) -> ResultLine:
    if isinstance(row, RejectedRow):
        return ResultLine(
            id=None,
            row=row.row,
            source=row.source,
            reference=own_reference(row.source, row.row),
            title="",
            state="refused",
            cost_usd=None,
            problem=_rejection_problem(row),
            report=None,
        )
    job = row.job
    return ResultLine(
        id=job.id,
        row=job.row,
        source=row.source,
        reference=own_reference(row.source, job.row),
        title=job.subject,
        flags=job.flags,
        state=job.state,
        cost_usd=job.cost_usd,
        problem=job.problem,
        report=row.report,
    )


def _rejection_problem(row: RejectedRow) -> Problem:
    """The problem that the row would have got as a request of its own."""
    return Problem(type="invalid-request", title="The row cannot be used", detail=row.detail)


def flat_result(row: ResultRow) -> FlatResult:
    line = _result_line(row)
    report = line.report
    coverage = report.coverage if report else None
    fit = coverage.corpus_fit if coverage else None
    release = report.release if report else None
    return FlatResult(
        id=line.id,
        row=line.row,
        source=line.source,
        reference=line.reference or None,
        title=line.title,
        state=line.state,
        release=release.state if release else None,
        flags=", ".join(line.flags) or None,
        below_minima=", ".join(one.name for one in release.failed) or None if release else None,
        scores=_scores(report) if report else {},
        decision=_decision(report) if report else None,
        repeats=_repeats(report) if report else None,
        corpus_fit=None if fit is None or isinstance(fit, Absent) else fit.level,
        papers_found=coverage.papers_found if coverage else None,
        papers_cited=coverage.papers_cited if coverage else None,
        quotes_unverified=coverage.quotes_unverified if coverage else None,
        cost_usd=line.cost_usd,
        problem=line.problem.type if line.problem else None,
        problem_detail=line.problem.detail if line.problem else None,
    )


def _scores(report: Report) -> dict[str, float]:
    return {part.name: part.score.value for part in report.parts if not isinstance(part.score, Absent)}


def _decision(report: Report) -> str | None:
    if report.board is not None:
        found = report.board.decision
        return None if isinstance(found, Absent) else found.name
    if report.verdict is None or isinstance(report.verdict, Absent):
        return None
    named = report.verdict.decision
    return None if isinstance(named, Absent) else named


def _repeats(report: Report) -> str | None:
    verdict = report.verdict
    found = None if verdict is None or isinstance(verdict, Absent) else verdict.repeats
    return f"{found.kind} of {found.title or found.idea}" if isinstance(found, RepeatedIdea) else None


def _parts(results: Sequence[FlatResult]) -> list[str]:
    """Every part that has a score anywhere, in the order in which the reports name them."""
    return list(dict.fromkeys(name for result in results for name in result.scores))


def _columns(parts: Sequence[str]) -> list[str]:
    before, after = _around_scores()
    return [*before, *(f"{_SCORE_PREFIX}{name}" for name in parts), *after]


def _around_scores() -> tuple[list[str], list[str]]:
    names = list(FlatResult.model_fields)
    place = names.index("scores")
    return names[:place], names[place + 1 :]


def _values(result: FlatResult, parts: Sequence[str]) -> list[object]:
    before, after = _around_scores()
    scores = [result.scores.get(name) for name in parts]
    return [*(getattr(result, name) for name in before), *scores, *(getattr(result, name) for name in after)]


def as_csv(results: Sequence[FlatResult]) -> str:
    """UTF-8 with a byte order mark, which spreadsheets need to recognise it. No cell is a formula."""
    parts = _parts(results)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\r\n")
    table.writerow(map(cell, _columns(parts)))
    for result in results:
        table.writerow(cell(one) if isinstance(one, str) else one for one in _values(result, parts))
    return "\ufeff" + text.getvalue()


def as_xlsx(results: Sequence[FlatResult]) -> bytes:
    """Every text is stored as text, so that no cell is a formula; numbers are numbers. The first line stays in sight,
    and filters are on."""
    from openpyxl import Workbook
    from openpyxl.cell import WriteOnlyCell

    parts = _parts(results)
    names = _columns(parts)
    book = Workbook(write_only=True)
    sheet = book.create_sheet("Results")
    sheet.freeze_panes = "A2"
    sheet.auto_filter.ref = f"A1:{_column_letter(len(names))}{len(results) + 1}"

    def stored(value: object) -> object:
        if not isinstance(value, str):
            return value
        made = WriteOnlyCell(sheet, value=one_line(value)[:_MOST_IN_A_CELL])
        made.data_type = "s"  # whatever it begins with
        return made

    sheet.append([stored(name) for name in names])
    for result in results:
        sheet.append([stored(value) for value in _values(result, parts)])
    written = io.BytesIO()
    book.save(written)
    return written.getvalue()


def _column_letter(number: int) -> str:
    from openpyxl.utils import get_column_letter

    return get_column_letter(number)


def as_parquet(results: Sequence[FlatResult]) -> bytes:
    """Texts unchanged: no program runs them as formulas."""
    parts = _parts(results)
    names = _columns(parts)
    rows = [_values(result, parts) for result in results]
    columns = [pa.array([row[place] for row in rows], _type(name)) for place, name in enumerate(names)]
    written = io.BytesIO()
    pq.write_table(pa.table(columns, names=names), written, compression="zstd")
    return written.getvalue()


def _type(name: str) -> pa.DataType:
    if name.startswith(_SCORE_PREFIX) or name == "cost_usd":
        return pa.float64()
    return _TYPES.get(name, pa.string())
