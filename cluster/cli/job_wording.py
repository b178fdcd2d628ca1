"""How commands say in words what has become of an evaluation."""

from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assayer_client.evaluations import EvaluationScores
    from orchestrator.jobs.models import JobState

__all__ = ["scores_in_words", "state_in_words"]


def state_in_words(state: "JobState") -> str:
    from orchestrator.jobs.outcome_wording import STATES_IN_WORDS

    return STATES_IN_WORDS[state]


def scores_in_words(scores: "EvaluationScores") -> str:
    """`63 of 100, low certainty`; or that there is no score, and why."""
    if scores.score is None:
        return f"No score: {(scores.reason or 'the report gives no reason').rstrip('.')}"
    certainty = f", {scores.certainty} certainty" if scores.certainty else ""
    return f"Score {scores.score:.0f} of 100{certainty}{'' if scores.complete else ', scored in part'}"
