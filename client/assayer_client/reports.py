"""Report of an evaluation, and the timeline of its creation."""

import datetime as dt
from typing import Literal

from assayer_client.points import Citation, Label, Point, Score
from assayer_client.resources import Absent, PaperId, Record, RecordOrAbsent, Resource

FitLevel = Literal["good", "partial", "poor"]
"""Degree to which the corpus covers the field of an idea."""
FlagKind = Literal["hidden_text", "bidi_text", "homoglyphs", "suspected_injection", "label_lookalike"]
MaskedKind = Literal[
    "name", "role", "affiliation", "email", "orcid", "contact", "funding", "acknowledgement", "biography"
]
Operation = Literal[
    "search",
    "snippets",
    "neighbours",
    "references",
    "own_references",
    "citations",
    "papers",
    "retractions",
    "open_access",
    "full_texts",
    "web",
    "code",
    "datasets",
]
"""Operation of a literature source."""
SpanKind = Literal["wait", "stage", "call"]
"""Kind of a span. `wait`: in the queue; `stage`: a step of the method; `call`: an LLM request with its answer."""
SpanOutcome = Literal["succeeded", "cached", "failed", "open"]
"""Outcome of a span. `cached`: answered from the cache, so nothing was sent; `open`: not finished when the timeline was
made."""


class TextFlag(Resource):
    """Suspicious content found by the sanitiser, which removes it if it is invisible."""

    kind: FlagKind
    excerpt: str
    """Excerpt of at most 160 characters around the suspicious text."""
    offset: int
    """Offset in characters from the start of the sanitised text."""


class MaskedText(Resource):
    """Text masked before the idea is judged, so that no language model or embedding model sees it."""

    kind: MaskedKind
    text: str
    """Text as it appeared in the idea, on one line."""
    times: int = 1


class Blinding(Resource):
    """Record that an idea was judged blind, and of the masked texts. If `masked` is empty, the rules found nothing to
    mask."""

    rules: int
    """Version of the masking rules."""
    masked: tuple[MaskedText, ...] = ()
    """Masked texts in order of first occurrence."""
    names_may_remain: bool = False
    """Whether no name was found to mask, or the masked text still has words that look like the name of a person whom
    it does not cite."""
    asked_model: bool = False
    """Whether a language model was also asked for names that the rules missed."""


class Summary(Resource):
    """Summary with at most three points of each kind, most important first."""

    strengths: tuple[Point, ...]
    weaknesses: tuple[Point, ...]
    suggestions: tuple[Point, ...]


class Reading(Resource):
    """Reading of one paper with respect to one method or dimension."""

    label: Label
    stance: Literal[-1, 0, 1] | None
    """Stance of the paper. Contribution: −1 the paper already has it, 0 comparable, +1 the idea goes beyond it, None
    the paper's text does not address it. Soundness: −1 evidence against the method, 0 neutral, +1 evidence for it."""
    text: str
    quote: Citation | None = None
    numbers_not_found: tuple[str, ...] = ()
    """Numbers in the reading's text that occur neither in the shown text of the cited papers nor in the idea, as for a
    point."""


class Assessment(Resource):
    """Assessment of one method, or of one dimension of contribution."""

    name: str
    statement: str
    score: Score | Absent
    points: tuple[Point, ...]
    readings: tuple[Reading, ...]


class Part(Resource):
    """Module of a method's report, such as soundness or contribution."""

    name: str
    title: str
    score: Score | Absent
    summary: Summary | Absent
    assessments: tuple[Assessment, ...]


class Retraction(Resource):
    """Notice that a paper is retracted, withdrawn or under an expression of concern."""

    kind: Literal["retracted", "withdrawn", "concern"]
    source: str
    """Source of the notice, for example `crossref`, `arxiv` or `openalex`."""
    notice: str = ""
    """URL or DOI of the notice, from the source's own record."""
    date: dt.date | None = None


class FieldOrigin(Resource):
    """Source of a field in a merged record."""

    field: str
    source: str


