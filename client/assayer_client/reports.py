"""The report of an evaluation, and the timeline of its making."""

import datetime as dt
from typing import Literal

from assayer_client.literature_graph import GraphRecord
from assayer_client.plan_reviews import PlanReview
from assayer_client.points import Citation, ClaimSupport, Point, Score
from assayer_client.resources import Absent, Dropped, FaultCount, PromptVersion, Resource
from assayer_client.verdicts import BoardRecord, Verdict


class TextFlag(Resource):
    """Something suspicious that the sanitiser found (and, where it was invisible, removed)."""

    kind: str
    excerpt: str
    """At most 160 characters around the place."""
    offset: int
    """Characters from the start of the sanitised text."""


class MaskedText(Resource):
    """Words without which the idea is judged: no language model and no embedding is shown its text with them."""

    kind: Literal["name", "role", "affiliation", "email", "orcid", "contact", "funding", "acknowledgement", "biography"]
    text: str
    times: int = 1


class Blinding(Resource):
    """That an idea was judged blind, and what that hid."""

    rules: int
    masked: tuple[MaskedText, ...] = ()


class IdeaCard(Resource):
    """The idea as the report shows it."""

    id: str
    title: str
    source: str
    text: str
    flags: tuple[TextFlag, ...]
    blinding: Blinding | None = None
    """None where the idea was judged as it came in."""


class Notice(Resource):
    """Something a reader must know before reading on."""

    kind: Literal[
        "no_llm",
        "corpus_fit",
        "budget",
        "retraction",
        "unchecked_retractions",
        "undated_version",
        "injection",
        "absent_part",
        "own_paper",
        "own_references",
        "long_idea",
        "weak_signal",
        "other_viewpoints",
        "repeated_idea",
        "graph",
    ]
    text: str


class MeasuredMinimum(Resource):
    """One minimum, and what the report has of it."""

    name: str
    """`corpus_fit`, `judged`, `answered`, `quotes_found`, `points_traced`, `claims_supported`, or a later one."""
    measured: float | Literal["good", "partial", "poor"] | Absent
    """A share, 0 to 1, or a level of corpus fit; absent where there was nothing to measure."""
    minimum: float | Literal["good", "partial", "poor"]
    met: bool
    basis: str
    """What was counted, in words."""


class ReportRelease(Resource):
    """`incomplete`: below a minimum, so the report carries no total; what it found stands."""

    state: Literal["complete", "incomplete"]
    minima: tuple[MeasuredMinimum, ...]

    @property
    def failed(self) -> tuple[MeasuredMinimum, ...]:
        return tuple(one for one in self.minima if not one.met)


class Summary(Resource):
    """At most three of each, the most important first."""

    strengths: tuple[Point, ...]
    weaknesses: tuple[Point, ...]
    suggestions: tuple[Point, ...]


class Reading(Resource):
    """What one paper says about one method or dimension."""

    label: str
    stance: Literal[-1, 0, 1] | None
    """Contribution: −1 the paper already has it, 0 comparable, +1 the idea goes beyond, None the paper's text
    does not touch it. Soundness: −1 speaks against the method, 0 neutral, +1 speaks for it."""
    text: str
    quote: Citation | None = None
    numbers_not_found: tuple[str, ...] = ()
    """As of a point."""


class Assessment(Resource):
    """The judgement of one method or one dimension of contribution."""

    name: str
    statement: str
    score: Score | Absent
    points: tuple[Point, ...]
    readings: tuple[Reading, ...]


class Part(Resource):
    """One module of a method: soundness, contribution, …"""

    name: str
    title: str
    score: Score | Absent
    summary: Summary | Absent
    assessments: tuple[Assessment, ...]


class Retraction(Resource):
    """A notice that a paper no longer stands as published."""

    kind: Literal["retracted", "withdrawn", "concern"]
    source: str
    """Who said so: `crossref`, `arxiv`, `openalex`, …"""
    notice: str = ""
    """URL or DOI of the notice, from the source's own record."""
    date: dt.date | None = None


class FieldOrigin(Resource):
    """Whose word a field of a merged record is."""

    field: str
    source: str


class Reference(Resource):
    """A cited paper. Every field comes from our own records."""

    label: str
    id: str
    title: str
    authors: tuple[str, ...]
    publication_date: dt.date | None
    venue: str
    url: str
    source: str
    retraction: Retraction | None = None
    """Shown wherever the paper is cited."""
    origins: tuple[FieldOrigin, ...] = ()
    """Fields that another source than `source` gave."""


class ReferenceRecord(Resource):
    """A source's own record of what an idea refers to."""

    id: str
    title: str
    authors: tuple[str, ...]
    publication_date: dt.date | None
    venue: str
    url: str
    source: str


class OwnReference(Resource):
    """One entry of the idea's references."""

    number: int
    """From 1, in the idea's order."""
    text: str
    """The entry as it is given, or put together from its fields where its parser did not keep it."""
    outcome: Literal["found", "differs", "retracted", "not_found"] | Absent
    """`not_found`: the sources asked have no such record; it may exist all the same."""
    differences: tuple[str, ...] = ()
    """What the entry says otherwise than the record, one sentence each."""
    record: ReferenceRecord | None = None
    retraction: Retraction | None = None
    """A mere expression of concern leaves the outcome as it is."""
    retraction_unanswered: tuple[str, ...] = ()
    """Sources that know of retractions, and gave no answer about the record found."""
    after_cutoff: bool = False
    """The record is dated after the cutoff. It is looked for all the same: it is the idea's own."""
    asked: tuple[str, ...] = ()
    """Sources that answered when they were asked for it."""
    unanswered: tuple[str, ...] = ()
    """Sources that were to be asked for it, and gave no answer."""
    passage: str = ""
    """Where the idea refers to it, for the first time; empty where no such place was recognised."""
    borne_out: ClaimSupport | Absent = Absent(reason="not checked.")
    """Whether its abstract bears out that passage. The paper itself may say more than its abstract."""


