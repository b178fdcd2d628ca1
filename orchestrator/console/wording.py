"""The words that pages and PDFs of the console have in common."""

from orchestrator.jobs.models import JobState
from orchestrator.store.call_tables import EvaluationOutcome

__all__ = ["OUTCOMES_IN_WORDS", "STATES_IN_WORDS"]

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
