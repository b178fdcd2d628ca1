"""What judges said of two proposals, for a page: who is better in which respect, and what the order did to it."""

from collections.abc import Iterable, Mapping
from typing import NamedTuple

from assayer.models.idea import IdeaId
from assayer.models.ranking import Comparison
from orchestrator.jobs.results import outcomes_of
from orchestrator.store.pair_verdicts import SourcedComparison

__all__ = ["JudgedPair", "JudgedRespect", "judged_pairs"]


class JudgedRespect(NamedTuple):
    dimension: str
    better: str | None
    """The title of the better one; None for neither."""
    order: str
    """What asking in both orders showed."""
    reasons: tuple[str, ...]


class JudgedPair(NamedTuple):
    titles: tuple[str, str]
    job: str
    kind: str
    subject: str
    respects: tuple[JudgedRespect, ...]


def judged_pairs(found: Iterable[SourcedComparison], titles: Mapping[IdeaId, str]) -> list[JudgedPair]:
    """`titles` by idea. One for each two ideas and each comparison or ranking."""
    answers: dict[tuple[str, frozenset[str]], list[SourcedComparison]] = {}
    for one in found:
        answers.setdefault((one.job, frozenset((one.answer.first, one.answer.second))), []).append(one)
    return [
        _pair(given, titles) for given in answers.values() if len({given[0].answer.first, given[0].answer.second}) > 1
    ]


def _pair(given: list[SourcedComparison], titles: Mapping[IdeaId, str]) -> JudgedPair:
    first, second = given[0].answer.first, given[0].answer.second
    said = [one.answer for one in given]
    named = {"first": titles[first], "second": titles[second]}
    respects = tuple(
        JudgedRespect(
            dimension=one.dimension,
            better=named.get(one.winner),
            order=_order(one.agreed),
            reasons=tuple(_reasons(said, one.dimension, first)),
        )
        for one in outcomes_of(first, said)
    )
    return JudgedPair((titles[first], titles[second]), given[0].job, given[0].kind, given[0].subject, respects)


def _order(agreed: bool | None) -> str:
    match agreed:
        case None:
            return "asked in one order only"
        case True:
            return "the same in both orders"
        case False:
            return "changed sides with the order"


def _reasons(answers: Iterable[Comparison], dimension: str, first: IdeaId) -> Iterable[str]:
    for answer in answers:
        for verdict in answer.verdicts:
            if verdict.dimension == dimension and verdict.reason:
                yield verdict.reason if answer.first == first else f"In the other order: {verdict.reason}"
