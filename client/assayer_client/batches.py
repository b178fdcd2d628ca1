"""Batches: many ideas submitted together, from files or rows."""

import datetime as dt
import json
from collections.abc import Iterable, Sequence
from typing import Annotated, Any, Literal, TypeVar

from pydantic import Field

from assayer_client.calls import CallTerms
from assayer_client.errors import InvalidRequest
from assayer_client.evaluations import BoardSize
from assayer_client.requests import ApiCall, Upload, build_path, make_file_check, make_json_parser
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
"""Outcome of an evaluation. `full`: it has all its scores; `part`: it has some of them; `unscored`: it has a report
without a score, which is not a low score."""


class RowsQuery(Body):
    """Options that apply to all rows in the request body."""

    method: str = Field(default=DEFAULT_METHOD, max_length=100)
    cutoff: dt.date | None = None
    """Cutoff: literature published after this day is ignored. A row's own cutoff takes precedence."""
    max_usd: float | None = Field(default=None, gt=0, le=1e9, allow_inf_nan=False)
    """Maximum cost of each evaluation, in US dollars."""
    max_prompt_tokens: int | None = Field(default=None, gt=0, le=1_000_000_000)
    """Maximum number of prompt tokens in each evaluation."""
    blind: bool | None = None
    """Mask names, affiliations and similar details before the ideas are judged. Null: the service's setting, which by
    default is yes."""
    board: BoardSize | None = None
    """Number of reviewers on each board (method innoeval only). 0: one reviewer without a persona, as a control. Null:
    the service's setting."""
    board_models: str = Field(default="", max_length=2_000)
    """Comma-separated models distributed among the reviewers (method innoeval only). The service must allow them; see
    the method's `board_models`. If empty, the service's settings apply."""
    criteria: str = Field(default="", max_length=6_000)
    """Criteria in the call for proposals, as TOML: `[[criteria]]` with name, question, anchors and weight. Each report
    answers them one by one. If empty, there are no criteria."""
    priority: Priority = "batch"
    open: bool = False
    """Keep the batch open because more rows will follow. It does not finish until a later part closes it or a day has
    passed."""


class BatchQuery(RowsQuery):
    name: str = Field(default="", max_length=200)
    """Display name."""
    tags: str = Field(default="", max_length=500)
    """Comma-separated tags by which the batch can be found."""
    opinions_due: dt.date | None = None
    """Due date for the batch's reviewers, which is shown to them but not enforced."""


class BatchPatch(Body):
    """Changes to a batch. Omitted fields are unchanged."""

    name: str = Field(default="", max_length=200)
    tags: tuple[Annotated[str, Field(min_length=1, max_length=100)], ...] = Field(default=(), max_length=20)
    opinions_due: dt.date | None = None
    """Due date for the batch's reviewers; null for none."""
    terms: CallTerms = CallTerms()
    """Terms of the batch as a funding call. Criteria and review form cannot be changed once an opinion has been
    given."""
    version: int | None = Field(default=None, ge=0)
    """Version of the call details that this change replaces (`GET /v1/batches/{id}/terms`). If they have been changed
    since, the request is rejected. Null: make the change in any case."""


class MoreRowsQuery(RowsQuery):
    first_row: int = Field(ge=1, le=1_000_000_000)
    """Number of this part's first row: `next_row` in the response to the previous part."""
    reopen: bool = False
    """Add the rows even if the batch is closed, unless it is signed off. `first_row` must then be the batch's
    `next_row`."""
    replaced_rows: str = Field(default="", max_length=2_000, pattern=r"^(\d{1,9}(,\d{1,9})*)?$")
    """Comma-separated numbers of rejected rows that these rows replace. They are no longer listed as rejected."""


class RowError(Resource):
    """Row in a batch that contains no usable idea."""

    row: int
    """Row number in the batch's input, from 1, not counting a spreadsheet's header."""
    source: str
    """Name of the row, such as `row 7` or `proposals.csv:7`."""
    field: str
    """Invalid field; empty if the whole row is invalid."""
    detail: str


class Duplicate(Resource):
    """Row with the same text as an earlier row. Both are evaluated, but model answers are paid for only once."""

    row: int
    source: str
    """Name of the row: `row 7`, `call.csv:7 (A-2026-0007)`, or a file name."""
    duplicate_of: int
    """Row number of the earlier row."""
    duplicate_of_source: str
    """Name of the earlier row."""


