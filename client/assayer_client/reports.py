"""An evaluation's report, and the timeline of how it was made."""

import datetime as dt
from typing import Literal

from assayer_client.points import Citation, Label, Point, Score
from assayer_client.resources import Absent, PaperId, Record, RecordOrAbsent, Resource

FitLevel = Literal["good", "partial", "poor"]
"""Degree to which the corpus covers an idea's field."""
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
"""Operation at a literature source."""
SpanKind = Literal["wait", "stage", "call"]
"""Kind of a time span. `wait`: in the queue; `stage`: a step of the method; `call`: an LLM request with its answer."""
SpanOutcome = Literal["succeeded", "cached", "failed", "open"]
"""Outcome of a time span. `cached`: answered from the cache, so nothing was sent; `open`: not finished when the
timeline was made."""


class TextFlag(Resource):
    """Suspicious passage found by the sanitiser, which removes it if it is invisible."""

    kind: FlagKind
    excerpt: str
    """Excerpt around the suspicious text, at most 160 characters long."""
    offset: int
    """Offset in characters from the start of the sanitised text."""


class MaskedText(Resource):
    """Text that was masked before the idea was judged, so that no language model or embedding model sees it."""

    kind: MaskedKind
    text: str
    """The text as it appeared in the idea, on one line."""
    occurrences: int = 1


class Blinding(Resource):
    """Record that an idea was judged blind, with the masked texts. If `masked` is empty, the rules found nothing to
    mask."""

    rules: int
    """Version of the masking rules."""
    masked: tuple[MaskedText, ...] = ()
    """Masked texts, in order of first occurrence."""
    names_may_remain: bool = False
    """Whether the masking may be incomplete: no name was found to mask, or the masked text still contains what looks
    like the name of a person whom it does not cite."""
    checked_by_model: bool = False
    """Whether a language model was also asked for names that the rules missed."""


class Summary(Resource):
    """Summary with at most three points of each kind, most important first."""

    strengths: tuple[Point, ...]
    weaknesses: tuple[Point, ...]
    suggestions: tuple[Point, ...]


class Reading(Resource):
    """Reading of one paper, that is, what it says about one method or dimension."""

    label: Label
    stance: Literal[-1, 0, 1] | None
    """The paper's stance. Contribution: −1 the paper already has it, 0 comparable, +1 the idea goes beyond it, None if
    the paper's text does not address it. Soundness: −1 evidence against the method, 0 neutral, +1 evidence for it."""
    text: str
    quote: Citation | None = None
    numbers_not_found: tuple[str, ...] = ()
    """Numbers in the reading's text that occur neither in the idea nor in the text shown from the cited papers, as for
    a point."""


class Assessment(Resource):
    """Assessment of one method, or of one dimension of contribution."""

    name: str
    statement: str
    score: Score | Absent
    points: tuple[Point, ...]
    readings: tuple[Reading, ...]


class Part(Resource):
    """Part of a report, such as soundness or contribution."""

    name: str
    title: str
    score: Score | Absent
    summary: Summary | Absent
    assessments: tuple[Assessment, ...]


class Retraction(Resource):
    """Notice that a paper is retracted, withdrawn or under an expression of concern."""

    kind: Literal["retracted", "withdrawn", "concern"]
    source: str
    """Where the notice was found, for example `crossref`, `arxiv` or `openalex`."""
    notice: str = ""
    """The notice's URL or DOI, from the source's own record."""
    date: dt.date | None = None


class FieldOrigin(Resource):
    """Source of a field in a merged record."""

    field: str
    source: str


class Reference(Resource):
    """Cited paper. Every field comes from the service's own records."""

    label: Label
    id: PaperId
    title: str
    authors: tuple[str, ...]
    publication_date: dt.date | None
    venue: str
    url: str
    source: str
    retraction: Retraction | None = None
    """Retraction notice, which is shown wherever the paper is cited."""
    origins: tuple[FieldOrigin, ...] = ()
    """Fields that come from a source other than `source`."""
    other_records: tuple[str, ...] = ()
    """Other records of the same work, each with kind, venue, year and id. They are counted as one work."""


class CorpusFit(Resource):
    """Degree to which the corpus covers the idea's field. If coverage is poor, an empty search result means nothing."""

    level: FitLevel
    value: float
    """Value from which the level is derived. Higher means better coverage."""
    criterion: str
    """Quantity that `value` measures, and the two thresholds, in words."""


class SourceUse(Resource):
    """Requests to a literature source."""

    source: str
    operation: Operation
    requests: int
    """Number of requests to the source, including those answered from the shared cache."""
    results: int
    cached: int = 0
    """Number of these requests answered from the shared cache."""


class TaskTokens(Resource):
    """LLM requests that this execution sent for one task, and the tokens that they used."""

    task: str
    llm_requests: int
    prompt_tokens: int
    cached_prompt_tokens: int
    """Number of prompt tokens that came from the endpoint's prompt cache, if the endpoint reports it."""
    completion_tokens: int


class RunUsage(Resource):
    """Resources used by one execution. Unlike the rest of a report, these values differ from run to run."""

    started_at: dt.datetime
    wall_seconds: float
    llm_requests_paid: int
    llm_requests_cached: int
    paid_usd: float | Absent
    tokens: tuple[TaskTokens, ...] = ()
    """Tokens by task, starting with the task that has the most prompt tokens."""


class Report(Resource):
    """Report of an evaluation. `[P3]` in any text is the label of an entry in `references`.

    A `Record` has the fields given in the JSON schema `docs/report.schema.json`."""

    schema_version: int = 1
    evaluation_id: str
    method: str
    idea: Record
    cutoff: dt.date | None
    release: Record | None = None
    """State of the total score: whether the report has one, and the minimum requirements that decide it."""
    notices: tuple[Record, ...]
    summary: Summary
    parts: tuple[Part, ...]
    verdict: RecordOrAbsent | None = None
    """Verdict based on a graph of labelled ideas; None if the method gives none."""
    board: Record | None = None
    """Board of reviewers, whose assessments are in the parts; None if the method has no board."""
    graph: Record | None = None
    """Literature graph that the method built step by step; None if it builds none."""
    references: tuple[Reference, ...]
    own_references: RecordOrAbsent | None = None
    """References listed in the idea itself, with findings about each; None if it lists none, or if the method reads no
    literature."""
    plan_review: Record | None = None
    """Review of the plan without literature; None if the method does not request one."""
    panel_review: Record | None = None
    """Review written by a panel; None if there is none. Summary and parts then repeat its points in machine-readable
    form."""
    evidence: Record | None = None
    """Evidence without a judgement, if the report was made without a language model."""
    coverage: Record
    """Numbers of items searched, found, read and dropped: `corpus_fit`, `papers_read`, `sources`, `faults`, …"""
    provenance: Record
    """Inputs to this report: models, prompts, corpus. Reports with the same inputs have the same provenance."""
    usage: RunUsage
    """Usage by this execution only."""


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
    """An evaluation's timeline, with all known time spans, ordered by start."""

    id: str
    title: str
    state: str
    start: dt.datetime
    end: dt.datetime
    """Time of the last known event or, while the evaluation is running, the current time."""
    spans: tuple[Span, ...]
