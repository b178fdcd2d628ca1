"""What evaluations come to, and the words that people read for it: on pages, in PDFs, in the terminal."""

from typing import Literal, get_args

from orchestrator.jobs.models import JobState

__all__ = ["OUTCOMES", "OUTCOMES_IN_WORDS", "STATES_IN_WORDS", "EvaluationOutcome", "not_covered_in_words"]

EvaluationOutcome = Literal["full", "part", "unscored", "running", "queued", "failed", "cancelled"]
"""full, part: scored so; unscored: it has a report without a score, which is not a low score."""
OUTCOMES: tuple[EvaluationOutcome, ...] = get_args(EvaluationOutcome)
OUTCOMES_IN_WORDS: dict[EvaluationOutcome, str] = {
    "full": "scored in full",
    "part": "scored in part",
    "unscored": "no score",
    "running": "under way",
    "queued": "waiting",
    "failed": "failed",
    "cancelled": "cancelled",
}
STATES_IN_WORDS: dict[JobState, str] = {
    "queued": "waiting",
    "running": "under way",
    "done": "done",
    "failed": "failed",
    "dead": "given up",
    "cancelled": "cancelled",
}


def not_covered_in_words(proposals: int) -> str:
    """Of proposals whose field the corpus covers poorly; a sentence without its full stop."""
    return f"The corpus does not cover the field of {'1 proposal' if proposals == 1 else f'{proposals:,} proposals'}"
