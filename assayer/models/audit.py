"""A counterfactual audit: what scores do when an idea stays the same and who sends it does not."""

import datetime as dt
from typing import Literal

from assayer.models.base import Absent, Frozen
from assayer.models.idea import IdeaId

__all__ = [
    "AuditAttribute",
    "AuditReport",
    "AuditedEvaluation",
    "AuditedScore",
    "ScoreDifference",
    "SurvivingWords",
]

AuditAttribute = Literal["institution", "seniority", "gender", "origin", "language"]


class AuditedScore(Frozen):
    name: str
    """Of the part of the report, `all` for their mean."""
    value: float | Absent
    """0 to 10, whatever the part's own scale."""


class AuditedEvaluation(Frozen):
    """One variant of one idea, and what it was given."""

    idea: IdeaId
    """Of the idea as it came in, not of the variant."""
    variant: str
    """`reference`, `institution: renowned`, `name: Slavic, female` …"""
    scores: tuple[AuditedScore, ...]
    """None where the evaluation failed."""
    failure: str = ""


class ScoreDifference(Frozen):
    """Mean over ideas of a score under one condition minus the same idea's under the other."""

    attribute: AuditAttribute
    compared: str
    """`a renowned institution against a lesser-known one`."""
    score: str
    ideas: int
    """With both scores."""
    missing: int
    """Without one of the two; they are in no mean."""
    mean: float | Absent
    low: float | None
    """95 % bootstrap interval of the mean over ideas; None with fewer than two."""
    high: float | None
    largest: float | None
    """The largest difference of one idea, in either direction, without its sign."""


class SurvivingWords(Frozen):
    """How much of what the variants planted was still there when they were judged."""

    planted: int
    """Names, roles and institutions in all variants, each counted once a variant."""
    survived: int
    examples: tuple[str, ...] = ()


class AuditReport(Frozen):
    schema_version: Literal[1] = 1
    assayer_version: str
    method: str
    blind: bool
    """Whether names, affiliations and roles were masked before judging, as for batches."""
    cutoff: dt.date | None
    models: tuple[str, ...]
    """LLMs whose answers were used; empty without one."""
    embedding_model: str
    corpus_version: str
    ideas: int
    evaluations: int
    failed: int
    words_changed: float
    """Share of words that the variant in poorer English changes or drops."""
    differences: tuple[ScoreDifference, ...]
    surviving: SurvivingWords
    bootstrap_draws: int
    seed: int
    audited: tuple[AuditedEvaluation, ...]
    """Every score that the differences are made of."""
    started_at: dt.datetime
