"""Results of a batch as JSON lines, CSV or Parquet with machine-readable column names. Every row has a line, including
rejected rows."""

import csv
import io
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import Any, Literal, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq
from pydantic import Field

from assayer.models import Absent, FlagKind, Frozen, RepeatedIdea, Report, ScoreCertainty
from assayer.models.sender_references import get_own_reference
from assayer.reports.escaping import escape_cell
from assayer_client.batches import RowError
from assayer_client.decisions import DecisionOutcome
from assayer_client.rankings import Band
from assayer_client.resources import Dollars
from orchestrator.jobs.models import JobId, JobState, Problem
from orchestrator.jobs.outcome_wording import EvaluationOutcome
from orchestrator.jobs.submissions import BatchRow

ResultRow: TypeAlias = BatchRow | RowError
RowState: TypeAlias = JobState | Literal["refused"]
"""State of a row. `refused`: the row contains no usable idea, so there is no evaluation."""

RowOutcome: TypeAlias = EvaluationOutcome | Literal["refused"]
"""Outcome of a row, as shown in the table of its call."""

SCORE_PREFIX = "score_"
"""Prefix of the columns with scores."""
_PREFIXES = {"scores": SCORE_PREFIX, "columns": "column_"}
"""Prefixes of the columns that hold the items of a mapping, by the mapping's name."""
FlatResult: TypeAlias = dict[str, Any]
"""Row of a result table: values by column. None is an empty cell, never zero. The column `scores` maps the parts of the
method to their scores, on the report's scale; parts without a score are missing."""

_INTEGER_COLUMNS = ("row", "rank", "opinions", "papers_found", "papers_cited", "quotes_unverified")
_NUMBER_COLUMNS = (
    "score",
    "rank_low",
    "rank_high",
    "shortlist_probability",
    "reviewers_score",
    "awarded",
    "requested",
    "cost_usd",
)


class RowStanding(Frozen):
    """Fields that the table of a call shows for a row in addition to its report. A field is None if there is no value,
    or if the caller is not allowed to see it."""

    outcome: RowOutcome | None = None
    score: float | None = None
    """Total score of all parts, 0 to 100."""
    score_absent: str | None = None
    """Reason why the report has no total score."""
    certainty: ScoreCertainty | None = None
    """Lowest certainty of the parts."""
    ranking: JobId | None = None
    """Id of the ranking that the rank belongs to."""
    rank: int | None = None
    """Rank, from 1 for the best."""
    rank_low: float | None = None
    """Lower bound of the rank's interval, as stated by the ranking; `rank_high` is the upper bound."""
    rank_high: float | None = None
    band: Band | None = None
    """Band of the row at the ranking's own cutoff."""
    shortlist_probability: float | None = None
    """Probability, 0 to 1, that the row is truly among the best at that cutoff."""
    opinions: int | None = None
    """Number of reviews that count. None if the caller is not allowed to see them, as machines never are."""
    reviewers_score: float | None = None
    """Score that counts, 1 to 5: the score set by an officer, otherwise the mean of the current reviews."""
    panel_decision: DecisionOutcome | None = None
    """Decision of the call's officers on the proposal."""
    awarded: float | None = None
    """Amount awarded, in the call's currency."""
    applicant: str | None = None
    institution: str | None = None
    requested: float | None = None
    """Amount requested by the applicant."""
    columns: dict[str, str] = Field(default_factory=dict)
    """Columns of the row that are not part of the proposal's text."""


_NO_STANDING = RowStanding()
_REFUSED_STANDING = RowStanding(outcome="refused")


class ResultLine(RowStanding):
    """Result of a single row, as a JSON line."""

    id: str | None
    """Id of the evaluation; a rejected row has none."""
    row: int | None
    source: str
    reference: str
    """Reference that the sender assigned: the id in the row, or a file's name; empty if there is none."""
    title: str
    flags: tuple[FlagKind, ...] = ()
    """Suspicious features of the idea's text, which people should check."""
    state: RowState
    cost_usd: Dollars | None
    problem: Problem | None
    report: Report | None


async def merge_rows(rows: AsyncIterator[BatchRow], rejected: Sequence[RowError]) -> AsyncIterator[ResultRow]:
    """Merge the evaluated and the rejected rows in the order in which they were submitted."""
    remaining_rejected = deque(sorted(rejected, key=lambda item: item.row))
    async for row in rows:
        while remaining_rejected and row.job.row is not None and remaining_rejected[0].row < row.job.row:
            yield remaining_rejected.popleft()
        yield row
    for rejected_row in remaining_rejected:
        yield rejected_row


def render_json_line(row: ResultRow, standing: RowStanding = _NO_STANDING) -> bytes:
    return _build_result_line(row, standing).model_dump_json().encode() + b"\n"


