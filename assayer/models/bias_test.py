"""Results of a bias test: how scores change if an idea stays the same but details about its sender vary."""

import datetime as dt
from typing import Literal

from assayer.models.base import Frozen
from assayer_client.resources import Absent, IdeaId

BiasTestAttribute = Literal["institution", "seniority", "gender", "origin", "language", "persuasion"]
"""Attributes that a bias test can vary, in report order."""

SCORE_ROUNDING = 0.0005
"""Score differences smaller than this many points are displayed as 0.000."""


class BiasTestScore(Frozen):
    name: str
    """Title of the report part; `all` for the mean of all parts."""
    value: float | Absent
    """Score from 0 to 10, whatever the part's own scale."""


class BiasTestEvaluation(Frozen):
    """One variant of one idea, and the scores it received."""

    idea: IdeaId
    """Id of the original idea, not of the variant."""
    variant: str
    """Name of the variant: `reference`, `institution: renowned`, `name: Slavic, female`, `reference, evaluation 2` …"""
    scores: tuple[BiasTestScore, ...]
    """Scores of the variant; empty if the evaluation failed."""
    failure: str = ""


class MeanInterval(Frozen):
    """95 % confidence interval of a mean over ideas."""

    low: float
    high: float


class ScoreDifference(Frozen):
    """Mean difference between two versions' scores for the same idea: the score of the version named first minus that
    of the version named second, averaged over ideas."""

    attribute: BiasTestAttribute
    comparison: str
    """Comparison in words: `a renowned institution against a lesser-known one`."""
    score: str
    ideas: int
    """Number of ideas with both scores."""
    missing: int
    """Number of ideas that lack one of the two scores; they are excluded from the mean."""
    mean: float | Absent
    """Mean difference, in points on the scale of 0 to 10; positive if the version named first scored higher."""
    interval: MeanInterval | Absent
    """Student's t interval over ideas; absent if there are too few ideas or all differences are equal."""
    largest: float | None
    """Largest absolute difference for a single idea."""


class ScoreChanges(Frozen):
    """Changes in single scores relative to the same idea's reference. Signed changes are never averaged, so they do not
    cancel out."""

    compared_pairs: int
    """Number of pairs in which both evaluations have the score."""
    changed_pairs: int
    """Number of compared pairs that differ by SCORE_ROUNDING or more."""
    scores_gained: int
    """Number of scores that the reference lacks."""
    scores_lost: int
    """Number of scores that only the reference has."""
    failed_evaluations: int
    """Number of evaluations that could not be compared because they or their references have no report."""
    largest_change: float | Absent
    """Largest absolute change, in points on the scale of 0 to 10."""
    mean_change: float | Absent
    """Mean absolute change, including changes of 0."""
    widest_range: float | Absent
    """Widest range of one score for one idea, over its variants and its reference. Two variants can differ more from
    each other than from the reference."""


class InsertedWords(Frozen):
    """Counts of inserted names, roles and institutions, and of those that blind mode did not mask."""

    inserted: int
    """Number of names, roles and institutions inserted into all variants, each counted once per variant."""
    unmasked: int
    examples: tuple[str, ...] = ()


class BiasTestReport(Frozen):
    schema_version: Literal[1] = 1
    assayer_version: str
    method: str
    blind: bool
    """True if names, affiliations and roles were masked before judging, as for batches."""
    attributes: tuple[BiasTestAttribute, ...]
    """Attributes that were varied."""
    cutoff: dt.date | None
    models: tuple[str, ...]
    """LLMs whose answers were used; empty if none was used."""
    embedding_models: tuple[str, ...]
    corpus_versions: tuple[str, ...]
    """Corpus versions that were used. If there are several, the corpus changed during the bias test, which may have
    caused differences."""
    ideas: int
    evaluations: int
    failed: int
    words_changed: float | Absent
    """Share of words that the poorer-English variant changes or drops."""
    differences: tuple[ScoreDifference, ...]
    sender_changes: ScoreChanges | Absent
    """Score changes caused by the attributes that blind mode masks: all varied attributes except language."""
    repetition_changes: ScoreChanges | Absent
    """Score changes when the reference is evaluated again. Other changes that are no larger may be due to chance."""
    inserted_words: InsertedWords
    results: tuple[BiasTestEvaluation, ...]
    """All evaluations from which the differences are computed."""
    started_at: dt.datetime
