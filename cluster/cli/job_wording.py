"""How commands say in words what has become of an evaluation."""

from collections.abc import Iterable
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from assayer_client.evaluations import EvaluationScores

__all__ = ["counts_in_words", "score_in_words", "standing_in_words", "state_in_words"]


def state_in_words(state: str) -> str:
    """A state that a newer service has is told as it came."""
    from orchestrator.jobs.outcome_wording import STATES_IN_WORDS

    return {str(known): words for known, words in STATES_IN_WORDS.items()}.get(state, state)


def counts_in_words(counts: Iterable[tuple[str, int]]) -> list[str]:
    """`146 done`, `12 under way`, …: in the same order whenever it is told."""
    from orchestrator.jobs.outcome_wording import STATES_IN_WORDS

    order = [str(state) for state in dict.fromkeys(("done", "running", "queued", *STATES_IN_WORDS))]
    known = sorted(counts, key=lambda one: order.index(one[0]) if one[0] in order else len(order))
    return [f"{count:,} {state_in_words(state)}" for state, count in known]


def standing_in_words(state: str) -> str:
    """As the end of a sentence: `has failed`."""
    ends = {"failed": "has failed", "dead": "was given up", "cancelled": "was cancelled"}
    return ends.get(state) or f"is {state_in_words(state)}"


def score_in_words(scores: "EvaluationScores") -> str:
    """`63 of 100, low certainty`."""
    if scores.score is None:
        return "none"
    certainty = f", {scores.certainty} certainty" if scores.certainty else ""
    return f"{scores.score:.0f} of 100{certainty}{'' if scores.complete else ', in part'}"