def _build_result_line(row: ResultRow, standing: RowStanding) -> ResultLine:
    if isinstance(row, RowError):
        return ResultLine(
            **dict(_REFUSED_STANDING),
            id=None,
            row=row.row,
            source=row.source,
            reference=get_own_reference(row.source, row.row),
            title="",
            state="refused",
            cost_usd=None,
            problem=Problem(type="invalid-request", title="The row cannot be used", detail=row.detail),
            report=None,
        )
    job = row.job
    return ResultLine(
        **dict(standing),
        id=job.id,
        row=job.row,
        source=row.source,
        reference=get_own_reference(row.source, job.row),
        title=job.subject,
        flags=job.flags,
        state=job.state,
        cost_usd=job.cost_usd,
        problem=job.problem,
        report=row.report,
    )


def flatten_result(row: ResultRow, standing: RowStanding = _NO_STANDING) -> FlatResult:
    line = _build_result_line(row, standing)
    report = line.report
    coverage = report.coverage if report else None
    fit = coverage.corpus_fit if coverage else None
    release = report.release if report else None
    return {
        "id": line.id,
        "row": line.row,
        "source": line.source,
        "reference": line.reference or None,
        "title": line.title,
        "state": line.state,
        "release": release.state if release else None,
        "flags": ", ".join(line.flags) or None,
        "below_minima": ", ".join(item.name for item in release.failed) or None if release else None,
        "scores": _collect_scores(report) if report else {},
        "decision": _get_decision(report) if report else None,
        "repeats": _describe_repeat(report) if report else None,
        "corpus_fit": None if fit is None or isinstance(fit, Absent) else fit.level,
        "papers_found": coverage.papers_found if coverage else None,
        "papers_cited": coverage.papers_cited if coverage else None,
        "quotes_unverified": coverage.quotes_unverified if coverage else None,
        "cost_usd": line.cost_usd,
        "problem": line.problem.type if line.problem else None,
        "problem_detail": line.problem.detail if line.problem else None,
        **{name: getattr(line, name) for name in RowStanding.model_fields},
    }


def _collect_scores(report: Report) -> dict[str, float]:
    return {part.name: part.score.value for part in report.parts if not isinstance(part.score, Absent)}


def _get_decision(report: Report) -> str | None:
    if report.board is not None:
        decision = report.board.decision
        return None if isinstance(decision, Absent) else decision.name
    if report.verdict is None or isinstance(report.verdict, Absent):
        return None
    verdict = report.verdict.decision
    return None if isinstance(verdict, Absent) else verdict


def _describe_repeat(report: Report) -> str | None:
    verdict = report.verdict
    repeats = None if verdict is None or isinstance(verdict, Absent) else verdict.repeats
    return f"{repeats.kind} of {repeats.title or repeats.idea}" if isinstance(repeats, RepeatedIdea) else None


def collect_keys(results: Sequence[FlatResult], column: str = "scores") -> list[str]:
    """Return the keys of the mapping `column` in all results, in order of appearance; by default, the parts that have a
    score in any result."""
    return list(dict.fromkeys(key for result in results for key in result[column]))


_COLUMNS = tuple(flatten_result(RowError(row=0, source="", field="", detail="")))


def _build_table(results: Sequence[FlatResult]) -> tuple[list[str], list[list[Any]]]:
    """Return the column names and the values of each row. Each part with scores, and each column of the proposals' own
    rows, has its own column."""
    names, rows = list[str](), [list[Any]() for _ in results]
    for column in _COLUMNS:
        prefix = _PREFIXES.get(column)
        keys = collect_keys(results, column) if prefix else []
        names += [f"{prefix}{key}" for key in keys] if prefix else [column]
        for row, result in zip(rows, results, strict=True):
            row.extend(map(result[column].get, keys) if prefix else [result[column]])
    return names, rows


def render_csv(results: Sequence[FlatResult]) -> str:
    """Return the results as CSV with a byte order mark, by which spreadsheets recognise UTF-8. Text that spreadsheets
    would evaluate as a formula is escaped."""
    return format_csv(*_build_table(results))


def format_csv(names: Sequence[str], rows: Sequence[Sequence[object]]) -> str:
    """Return a table as CSV, with the byte order mark and the escaping of `render_csv`."""
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\r\n")
    for row in (names, *rows):
        table.writerow(escape_cell(value) if isinstance(value, str) else value for value in row)
    return "\ufeff" + text.getvalue()


def render_parquet(results: Sequence[FlatResult]) -> bytes:
    """Return the results as Parquet. Text is not escaped, because no program evaluates it as a formula."""
    names, rows = _build_table(results)
    columns = [pa.array([row[index] for row in rows], _get_column_type(name)) for index, name in enumerate(names)]
    buffer = io.BytesIO()
    pq.write_table(pa.table(columns, names=names), buffer, compression="zstd")
    return buffer.getvalue()


def _get_column_type(name: str) -> pa.DataType:
    if name in _INTEGER_COLUMNS:
        return pa.int32()
    if name in _NUMBER_COLUMNS or (name.startswith(SCORE_PREFIX) and name != "score_absent"):
        return pa.float64()
    return pa.string()
