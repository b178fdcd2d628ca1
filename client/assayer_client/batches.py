"""Batches: many ideas at once, from files or rows."""

import datetime as dt
import json
from collections.abc import Iterable, Sequence
from typing import Any, Literal

from assayer_client.event_stream import EventStream
from assayer_client.requests import ApiCall, Upload, path, reads, reads_file_of
from assayer_client.resources import Body, JobState, Page, Priority, Resource

ResultsFormat = Literal["jsonl", "csv", "xlsx", "parquet"]
_RESULTS_TYPES: dict[ResultsFormat, str] = {
    "jsonl": "application/jsonl",
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
}
EvaluationOutcome = Literal["full", "part", "unscored", "running", "queued", "failed", "cancelled"]
"""full, part: scored so; unscored: it has a report without a score, which is not a low score."""


class RowsQuery(Body):
    """Options of rows: the body is these, or files."""

    method: str = "scholareval"
    cutoff: dt.date | None = None
    """Literature published after this day is not used. A row's own cutoff goes before it."""
    max_usd: float | None = None
    """Of each evaluation."""
    max_prompt_tokens: int | None = None
    """Of each evaluation."""
    blind: bool | None = None
    """Judge without names, affiliations and the like; null: what the service's settings say, for batches yes."""
    board: int | None = None
    """Of InnoEval: how many reviewers sit on each board; 0 is the control without personas, null what the service's
    settings say."""
    board_models: str = ""
    """Of InnoEval: models among which the reviewers are dealt, separated by commas, of those that the service permits
    (`methods`)."""
    priority: Priority = "batch"
    open: bool = False
    """More rows are to come: the batch has not finished before a further part closes it, a day later at the latest."""


class BatchQuery(RowsQuery):
    name: str = ""
    """For people."""
    tags: str = ""
    """Further labels, by which batches are found, separated by commas."""
    opinions_due: dt.date | None = None
    """The last day for its reviewers, who see it; it refuses nobody."""


class BatchPatch(Body):
    """What of a batch is to change; what is left out stays."""

    name: str = ""
    tags: tuple[str, ...] = ()
    opinions_due: dt.date | None = None
    """The last day for its reviewers; null for none."""


class MoreRowsQuery(RowsQuery):
    first: int
    """Number of its first row: `next_row` of what was sent before."""


class RowError(Resource):
    """A row of a batch that gave no idea."""

    row: int
    """Of the batch's input, from 1; a table's header does not count."""
    source: str
    """What the row is called: `row 7`, `proposals.csv:7`."""
    field: str
    """The field at fault; empty for the whole row."""
    detail: str


class Duplicate(Resource):
    """A row with the words of an earlier one. Both are evaluated; answers of language models are paid for once."""

    row: int
    source: str = ""
    """What the row is called: `row 7`, `call.csv:7 (A-2026-0007)`, a file's name."""
    same_as: int
    """The number of the earlier row."""
    same_source: str = ""
    """What that one is called."""


class BatchLinks(Resource):
    """Paths of what belongs to a batch."""

    batch: str
    rows: str
    """To which further parts are sent."""
    evaluations: str
    events: str
    results: str


class AcceptedBatch(Resource):
    """The rows of one request are stored, and each will end in exactly one verdict."""

    id: str
    name: str
    rows: int
    accepted: int
    rejected: tuple[RowError, ...]
    """Rows that gave no idea. The others go on."""
    duplicates: tuple[Duplicate, ...]
    notices: tuple[str, ...]
    """How a file was read, where that is not a matter of course."""
    next_row: int
    """Where a further part begins, if the batch is open."""
    links: BatchLinks


class ExpectedFit(Resource):
    """What evaluations would say of the corpus, for proposals that were looked at. Those whose field it does not cover
    (`poor`) get no score that rests on it."""

    checked: int
    """Of those whose text is at hand, spread over all of them. Documents are read when they are evaluated."""
    good: int
    partial: int
    poor: int


