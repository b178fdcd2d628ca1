"""Comparisons of two proposals, as shown on a page: which is better on each dimension, and whether the order in which
they were shown to the judge mattered."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from assayer.models import IdeaId
from assayer_client.comparisons import Comparison
from orchestrator.jobs.results import compute_outcomes
from orchestrator.store.pair_verdicts import SourcedComparison


class DimensionVerdict(NamedTuple):
    dimension: str
    better: str | None
    """Title of the better proposal; None if neither is better."""
    order: str
    """A phrase that states whether the judge was asked in both orders, and whether its verdicts agree."""
    reasons: tuple[str, ...]


class JudgedPair(NamedTuple):
    titles: tuple[str, str]
    job: str
    kind: str
    subject: str
    verdicts: tuple[DimensionVerdict, ...]


def group_judged_pairs(comparisons: Iterable[SourcedComparison], titles: Mapping[IdeaId, str]) -> list[JudgedPair]:
    """Group comparisons by job (a comparison or a ranking) and by pair of ideas. `titles` holds the ideas' titles."""
    comparisons_by_pair: dict[tuple[str, frozenset[str]], list[SourcedComparison]] = {}
    for comparison in comparisons:
        comparisons_by_pair.setdefault(
            (comparison.job, frozenset((comparison.answer.first, comparison.answer.second))), []
        ).append(comparison)
    return [
        _build_pair(pair_comparisons, titles)
        for pair_comparisons in comparisons_by_pair.values()
        if len({pair_comparisons[0].answer.first, pair_comparisons[0].answer.second}) > 1
    ]


def _build_pair(comparisons: list[SourcedComparison], titles: Mapping[IdeaId, str]) -> JudgedPair:
    first_id, second_id = comparisons[0].answer.first, comparisons[0].answer.second
    answers = [comparison.answer for comparison in comparisons]
    title_of = {"first": titles[first_id], "second": titles[second_id]}
    verdicts = tuple(
        DimensionVerdict(
            dimension=outcome.dimension,
            better=title_of.get(outcome.winner),
            order=_describe_order(outcome.orders_agree),
            reasons=tuple(_list_reasons(answers, outcome.dimension, first_id)),
        )
        for outcome in compute_outcomes(first_id, answers)
    )
    return JudgedPair(
        (titles[first_id], titles[second_id]), comparisons[0].job, comparisons[0].kind, comparisons[0].subject, verdicts
    )


def _describe_order(orders_agree: bool | None) -> str:
    match orders_agree:
        case None:
            return "asked in one order only"
        case True:
            return "the same in both orders"
        case False:
            return "different in each order"


def _list_reasons(answers: Iterable[Comparison], dimension: str, first_id: IdeaId) -> Iterable[str]:
    for answer in answers:
        for verdict in answer.verdicts:
            if verdict.dimension == dimension and verdict.reason:
                yield verdict.reason if answer.first == first_id else f"In the other order: {verdict.reason}"