class BatchLinks(Resource):
    """Paths to a batch and its related resources."""

    batch: str
    rows: str
    """Path to which to send further parts of an open batch."""
    evaluations: str
    events: str
    results: str


class ReadRows(Resource):
    """Rows in one request, as they were parsed."""

    rows: int
    accepted: int
    rejected: tuple[RowError, ...]
    """Rows without a usable idea."""
    duplicates: tuple[Duplicate, ...]
    """Rows with the same text as an earlier row, whose answers are paid for only once."""
    notices: tuple[str, ...]
    """Notices about files that were parsed in a way that the submitter may not expect."""


class AcceptedBatch(ReadRows):
    """Rows accepted from one request. They are stored, and each will end in exactly one outcome."""

    id: str
    name: str
    next_row: int
    """Number of the next part's first row, if the batch is open."""
    links: BatchLinks


class ExpectedFit(Resource):
    """Expected degree to which the corpus covers the proposals' fields. Proposals in a field that it covers poorly
    (`poorly_covered`) get no score that depends on it."""

    checked_proposals: int
    """Number of proposals checked. They are sampled evenly from those whose text is available, as many as time allows.
    Documents are parsed only when they are evaluated, so they are not checked."""
    well_covered: int
    partly_covered: int
    poorly_covered: int


class BatchEstimate(ReadRows):
    """Expected cost and duration for all the rows together. Unknown figures are null."""

    method: str
    ideas: int
    """Number of distinct ideas."""
    unparsed_documents: int
    """Number of documents, such as PDFs, that are parsed only when their evaluation starts. An unreadable document
    fails at that point."""
    basis: Literal["own", "typical"] | None
    """Basis of the estimate. `own`: your evaluations with this method in the last 30 days; `typical`: measured figures
    that are shipped with the program, at the service's prices."""
    evaluations: int
    """Number of your own evaluations on which the estimate is based; 0 for `typical`."""
    llm_requests: int | None
    """Number of LLM requests, including those that the cache will answer."""
    prompt_tokens: int | None
    cached_prompt_tokens: int | None
    """Number of the prompt tokens that the endpoint is expected to read from its prompt cache, as in your own
    evaluations; null for `typical`."""
    completion_tokens: int | None
    gpu_hours: float | None
    """GPU-hours that the language model takes; null if the service does not know its models' speeds."""
    high_gpu_hours: float | None
    """GPU-hours if every idea took as many as the most expensive tenth of evaluations."""
    cost_usd: Dollars | None
    high_cost_usd: Dollars | None
    """Total cost if every idea cost as much as the most expensive tenth of evaluations."""
    cost_absent: str | None
    """Why the cost is null."""
    share_over_max_usd: float | None
    """Share of your evaluations that cost more than `max_usd`; such ideas end incomplete."""
    evaluations_ahead: int
    """Number of your evaluations that are queued or running; they run first."""
    hours_to_finish: float | None
    """Hours until the last evaluation ends, including those already queued, at the rate of your evaluations in the last
    hour."""
    hours_absent: str | None
    """Why the hours are null."""
    remaining_this_month_usd: Dollars | None
    """Amount left in this month's budget, in US dollars; null: there is no limit."""
    exceeds_monthly_budget: bool | None
    """True if the cost may exceed the remaining monthly budget. Null: there is no limit, or the cost is unknown."""
    corpus_fit: ExpectedFit | None
    """Degree to which the corpus covers the proposals' fields; null if unknown."""
    corpus_fit_absent: str | None
    """Why the corpus fit is null."""


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
    """Number of evaluations in each state, without states that have none."""
    erased: int
    """Number of rows that were deleted, on request or at the end of their retention period."""
    cost_usd: Dollars | None
    """Cost of the finished evaluations; null if any of their costs is unknown or was deleted together with the
    evaluation."""
    known_cost_usd: Dollars
    """Total cost of the stored evaluations whose cost is known."""
    ideas_per_hour: float | None
    """Evaluations that produced a report, per hour since the batch was accepted. Null while the batch is running and
    fewer than five have."""
    finish_expected_at: dt.datetime | None
    """Expected finish time at that rate; null if there is no rate, and once all evaluations have ended."""
    created_at: dt.datetime
    finished_at: dt.datetime | None
    """When the last evaluation ended; null until then."""
    links: BatchLinks