class BatchEstimate(Resource):
    """What rows would take. Figures are of all ideas together; those that are null are not known."""

    method: str
    rows: int
    accepted: int
    rejected: tuple[RowError, ...]
    """Rows that gave no idea."""
    duplicates: tuple[Duplicate, ...]
    """Rows with the words of an earlier one: paid for once."""
    notices: tuple[str, ...]
    """How a file was read, where that is not a matter of course."""
    ideas: int
    """Different ones."""
    basis: Literal["own", "typical"] | None
    """One's own evaluations by this method within the last 30 days, or the figures that come with the program, with
    the service's prices."""
    evaluations: int
    """Of one's own that were looked at; 0 for `typical`."""
    calls: int | None
    """Of language models, those that the cache will answer included."""
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: float | None
    high_cost_usd: float | None
    """If every idea cost as much as the dearest tenth."""
    cost_absent: str | None
    """Why the cost is null."""
    cut_short: float | None
    """Share of one's evaluations that cost more than `max_usd` allows: such ideas end incomplete."""
    waiting: int
    """Evaluations of one's own that have been accepted and have not ended: they go first."""
    hours: float | None
    """Until the last one ends, after those waiting, at the pace at which one's own ended within the last hour."""
    hours_absent: str | None
    """Why the time is null."""
    left_this_month_usd: float | None
    """Null: there is no limit."""
    exceeds_month: bool | None
    """It may cost more than is left. Null: there is no limit, or the cost is not known."""
    corpus_fit: ExpectedFit | None = None
    """Whether the corpus covers the proposals' fields. Null: it is not known."""
    corpus_fit_absent: str | None = None
    """Why that is null."""


class BatchSummary(Resource):
    id: str
    name: str
    rows: int
    """Of the input."""
    rejected: int
    """Rows that gave no idea."""
    open: bool
    """More rows are to come."""
    tags: tuple[str, ...] = ()
    opinions_due: dt.date | None = None
    """The last day for its reviewers."""
    states: dict[JobState, int]
    """Evaluations in each state; states without one are missing."""
    erased: int = 0
    """Rows that were deleted: by request, or when their time of retention was over."""
    cost_usd: float | None
    """Of the evaluations that have ended; null where that of one of them is not known."""
    known_cost_usd: float
    """Of those whose cost is known."""
    ideas_per_hour: float | None
    """That ended, since the batch was accepted; null before the first."""
    finish_expected_at: dt.datetime | None
    """At that pace; null while there is none, and when all have ended."""
    created_at: dt.datetime
    finished_at: dt.datetime | None
    """When the last evaluation ended; null before."""
    links: BatchLinks


class BatchResource(BatchSummary):
    rejected_rows: tuple[RowError, ...]
    waiting: str | None = None
    """Why the first of its queued evaluations does not run yet; null when none is queued."""
    outcomes: dict[EvaluationOutcome, int] | None = None
    """What its evaluations came to; outcomes without any are missing. Null before all have ended."""
    poorly_covered: int | None = None
    """Of its proposals, those whose field the corpus covers poorly. Null before all have ended."""


class RetriedBatch(Resource):
    retried: int
    """Evaluations that wait again."""
    unreadable: int
    """Those that stay as they are, since their document is kept no longer: submit them again."""
    batch: BatchSummary


def submit_files(
    files: Sequence[Upload], options: BatchQuery | None = None, *, key: str | None = None
) -> ApiCall[AcceptedBatch]:
    """PDF, text, Markdown, JSON, JSON lines or CSV, or ZIP archives of them. What cannot be read is in `rejected`; the
    rest goes on. With `open` in the options further parts follow by `add_files`."""
    return ApiCall("POST", path("batches"), reads(AcceptedBatch), query=_query(options), uploads=tuple(files), key=key)


