"""Results of a batch as JSON lines, CSV or Parquet, with the names that programs read: one line per row, rejected rows
included."""

import csv
import io
from collections import deque
from collections.abc import AsyncIterator, Sequence
from typing import Literal, TypeAlias

import pyarrow as pa
import pyarrow.parquet as pq

from assayer.models import Absent, FlagKind, Frozen, RepeatedIdea, Report
from assayer.models.assessment import ScoreCertainty
from assayer.models.base import Dollars
from assayer.models.ranking import Band
from assayer.models.sender_references import own_reference
from assayer.reports.escaping import cell
from orchestrator.batches.rows import RejectedRow
from orchestrator.jobs.models import JobId, JobState, Problem
from orchestrator.jobs.outcome_wording import EvaluationOutcome
from orchestrator.jobs.submissions import BatchRow

__all__ = [
    "SCORE_PREFIX",
    "FlatResult",
    "ResultLine",
    "ResultRow",
    "RowOutcome",
    "RowStanding",
    "as_csv",
    "as_json_line",
    "as_parquet",
    "columns_of",
    "flat_result",
    "parts_of",
    "rows_in_order",
    "values_of",
]

ResultRow: TypeAlias = BatchRow | RejectedRow
RowState: TypeAlias = JobState | Literal["refused"]
"""`refused`: the row holds no usable idea, so there is no evaluation."""

RowOutcome: TypeAlias = EvaluationOutcome | Literal["refused"]
"""What a row came to, as the table of its call says it."""

SCORE_PREFIX = "score_"
"""Prefix of the columns with scores."""

_WHOLE = ("row", "rank", "opinions", "papers_found", "papers_cited", "quotes_unverified")
_NUMBERS = ("score", "rank_low", "rank_high", "chance_in", "reviewers_score", "cost_usd")


class RowStanding(Frozen):
    """What the table of a call shows of a row beside its report. None: there is none, or it is not for who asks."""

    outcome: RowOutcome | None = None
    score: float | None = None
    """All parts together, 0 to 100."""
    score_absent: str | None = None
    """Why a report has none."""
    certainty: ScoreCertainty | None = None
    """The least of the parts'."""
    ranking: JobId | None = None
    """The ranking that the rank is of."""
    rank: int | None = None
    """From 1, the best."""
    rank_low: float | None = None
    """The interval of the rank, as the ranking states it."""
    rank_high: float | None = None
    band: Band | None = None
    """At the ranking's own cut."""
    chance_in: float | None = None
    """Of being among the truly best at that cut, 0 to 1."""
    opinions: int | None = None
    """Reviewers' that count. None: whoever asks may not see them, as machines never may."""
    reviewers_score: float | None = None
    """What counts, 1 to 5: the score that an officer set, else the mean of the opinions as they stand."""


_NOTHING = RowStanding()
_REFUSED = RowStanding(outcome="refused")


class ResultLine(RowStanding):
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


class FlatResult(RowStanding):
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


def as_json_line(row: ResultRow, standing: RowStanding = _NOTHING) -> bytes:
    return _result_line(row, standing).model_dump_json().encode() + b"\n"


def _result_line(row: ResultRow, standing: RowStanding) -> ResultLine:
    if isinstance(row, RejectedRow):
        return ResultLine(
            **dict(_REFUSED),
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
        **dict(standing),
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


def flat_result(row: ResultRow, standing: RowStanding = _NOTHING) -> FlatResult:
    line = _result_line(row, standing)
    report = line.report
    coverage = report.coverage if report else None
    fit = coverage.corpus_fit if coverage else None
    release = report.release if report else None
    return FlatResult(
        **{name: getattr(line, name) for name in RowStanding.model_fields},
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


def parts_of(results: Sequence[FlatResult]) -> list[str]:
    """Every part that has a score anywhere, in the order in which the reports name them."""
    return list(dict.fromkeys(name for result in results for name in result.scores))


def columns_of(parts: Sequence[str]) -> list[str]:
    """What a table had before rows had a standing comes first and in its old order: more columns are no other ones."""
    before, after = _around_scores()
    return [*before, *(f"{SCORE_PREFIX}{name}" for name in parts), *after, *RowStanding.model_fields]


def _around_scores() -> tuple[list[str], list[str]]:
    names = [name for name in FlatResult.model_fields if name not in RowStanding.model_fields]
    place = names.index("scores")
    return names[:place], names[place + 1 :]


def values_of(result: FlatResult, parts: Sequence[str]) -> list[object]:
    """In the order of the columns."""
    before, after = _around_scores()
    scores = [result.scores.get(name) for name in parts]
    return [
        *(getattr(result, name) for name in before),
        *scores,
        *(getattr(result, name) for name in (*after, *RowStanding.model_fields)),
    ]


def as_csv(results: Sequence[FlatResult]) -> str:
    """UTF-8 with a byte order mark, which spreadsheets need to recognise it. No cell is a formula."""
    parts = parts_of(results)
    text = io.StringIO()
    table = csv.writer(text, lineterminator="\r\n")
    table.writerow(map(cell, columns_of(parts)))
    for result in results:
        table.writerow(cell(one) if isinstance(one, str) else one for one in values_of(result, parts))
    return "\ufeff" + text.getvalue()


def as_parquet(results: Sequence[FlatResult]) -> bytes:
    """Texts unchanged: no program runs them as formulas."""
    parts = parts_of(results)
    names = columns_of(parts)
    rows = [values_of(result, parts) for result in results]
    columns = [pa.array([row[place] for row in rows], _type(name)) for place, name in enumerate(names)]
    written = io.BytesIO()
    pq.write_table(pa.table(columns, names=names), written, compression="zstd")
    return written.getvalue()


def _type(name: str) -> pa.DataType:
    if name in _WHOLE:
        return pa.int32()
    if name in _NUMBERS or (name.startswith(SCORE_PREFIX) and name != "score_absent"):
        return pa.float64()
    return pa.string()