class OwnReferences(Resource):
    """All of them, in the idea's order."""

    read_by: Literal["grobid", "text"]
    """Who told the entries apart: GROBID in the PDF, or assayer in the idea's text."""
    entries: tuple[OwnReference, ...]
    beyond: int = 0
    """Entries that were not checked, because there were more than are checked of one idea."""


class CorpusFit(Resource):
    """Does the corpus cover the idea's field? Without that, silence of the corpus means nothing."""

    level: Literal["good", "partial", "poor"]
    value: float
    """The number behind the level; higher is better covered."""
    criterion: str
    """What `value` measures and where the two thresholds lie, in words."""


class SourceUse(Resource):
    """How one source of literature was used."""

    source: str
    operation: str
    requests: int
    """Asked of the source, whether the answer then came over the network or from the shared cache."""
    results: int
    cached: int = 0
    """Requests among them that the shared cache answered."""


class SourceTrouble(Resource):
    """Requests to one source that ended without an answer: what they would have found is not in the report."""

    source: str
    operation: str
    reason: str
    """The error's reason in a few words: `a source was down`, `a source's rate budget was spent`, …"""
    requests: int


class ClaimCounts(Resource):
    """Claims that have a verified quote, by what the check of one against the other came to."""

    supported: int
    partly_supported: int
    not_supported: int
    contradicted: int
    unchecked: int
    """The check gave no answer, or the claim says nothing of the paper that could be checked."""


class ModuleDepth(Resource):
    """The measured number of LLM calls that had to wait for each other."""

    module: str
    levels: int


class Coverage(Resource):
    """The report's coverage box."""

    corpus_fit: CorpusFit | Absent
    field_covered: Literal["good", "partial", "poor"] | None = None
    """By the corpus and what searches beyond it found."""
    sources: tuple[SourceUse, ...]
    troubles: tuple[SourceTrouble, ...] = ()
    papers_found: int
    """Distinct papers that any search returned, after the cutoff and the idea's own paper were taken out."""
    papers_read: int
    """Distinct papers whose text reached a prompt or a fallback."""
    papers_cited: int
    full_texts: int
    """Distinct papers read beyond their abstract."""
    quotes_verified: int
    """Quotes of the readings that stand in the text the reader was shown."""
    quotes_unverified: int
    """Quotes of the readings that do not."""
    claims: ClaimCounts | None = None
    """None where no claim has a verified quote, and in reports made before claims were checked."""
    llm_calls: int
    """Answers used, cached ones included."""
    llm_calls_lost: int | None = None
    """Questions that ended without a usable answer."""
    faults: tuple[FaultCount, ...]
    dropped: tuple[Dropped, ...]
    depth: tuple[ModuleDepth, ...]


class Provenance(Resource):
    """What this report was made with. The same inputs give the same provenance."""

    assayer_version: str
    models: tuple[str, ...]
    """LLMs whose answers were used; empty without one."""
    embedding_model: str
    reranking_model: str | None = None
    """None: finds were ranked without one."""
    prompts: tuple[PromptVersion, ...]
    corpus_version: str
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | Absent
    """What the answers used cost when they were paid for."""


class RunUsage(Resource):
    """What this one execution took. Differs from run to run, unlike everything else in the report."""

    started_at: dt.datetime
    wall_seconds: float
    llm_calls_paid: int
    llm_calls_cached: int
    paid_usd: float | Absent


class Report(Resource):
    """A full evaluation. `[P3]` in any text is the label of one of `references`."""

    schema_version: int = 1
    evaluation_id: str
    method: str
    idea: IdeaCard
    cutoff: dt.date | None
    release: ReportRelease | None = None
    """Whether it carries a total, and by which minima; None in reports made before there were any."""
    notices: tuple[Notice, ...]
    summary: Summary
    parts: tuple[Part, ...]
    verdict: Verdict | Absent | None = None
    """Of a graph of labelled ideas; None where the method has no such verdict to give."""
    board: BoardRecord | None = None
    """Of the reviewers whose assessments the parts hold; None where the method has no board."""
    graph: GraphRecord | None = None
    """Of the literature, as the method built it step by step; None where the method builds none."""
    references: tuple[Reference, ...]
    own_references: OwnReferences | Absent | None = None
    """Those that the idea itself gives, and what is known of each; None where it gives none, and where the method reads
    no literature."""
    plan_review: PlanReview | None = None
    """What can be said of the plan without literature; None where the method does not ask, and in reports of before."""
    coverage: Coverage
    provenance: Provenance
    usage: RunUsage
    """Of this execution only."""


class Span(Resource):
    """A stretch of time with a name."""

    name: str
    """Of the stage, or of the task that was asked."""
    kind: str
    start: dt.datetime
    end: dt.datetime
    outcome: str = "done"
    detail: str = ""
    """For people: the model and its tokens, what went wrong."""


class Timeline(Resource):
    """Everything known of when an evaluation did what, in order of start."""

    id: str
    title: str
    state: str
    start: dt.datetime
    end: dt.datetime
    """Of the last thing known: the time of asking while it runs."""
    spans: tuple[Span, ...]