class Reference(Resource):
    """Cited paper; every field comes from the service's own records."""

    label: Label
    id: PaperId
    title: str
    authors: tuple[str, ...]
    publication_date: dt.date | None
    venue: str
    url: str
    source: str
    retraction: Retraction | None = None
    """Retraction notice, shown wherever the paper is cited."""
    origins: tuple[FieldOrigin, ...] = ()
    """Fields that came from a source other than `source`."""
    other_records: tuple[str, ...] = ()
    """Other records of the same work, each with kind, venue, year and id; they are counted as one work."""


class CorpusFit(Resource):
    """Coverage of the idea's field by the corpus. If coverage is poor, an empty search result means nothing."""

    level: FitLevel
    value: float
    """Value from which the level is derived; higher means better coverage."""
    criterion: str
    """Quantity that `value` measures, and the two thresholds, in words."""


class SourceUse(Resource):
    """Use of a literature source."""

    source: str
    operation: Operation
    requests: int
    """Number of requests to the source, including those answered from the shared cache."""
    results: int
    cached: int = 0
    """Number of these requests that were answered from the shared cache."""


class TaskTokens(Resource):
    """Tokens of the calls of one task that this execution sent."""

    task: str
    calls: int
    prompt_tokens: int
    cached_prompt_tokens: int
    """Part of the prompt tokens that came from the endpoint's prompt cache, as far as the endpoint reports it."""
    completion_tokens: int


class RunUsage(Resource):
    """Resources used by one execution. Unlike the rest of a report, these values differ from run to run."""

    started_at: dt.datetime
    wall_seconds: float
    llm_calls_paid: int
    llm_calls_cached: int
    paid_usd: float | Absent
    tokens: tuple[TaskTokens, ...] = ()
    """Tokens by task, those with the most prompt tokens first."""


class Report(Resource):
    """Report of an evaluation. `[P3]` in any text is the label of an entry in `references`.

    A `Record` has the fields of the JSON schema in `docs/report.schema.json`."""

    schema_version: int = 1
    evaluation_id: str
    method: str
    idea: Record
    cutoff: dt.date | None
    release: Record | None = None
    """State of the total score: whether the report has one, and the minima that decide it."""
    notices: tuple[Record, ...]
    summary: Summary
    parts: tuple[Part, ...]
    verdict: RecordOrAbsent | None = None
    """Verdict based on a graph of labelled ideas; None if the method gives no such verdict."""
    board: Record | None = None
    """Board of reviewers, whose assessments are in the parts; None if the method has no board."""
    graph: Record | None = None
    """Graph of the literature, as built step by step by the method; None if the method builds none."""
    references: tuple[Reference, ...]
    own_references: RecordOrAbsent | None = None
    """References listed in the idea itself, with findings on each; None if it lists none, or if the method reads no
    literature."""
    plan_review: Record | None = None
    """Review of the plan without literature; None if the method does not request one."""
    panel_review: Record | None = None
    """Review written by a panel; None if there is none. Summary and parts then repeat its points in machine-readable
    form."""
    evidence: Record | None = None
    """Evidence without any judgement, if the report was made without a language model."""
    coverage: Record
    """Counts of what was searched, found, read and dropped: `corpus_fit`, `papers_read`, `sources`, `faults`, …"""
    provenance: Record
    """Inputs of this report: models, prompts, corpus. Reports with the same inputs have the same provenance."""
    usage: RunUsage
    """Usage of this execution only."""


class Span(Resource):
    """Named time span."""

    name: str
    """Name of the stage or task."""
    kind: SpanKind
    start: dt.datetime
    end: dt.datetime
    outcome: SpanOutcome = "succeeded"
    detail: str = ""
    """Details for readers: the model and its tokens, or the error."""


class Timeline(Resource):
    """Timeline of an evaluation, with all known spans in order of start."""

    id: str
    title: str
    state: str
    start: dt.datetime
    end: dt.datetime
    """Time of the last known event; the current time while the evaluation is running."""
    spans: tuple[Span, ...]
