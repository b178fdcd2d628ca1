"""Outcomes of evaluations, and their wording on pages, in PDFs and in the terminal."""

from typing import Literal, get_args

EvaluationOutcome = Literal["full", "part", "unscored", "running", "queued", "failed", "cancelled"]
"""Outcome of an evaluation. full, part: scored in full or in part; unscored: the report has no score, which is not a
low score."""
OUTCOMES: tuple[EvaluationOutcome, ...] = get_args(EvaluationOutcome)
OUTCOMES_IN_WORDS: dict[EvaluationOutcome, str] = {
    "full": "scored in full",
    "part": "scored in part",
    "unscored": "no score",
    "running": "running",
    "queued": "queued",
    "failed": "failed",
    "cancelled": "cancelled",
}


def describe_poor_coverage(proposals: int) -> str:
    """Return a sentence, without its full stop, on proposals whose field the corpus covers poorly."""
    return f"The corpus does not cover the field of {'1 proposal' if proposals == 1 else f'{proposals:,} proposals'}"
