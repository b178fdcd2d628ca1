"""Batches: many ideas submitted at once, from files or rows."""

import datetime as dt
import json
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from assayer_client.calls import CallTerms
from assayer_client.errors import InvalidRequest
from assayer_client.evaluations import BoardSize
from assayer_client.requests import ApiCall, Upload, path, reads, reads_file_of
from assayer_client.resources import DEFAULT_METHOD, Body, Dollars, JobState, Page, Priority, Resource

R = TypeVar("R", bound=Resource)
ResultsFormat = Literal["jsonl", "csv", "xlsx", "parquet"]
_RESULTS_TYPES: dict[ResultsFormat, str] = {
    "jsonl": "application/jsonl",
    "csv": "text/csv",
    "xlsx": "application/vnd.openxmlformats-officedocument.spreadsheetml.sheet",
    "parquet": "application/vnd.apache.parquet",
}
EvaluationOutcome = Literal["full", "part", "unscored", "running", "queued", "failed", "cancelled"]
"""Outcome of an evaluation: `full` and `part` have all or some of their scores; `unscored` has a report without a
score, which is not a low score."""


class RowsQuery(Body):
    """Options that apply to all rows of the body."""

    method: str = Field(default=DEFAULT_METHOD, max_length=100)
    cutoff: dt.date | None = None
    """Cutoff: literature published after this day is not used. A row's own cutoff takes precedence."""
    max_usd: float | None = Field(default=None, gt=0, le=1e9, allow_inf_nan=False)
    """Maximum cost of each evaluation."""
    max_prompt_tokens: int | None = Field(default=None, gt=0, le=1_000_000_000)
    """Maximum prompt tokens of each evaluation."""
    blind: bool | None = None
    """Mask names, affiliations and similar details before the ideas are judged. Null: the service's setting, by
    default yes."""
    board: BoardSize | None = None
    """Number of reviewers on each board, only for the method innoeval; 0 is the control without personas. Null: the
    service's setting."""
    board_models: str = Field(default="", max_length=2_000)
    """Comma-separated models among which the reviewers are distributed, only for the method innoeval; they must be
    permitted by the service (`board_models` of the method). If empty, the service's settings apply."""
    criteria: str = Field(default="", max_length=6_000)
    """Criteria of the call as TOML: `[[criteria]]` with name, question, anchors and weight. Each report answers them
    one by one. If empty, there are no criteria."""
    priority: Priority = "batch"
    open: bool = False
    """Keep the batch open because more rows will follow: it does not finish until a later part closes it, or until a
    day has passed."""


class BatchQuery(RowsQuery):
    name: str = Field(default="", max_length=200)
    """Label for people."""
    tags: str = Field(default="", max_length=500)
    """Comma-separated labels by which batches can be found."""
    opinions_due: dt.date | None = None
    """Due date for the batch's reviewers. It is shown to them but not enforced."""


class BatchPatch(Body):
    """Changes to a batch; fields left out stay unchanged."""

    name: str = Field(default="", max_length=200)
    tags: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(default=(), max_length=20)
    opinions_due: dt.date | None = None
    """Due date for the batch's reviewers; null for none."""
    terms: CallTerms = CallTerms()
    """Terms of the batch as a funding call. Criteria and review form cannot change once a review has been given."""
    version: int | None = Field(default=None, ge=0)
    """Version of the call's details on which the change is based (`GET /v1/batches/{id}/terms`). If another change came
    first, this one is rejected. Null: the change is made in any case."""


class MoreRowsQuery(RowsQuery):
    first: int = Field(ge=1, le=1_000_000_000)
    """Number of the part's first row: `next_row` in the response to the previous part."""
    reopen: bool = False
    """Add the rows even if the batch is closed, as long as it is not signed off. `first` is then `next_row` of the
    batch."""
    replaces: str = Field(default="", max_length=2_000, pattern=r"^(\d{1,9}(,\d{1,9})*)?$")
    """Numbers of refused rows, separated by commas, that these rows replace. They are no longer listed as refused."""


class RowError(Resource):
    """Row of a batch that does not contain a usable idea."""

    row: int
    """Row number in the batch's input, from 1, not counting a table's header."""
    source: str
    """Name of the row: `row 7`, `proposals.csv:7`."""
    field: str
    """Invalid field; empty if the whole row is invalid."""
    detail: str


