"""The report: what every method's judgement looks like to a reader."""

import datetime as dt
from typing import Literal, NewType

from pydantic import Field

from assayer.models.assessment import Label, Part, Summary
from assayer.models.base import Absent, Dollars, Frozen
from assayer.models.blinding import Blinding
from assayer.models.board import BoardRecord
from assayer.models.coverage import Coverage
from assayer.models.evidence_graph import GraphRecord
from assayer.models.idea import IdeaId, TextFlag
from assayer.models.own_references import OwnReferences
from assayer.models.paper import FieldOrigin, PaperId, Retraction
from assayer.models.plan_review import PlanReview
from assayer.models.release import ReportRelease
from assayer.models.verdict import Verdict

EvaluationId = NewType("EvaluationId", str)
REPORT_SCHEMA_VERSION: Literal[1] = 1


class Reference(Frozen):
    """A cited paper. Every field comes from our own records."""

    label: Label
    id: PaperId
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


class Notice(Frozen):
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


class PromptVersion(Frozen):
    task: str
    version: int
    """Of its own file."""
    digest: str = ""
    """Of that file with everything it includes and the system message: 16 hex digits, empty in reports of before."""


class Provenance(Frozen):
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
    cost_usd: Dollars | Absent
    """What the answers used cost when they were paid for."""


class RunUsage(Frozen):
    """What this one execution took. Differs from run to run, unlike everything else in the report."""

    started_at: dt.datetime
    wall_seconds: float
    llm_calls_paid: int
    llm_calls_cached: int
    paid_usd: float | Absent


class IdeaCard(Frozen):
    """The idea as the report shows it."""

    id: IdeaId
    title: str
    source: str
    text: str
    flags: tuple[TextFlag, ...]
    blinding: Blinding | None = None
    """What was masked before it was judged; None where it was judged as it came in."""


class Report(Frozen):
    """A full evaluation. `[P3]` in any text is the label of one of `references`."""

    schema_version: Literal[1] = REPORT_SCHEMA_VERSION
    evaluation_id: EvaluationId
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
    usage: RunUsage = Field(description="Of this execution only; excluded when two reports are compared.")
