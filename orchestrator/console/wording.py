"""The words that pages and PDFs of the console have in common."""

from orchestrator.store.call_tables import EvaluationOutcome

__all__ = ["OUTCOMES_IN_WORDS"]

OUTCOMES_IN_WORDS: dict[EvaluationOutcome, str] = {
    "full": "scored in full",
    "part": "scored in part",
    "unscored": "no score",
    "running": "under way",
    "queued": "waiting",
    "failed": "failed",
    "cancelled": "cancelled",
}