class Duplicate(Resource):
    """Row with the same text as an earlier row. Both are evaluated; the language model's answers are paid for only
    once."""

    row: int
    source: str
    """Name of the row: `row 7`, `call.csv:7 (A-2026-0007)`, a file's name."""
    same_as: int
    """Row number of the earlier row."""
    same_source: str
    """Name of the earlier row."""


class BatchLinks(Resource):
    """Paths of a batch and its related resources."""

    batch: str
    rows: str
    """Path to which further parts of an open batch are sent."""
    evaluations: str
    events: str
    results: str


class ReadRows(Resource):
    """Rows of one request, as they were read."""

    rows: int
    accepted: int
    rejected: tuple[RowError, ...]
    """Rows without a usable idea."""
    duplicates: tuple[Duplicate, ...]
    """Rows with the same text as an earlier row, which are paid for only once."""
    notices: tuple[str, ...]
    """Notices about files that were read in a way the submitter may not expect."""


class AcceptedBatch(ReadRows):
    """Accepted rows of one request. They are stored, and each will end in exactly one outcome."""

    id: str
    name: str
    next_row: int
    """Number of the first row of the next part, if the batch is open."""
    links: BatchLinks


class ExpectedFit(Resource):
    """Expected corpus fit of the checked proposals. Proposals whose field the corpus does not cover (`poor`) get no
    score that depends on it."""

    checked: int
    """Number of proposals checked. They are sampled evenly from those whose text is available, as many as time allows;
    documents are read only when they are evaluated."""
    good: int
    partial: int
    poor: int


class BatchEstimate(ReadRows):
    """Expected cost and duration of the rows, for all ideas together; unknown figures are null."""

    method: str
    ideas: int
    """Number of different ideas."""
    unopened: int
    """Number of documents, such as PDFs, that are opened only when their evaluation starts. An unreadable one fails
    then."""
    basis: Literal["own", "typical"] | None
    """Basis of the estimate. `own`: your evaluations by this method in the last 30 days; `typical`: the figures
    shipped with the program, at the service's prices."""
    evaluations: int
    """Number of your own evaluations on which the estimate is based; 0 for `typical`."""
    calls: int | None
    """Number of calls to language models, including calls that the cache will answer."""
    prompt_tokens: int | None
    completion_tokens: int | None
    cost_usd: Dollars | None
    high_cost_usd: Dollars | None
    """Total cost if every idea cost as much as the most expensive tenth of evaluations."""
    cost_absent: str | None
    """Reason why the cost is null."""
    cut_short: float | None
    """Share of your evaluations that cost more than `max_usd` allows; such ideas end incomplete."""
    waiting: int
    """Number of your accepted evaluations that have not ended; they run first."""
    hours: float | None
    """Hours until the last evaluation ends, including those already waiting, at the rate at which your evaluations
    ended in the last hour."""
    hours_absent: str | None
    """Reason why the hours are null."""
    left_this_month_usd: Dollars | None
    """Remaining budget of this month in US dollars; null: there is no limit."""
    exceeds_month: bool | None
    """True if the cost may exceed the remaining monthly budget. Null: there is no limit, or the cost is unknown."""
    corpus_fit: ExpectedFit | None
    """Corpus coverage of the proposals' fields; null if unknown."""
    corpus_fit_absent: str | None
    """Reason why the corpus fit is null."""


class BatchSummary(Resource):
    id: str
    name: str
    rows: int
    """Number of rows in the input."""
    rejected: int
    """Number of rows without a usable idea."""
    open: bool
    """True if more rows will follow."""
    tags: tuple[str, ...]
    opinions_due: dt.date | None
    """Due date for the batch's reviewers."""
    states: dict[JobState, int]
    """Number of evaluations in each state; states without evaluations are missing."""
    erased: int
    """Number of rows that were deleted, by request or at the end of their retention period."""
    cost_usd: Dollars | None
    """Cost of the evaluations that have ended; null if any of these costs is unknown, or was deleted with its
    evaluation."""
    known_cost_usd: Dollars
    """Total cost of those stored evaluations whose cost is known."""
    ideas_per_hour: float | None
    """Number of evaluations that produced a report, per hour since the batch was accepted; null while the batch is
    running and fewer than five have."""
    finish_expected_at: dt.datetime | None
    """Expected end at that rate; null if there is no rate, and once all evaluations have ended."""
    created_at: dt.datetime
    finished_at: dt.datetime | None
    """Time at which the last evaluation ended; null until then."""
    links: BatchLinks


