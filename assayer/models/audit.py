"""A counterfactual audit: what scores do when an idea stays the same and who sends it does not."""

import datetime as dt
from typing import Literal

from assayer.models.base import Absent, Frozen
from assayer.models.idea import IdeaId

__all__ = [
    "SCORE_ROUNDING",
    "AuditAttribute",
    "AuditReport",
    "AuditedEvaluation",
    "AuditedScore",
    "MeanInterval",
    "ScoreChanges",
    "ScoreDifference",
    "SurvivingWords",
]

AuditAttribute = Literal["institution", "seniority", "gender", "origin", "language"]
"""In the order in which they are read."""

SCORE_ROUNDING = 0.0005
"""Points; a difference of less is 0.000 as it is printed."""


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
    """`reference`, `institution: renowned`, `name: Slavic, female`, `reference, evaluation 2` …"""
    scores: tuple[AuditedScore, ...]
    """Empty where the evaluation failed."""
    failure: str = ""


class MeanInterval(Frozen):
    """95 % interval of a mean over ideas."""

    low: float
    high: float


class ScoreDifference(Frozen):
    """Mean over ideas of a score of the version named first, minus the same idea's in the version named second."""

    attribute: AuditAttribute
    compared: str
    """`a renowned institution against a lesser-known one`."""
    score: str
    ideas: int
    """With both scores."""
    missing: int
    """Without one of the two; they are in no mean."""
    mean: float | Absent
    """Points of 10: positive where the version named first scored higher."""
    interval: MeanInterval | Absent
    """Student's t over ideas; absent where they are too few, or all differ by the same."""
    largest: float | None
    """The largest difference of one idea, in either direction, without its sign."""


class ScoreChanges(Frozen):
    """Single scores held against those of the same idea's reference: nothing is averaged, so nothing cancels."""

    compared: int
    """Pairs in which both have the score."""
    changed: int
    """Of them, those that differ by SCORE_ROUNDING or more."""
    gained: int
    """Scores that the reference lacks."""
    lost: int
    """Scores that only the reference has."""
    failed: int
    """Evaluations without a report, and those whose reference has none: nothing of them was compared."""
    largest: float | Absent
    """Points of 10, without its sign."""
    mean: float | Absent
    """Of the changes without their signs, those of 0 among them."""
    widest: float | Absent
    """The widest range of one score of one idea, its reference included: two others may be further apart than either
    is from the reference."""


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
    attributes: tuple[AuditAttribute, ...]
    """What was varied."""
    cutoff: dt.date | None
    models: tuple[str, ...]
    """LLMs whose answers were used; empty without one."""
    embedding_models: tuple[str, ...]
    corpus_versions: tuple[str, ...]
    """More than one: the corpus changed during the audit, and differences may be its own."""
    ideas: int
    evaluations: int
    failed: int
    words_changed: float | Absent
    """Share of words that the variant in poorer English changes or drops."""
    differences: tuple[ScoreDifference, ...]
    by_sender: ScoreChanges | Absent
    """Changes by what blind mode masks: all that was varied but the language."""
    by_repeating: ScoreChanges | Absent
    """Changes of the reference when it is evaluated again: what is no more than this may be chance."""
    surviving: SurvivingWords
    audited: tuple[AuditedEvaluation, ...]
    """Every score that the differences are made of."""
    started_at: dt.datetime