def add_files(
    batch: str, files: Sequence[Upload], options: MoreRowsQuery, *, key: str | None = None
) -> ApiCall[AcceptedBatch]:
    """A further part of a batch that was left open; `first` is `next_row` of the part before."""
    rows = path("batches", batch, "rows")
    return ApiCall("POST", rows, reads(AcceptedBatch), query=_query(options), uploads=tuple(files), key=key)


def submit_rows(
    rows: Iterable[dict[str, Any]], options: BatchQuery | None = None, *, key: str | None = None
) -> ApiCall[AcceptedBatch]:
    """Records with `title` and `text`, or sections under their own names."""
    return ApiCall("POST", path("batches"), reads(AcceptedBatch), query=_query(options), lines=_lines(rows), key=key)


def estimate_files(files: Sequence[Upload], options: RowsQuery | None = None) -> ApiCall[BatchEstimate]:
    """What `submit_files` would cost, and how long it would take. Nothing is stored or evaluated."""
    where = path("batches", "estimate")
    return ApiCall("POST", where, reads(BatchEstimate), query=_query(_of_rows(options)), uploads=tuple(files))


def estimate_rows(rows: Iterable[dict[str, Any]], options: RowsQuery | None = None) -> ApiCall[BatchEstimate]:
    """What `submit_rows` would cost, and how long it would take. Nothing is stored or evaluated."""
    return ApiCall(
        "POST", path("batches", "estimate"), reads(BatchEstimate), query=_query(_of_rows(options)), lines=_lines(rows)
    )


def batch(batch: str) -> ApiCall[BatchResource]:
    """How far it has come."""
    return ApiCall("GET", path("batches", batch), reads(BatchResource))


def batches(*, after: str | None = None, limit: int = 50, tag: str | None = None) -> ApiCall[Page[BatchSummary]]:
    """One's own, the newest first; with a tag, those that carry it."""
    query = {"after": after, "limit": limit, "tag": tag}
    return ApiCall("GET", path("batches"), reads(Page[BatchSummary]), query=query)


def change_batch(batch: str, body: BatchPatch) -> ApiCall[BatchResource]:
    """Its name, its tags, or until when opinions are due; refused once it is signed off."""
    return ApiCall("PATCH", path("batches", batch), reads(BatchResource), body=body)


def cancel_batch(batch: str) -> ApiCall[BatchResource]:
    """Nothing more is spent on what has not ended."""
    return ApiCall("DELETE", path("batches", batch), reads(BatchResource))


def retry_batch(batch: str) -> ApiCall[RetriedBatch]:
    """Its rows that failed, were given up or were cancelled, under the same ids."""
    return ApiCall("POST", path("batches", batch, "retry"), reads(RetriedBatch))


def results(batch: str, format: ResultsFormat, reference: str | None = None, ranking: str = "") -> ApiCall[None]:
    """What its rows, all or those that their sender calls so, came to so far, with ranks of a ranking: the newest that
    is done, or the one that is named."""
    read = reads_file_of(_RESULTS_TYPES[format])
    query = {"format": format, "reference": reference, "ranking": ranking or None}
    return ApiCall("GET", path("batches", batch, "results"), read, query, headers={"Accept": "*/*"})


def batch_events(batch: str) -> EventStream[BatchSummary]:
    """Their ids tell how many rows have ended, which several may have in common."""
    return EventStream(path("batches", batch, "events"), BatchSummary, has_ended, numbered=False)


def has_ended(found: BatchSummary) -> bool:
    return found.finished_at is not None


def _of_rows(options: RowsQuery | None) -> RowsQuery | None:
    """What of a submission's options an estimate asks for: a name costs nothing."""
    return options and RowsQuery(**options.model_dump(include=set(RowsQuery.model_fields), exclude_unset=True))


def _query(options: RowsQuery | None) -> dict[str, str | int | None]:
    given = {} if options is None else options.model_dump(mode="json", exclude_unset=True)
    return {name: value if value is None else str(value) for name, value in given.items()}


def _lines(rows: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()
