"""Results of comparisons and rankings. Other results are stored elsewhere: an evaluation's report with its run, and the
outcomes of a job with many items in one row per item."""

from collections.abc import Sequence
from typing import Literal

from assayer.models import Frozen, IdeaId
from assayer_client.comparisons import Comparison, Outcome, Winner
from assayer_client.rankings import Ranking

_OPPOSITE_WINNERS: dict[Winner, Winner] = {"first": "second", "second": "first", "tie": "tie"}


class RankingResult(Frozen):
    kind: Literal["ranking"] = "ranking"
    ranking: Ranking
    comparisons: tuple[Comparison, ...]
    """All comparisons on which the ranking is based, including those submitted with the request."""


def compute_outcomes(first: IdeaId, comparisons: Sequence[Comparison]) -> tuple[Outcome, ...]:
    """Return an outcome for each dimension, relative to the idea `first`. `comparisons` contains one comparison, or one
    for each order of the ideas; if these disagree, the outcome is a tie."""
    winners_by_dimension: dict[str, list[Winner]] = {}
    for comparison in comparisons:
        for verdict in comparison.verdicts:
            winner = verdict.winner if comparison.first == first else _OPPOSITE_WINNERS[verdict.winner]
            winners_by_dimension.setdefault(verdict.dimension, []).append(winner)
    return tuple(
        Outcome(
            dimension=dimension,
            winner=winners[0] if len(set(winners)) == 1 else "tie",
            orders_agree=len(set(winners)) == 1 if len(winners) > 1 else None,
        )
        for dimension, winners in winners_by_dimension.items()
    )