class BatchResource(BatchSummary):
    rejected_rows: tuple[RowError, ...]
    next_row: int
    """Number that the next added row will get."""
    waiting_reason: str | None = None
    """Why the first queued evaluation is not running yet; null if none is queued."""
    outcomes: dict[EvaluationOutcome, int] | None = None
    """Number of evaluations by outcome: scored in full, in part, not at all (`unscored`) and so on, without outcomes
    that have none. Null until all evaluations have ended."""
    poorly_covered: int | None = None
    """Number of proposals in fields that the corpus covers poorly. Null until all evaluations have ended."""


class RetriedBatch(Resource):
    """Result of retrying the rows in a batch that have no result."""

    retried: int
    """Number of evaluations queued again."""
    unreadable: int
    """Number of evaluations not retried because their document is no longer stored. Submit these again."""
    batch: BatchSummary


def create(
    *,
    files: Sequence[Upload] = (),
    rows: Iterable[dict[str, Any]] | None = None,
    options: BatchQuery | None = None,
    key: str | None = None,
) -> ApiCall[AcceptedBatch]:
    """Submit ideas for evaluation, from files or from rows.

    `files` can be PDF, text, Markdown, JSON, JSON Lines or CSV, or ZIP archives of these. `rows` are records with
    `title` and `text`, or with one field per section. Unusable input is listed in `rejected`; the rest is evaluated. If
    the option `open` is set, further parts can be sent with `add_rows`."""
    return _upload(build_path("batches"), AcceptedBatch, files, rows, options, key)


def add_rows(
    batch: str,
    options: MoreRowsQuery,
    *,
    files: Sequence[Upload] = (),
    rows: Iterable[dict[str, Any]] | None = None,
    key: str | None = None,
) -> ApiCall[AcceptedBatch]:
    """Send another part of an open batch; `first_row` must be `next_row` from the response to the previous part."""
    return _upload(build_path("batches", batch, "rows"), AcceptedBatch, files, rows, options, key)


def estimate(
    *,
    files: Sequence[Upload] = (),
    rows: Iterable[dict[str, Any]] | None = None,
    options: RowsQuery | None = None,
) -> ApiCall[BatchEstimate]:
    """Return the expected cost and duration of `create`, without storing or evaluating anything."""
    # Options such as the batch's name do not affect the cost, and the service rejects them here.
    row_options = options and RowsQuery(**options.model_dump(include=set(RowsQuery.model_fields), exclude_unset=True))
    return _upload(build_path("batches", "estimate"), BatchEstimate, files, rows, row_options, None)


def list_batches(*, after: str | None = None, limit: int = 50, tag: str | None = None) -> ApiCall[Page[BatchSummary]]:
    """List the caller's own batches, newest first; with `tag`, only those with that tag."""
    query = {"after": after, "limit": limit, "tag": tag}
    return ApiCall("GET", build_path("batches"), make_json_parser(Page[BatchSummary]), query=query)


def save_results(
    batch: str, *, format: ResultsFormat = "jsonl", reference: str | None = None, ranking: str = ""
) -> ApiCall[None]:
    """Download a batch's results so far, for all rows or only those with the submitter's `reference`. Ranks come from
    the named ranking or, by default, from the newest that succeeded."""
    read = make_file_check(_RESULTS_TYPES[format])
    query = {"format": format, "reference": reference, "ranking": ranking or None}
    return ApiCall("GET", build_path("batches", batch, "results"), read, query, headers={"Accept": "*/*"})


def save_dossier(batch: str, *, ranking: str = "") -> ApiCall[None]:
    """Download a batch's dossier as a PDF, in the order of the named ranking or, by default, by score."""
    read, query = make_file_check("application/pdf"), {"ranking": ranking or None}
    return ApiCall("GET", build_path("batches", batch, "dossier"), read, query, headers={"Accept": "*/*"})


def _upload(
    url_path: str,
    kind: type[R],
    files: Sequence[Upload],
    rows: Iterable[dict[str, Any]] | None,
    options: RowsQuery | None,
    key: str | None,
) -> ApiCall[R]:
    if bool(files) == (rows is not None):
        raise InvalidRequest("Pass either `files` or `rows`.")
    lines = None if rows is None else _format_lines(rows)
    return ApiCall(
        "POST", url_path, make_json_parser(kind), _build_query(options), lines=lines, uploads=tuple(files), key=key
    )


def _build_query(options: RowsQuery | None) -> dict[str, str | int | None]:
    fields = {} if options is None else options.model_dump(mode="json", exclude_unset=True)
    return {name: value if value is None else str(value) for name, value in fields.items()}


def _format_lines(rows: Iterable[dict[str, Any]]) -> bytes:
    return "".join(json.dumps(row) + "\n" for row in rows).encode()
