"""Convert the claims in a model's answer to report points, with the quotes that belong to them. Used by ScholarEval,
InnoEval and SciCompanion."""

from collections.abc import Iterable, Mapping, Sequence, Set
from dataclasses import dataclass
from decimal import Decimal
from functools import cached_property
from typing import Literal, Protocol

from assayer.citing.claim_numbers import KnownNumbers
from assayer.citing.claim_quotes import GivenQuote, PointKind, build_quoted_point
from assayer.citing.evidence import Evidence, Quoted, build_citation
from assayer.citing.labels import build_marker
from assayer.models import PaperId, Point, Reading, Summary


class PointClaim(Protocol):
    @property
    def text(self) -> str: ...


class Judged(Protocol):
    """A model's answer that lists strengths, weaknesses and suggestions."""

    @property
    def strengths(self) -> Sequence[PointClaim]: ...

    @property
    def weaknesses(self) -> Sequence[PointClaim]: ...

    @property
    def suggestions(self) -> Sequence[PointClaim]: ...


@dataclass(frozen=True)
class PointWriter:
    papers: Mapping[str, PaperId]
    """Ids of the papers, keyed by their labels in the prompt."""
    given: Sequence[GivenQuote]
    """Quotes from which each point's quotes are chosen."""
    idea: Set[Decimal]
    """Numbers that occur in the idea itself."""
    shown: Mapping[PaperId, Evidence]
    """The papers' texts as shown in the prompt."""

    @cached_property
    def _numbers(self) -> KnownNumbers:
        return KnownNumbers(self.idea, {paper: item.numbers for paper, item in self.shown.items()})

    def build_points(self, kind: PointKind, claims: Iterable[PointClaim]) -> tuple[Point, ...]:
        return tuple(
            build_quoted_point(kind, claim.text, self.papers, self.given, self._numbers, self.shown) for claim in claims
        )

    def build_summary(self, answer: Judged) -> Summary:
        return Summary(
            strengths=self.build_points("strength", answer.strengths),
            weaknesses=self.build_points("weakness", answer.weaknesses),
            suggestions=self.build_points("suggestion", answer.suggestions),
        )

    def build_all_points(self, answer: Judged) -> tuple[Point, ...]:
        summary = self.build_summary(answer)
        return (*summary.strengths, *summary.weaknesses, *summary.suggestions)


def build_reading(
    evidence: Evidence, stance: Literal[-1, 0, 1], text: str, quote: Quoted | None, idea_numbers: Set[Decimal]
) -> Reading:
    """Build the report's reading of a paper. `idea_numbers` holds the numbers that occur in the idea itself."""
    paper = evidence.paper_id
    return Reading(
        label=build_marker(paper),
        stance=stance,
        text=text,
        quote=build_citation(paper, quote) if quote else None,
        numbers_not_found=KnownNumbers(idea_numbers, {paper: evidence.numbers}).find_missing(text, [paper]),
    )


def get_verified_words(quote: Quoted | None) -> str:
    """Return the quote's words if it was found in its source, otherwise an empty string."""
    return quote.words if quote is not None and quote.state == "verified" else ""