class BatchResource(BatchSummary):
    rejected_rows: tuple[RowError, ...]
    next_row: int
    """Number of the first row that can be added."""
    waiting: str | None = None
    """Reason why the first queued evaluation is not running yet; null if none is queued."""
    outcomes: dict[EvaluationOutcome, int] | None = None
    """Number of evaluations by outcome: scored in full, in part, not at all (`unscored`) and so on; outcomes
    without evaluations are missing. Null until all have ended."""
    poorly_covered: int | None = None
    """Number of proposals whose field the corpus covers poorly. Null until all evaluations have ended."""


class RetriedBatch(Resource):
    """Result of rerunning the rows of a batch that have no result."""

    retried: int
    """Number of evaluations queued again."""
    unreadable: int
    """Number of evaluations left unchanged because their document is no longer stored; these must be submitted again.
    """
    batch: BatchSummary


def create(
    *,
    files: Sequence[Upload] = (),
    rows: Iterable[dict[str, Any]] | None = None,
    options: BatchQuery | None = None,
    key: str | None = None,
) -> ApiCall[AcceptedBatch]:
    """Submit ideas for evaluation, from files or from rows. `files` are PDF, text, Markdown, JSON, JSON Lines, CSV, or
    ZIP archives of them; `rows` are records with `title` and `text`, or with sections under their own names. Unreadable
    input is listed in `rejected`; the rest is evaluated. If `open` is set in the options, further parts can be sent
    with `add_rows`."""
    return _upload(path("batches"), AcceptedBatch, files, rows, options, key)


def add_rows(
    batch: str,
    options: MoreRowsQuery,
    *,
    files: Sequence[Upload] = (),
    rows: Iterable[dict[str, Any]] | None = None,
    key: str | None = None,
) -> ApiCall[AcceptedBatch]:
    """Send another part of an open batch; `first` is `next_row` from the response to the previous part."""
    return _upload(path("batches", batch, "rows"), AcceptedBatch, files, rows, options, key)


def estimate(
    *,
    files: Sequence[Upload] = (),
    rows: Iterable[dict[str, Any]] | None = None,
    options: RowsQuery | None = None,
) -> ApiCall[BatchEstimate]:
    """Return the expected cost and duration of `create`. Nothing is stored or evaluated."""
    # Options such as the batch's name do not affect the cost, and the service rejects them here.
    shared = options and RowsQuery(**options.model_dump(include=set(RowsQuery.model_fields), exclude_unset=True))
    return _upload(path("batches", "estimate"), BatchEstimate, files, rows, shared, None)


def batches(*, after: str | None = None, limit: int = 50, tag: str | None = None) -> ApiCall[Page[BatchSummary]]:
    """List the caller's own batches, newest first; with a tag, only batches with that tag."""
    query = {"after": after, "limit": limit, "tag": tag}
    return ApiCall("GET", path("batches"), reads(Page[BatchSummary]), query=query)


def results(
    batch: str, *, format: ResultsFormat = "jsonl", reference: str | None = None, ranking: str = ""
) -> ApiCall[None]:
    """Download the results of a batch so far. They cover all rows, or only those with the submitter's `reference`, and
    include the ranks from the named ranking or, if none is named, from the newest that succeeded."""
    read = reads_file_of(_RESULTS_TYPES[format])
    query = {"format": format, "reference": reference, "ranking": ranking or None}
    return ApiCall("GET", path("batches", batch, "results"), read, query, headers={"Accept": "*/*"})


def dossier(batch: str, *, ranking: str = "") -> ApiCall[None]:
    """Download the dossier of a batch as a PDF, in the order of the named ranking or, if none is named, by score."""
    read, query = reads_file_of("application/pdf"), {"ranking": ranking or None}
    return ApiCall("GET", path("batches", batch, "dossier"), read, query, headers={"Accept": "*/*"})


def _upload(
    where: str,
    answer: type[R],
    files: Sequence[Upload],
    rows: Iterable[dict[str, Any]] | None,
    options: RowsQuery | None,
    key: str | None,
) -> ApiCall[R]:
    if bool(files) == (rows is not None):
        raise InvalidRequest("Pass either `files` or `rows`.")
    lines = None if rows is None else _lines(rows)
    return ApiCall("POST", where, reads(answer), _query(options), lines=lines, uploads=tuple(files), key=key)


def _query(options: RowsQuery | None) -> dict[str, str | int | None]:
    fields = {} if options is None else options.model_dump(mode="json", exclude_unset=True)
    return {name: value if value is None else str(value) for name, value in fields.items()}


def _lines(rows: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()
