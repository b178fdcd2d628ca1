"""The report: what every method's judgement looks like to a reader."""

import datetime as dt
from typing import Literal, NewType

from pydantic import Field

from assayer.models.base import Absent, Frozen
from assayer.models.board import BoardRecord
from assayer.models.coverage import Coverage
from assayer.models.idea import IdeaId, TextFlag
from assayer.models.money import Dollars
from assayer.models.paper import FieldOrigin, PaperId, Retraction
from assayer.models.points import Citation, Label, Point, Score
from assayer.models.verdict import Verdict

EvaluationId = NewType("EvaluationId", str)
REPORT_SCHEMA_VERSION: Literal[1] = 1


class Reading(Frozen):
    """What one paper says about one method or dimension."""

    label: Label
    stance: Literal[-1, 0, 1] | None
    """Contribution: −1 the paper already has it, 0 comparable, +1 the idea goes beyond, None the paper's text
    does not touch it. Soundness: −1 speaks against the method, 0 neutral, +1 speaks for it."""
    text: str
    quote: Citation | None = None


class Assessment(Frozen):
    """The judgement of one method or one dimension of contribution."""

    name: str
    statement: str
    score: Score | Absent
    points: tuple[Point, ...]
    readings: tuple[Reading, ...]


class Summary(Frozen):
    """At most three of each, the most important first."""

    strengths: tuple[Point, ...]
    weaknesses: tuple[Point, ...]
    suggestions: tuple[Point, ...]


class Part(Frozen):
    """One module of a method: soundness, contribution, …"""

    name: str
    title: str
    score: Score | Absent
    summary: Summary | Absent
    assessments: tuple[Assessment, ...]


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
        "injection",
        "absent_part",
        "own_paper",
        "long_idea",
        "weak_signal",
        "other_viewpoints",
    ]
    text: str


class PromptVersion(Frozen):
    task: str
    version: int


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


class Usage(Frozen):
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


class Report(Frozen):
    """A full evaluation. `[P3]` in any text is the label of one of `references`."""

    schema_version: Literal[1] = REPORT_SCHEMA_VERSION
    evaluation_id: EvaluationId
    method: str
    idea: IdeaCard
    cutoff: dt.date | None
    notices: tuple[Notice, ...]
    summary: Summary
    parts: tuple[Part, ...]
    verdict: Verdict | Absent | None = None
    """Of a graph of labelled ideas; None where the method has no such verdict to give."""
    board: BoardRecord | None = None
    """Of the reviewers whose assessments the parts hold; None where the method has no board."""
    references: tuple[Reference, ...]
    coverage: Coverage
    provenance: Provenance
    usage: Usage = Field(description="Of this execution only; excluded when two reports are compared.")
