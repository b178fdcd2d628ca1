"""Comparison of a paper with an idea along one dimension: how the paper reduces the idea's novelty, and the evidence
for this."""

from collections.abc import Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from assayer.citing.claim_quotes import GivenQuote, Side
from assayer.citing.evidence import Evidence, Quoted, check_quote
from assayer.citing.labels import plain
from assayer.methods.points import reading_of, verified_words
from assayer.methods.scholareval.schemas import ComparedPaper, NoveltyStanding, NoveltyVerdict
from assayer.models import PaperId, Reading

_STANCE: dict[NoveltyStanding, Literal[-1, 0, 1]] = {"paper_has_it": -1, "paper_has_part": 0, "idea_goes_further": 1}
_SIDE: dict[NoveltyStanding, Side] = {
    "paper_has_it": "against",
    "paper_has_part": "against",
    "idea_goes_further": "for",
}


@dataclass(frozen=True)
class PaperComparison:
    """Comparison of a paper with the idea along a dimension that it touches."""

    shown: Evidence
    """Paper as shown in the prompt."""
    standing: NoveltyStanding
    """Whether the paper has all or part of what the idea claims as new, or the idea goes further."""
    reason: str
    quoted: Quoted | None

    @classmethod
    def of(cls, evidence: Evidence, verdict: NoveltyVerdict) -> "PaperComparison":
        return cls(evidence, verdict.verdict, verdict.reason, check_quote(verdict.quote, evidence))

    @property
    def paper(self) -> PaperId:
        return self.shown.paper_id

    def reading(self, idea: Set[Decimal]) -> Reading:
        """Return the reading for the report. `idea` holds the numbers in the idea itself."""
        return reading_of(self.shown, _STANCE[self.standing], plain(self.reason), self.quoted, idea)

    def for_synthesis(self, label: str) -> ComparedPaper:
        """Return the comparison as shown to the reviewer of the dimension."""
        return ComparedPaper(
            label=label,
            title=self.shown.title,
            year=self.shown.year,
            verdict=self.standing,
            reason=plain(self.reason),
            quote=verified_words(self.quoted),
        )

    def given_quote(self) -> GivenQuote:
        """Return the quote that the reviewer is allowed to use, with the statement that it supports."""
        return GivenQuote(paper=self.paper, side=_SIDE[self.standing], statement=self.reason, quoted=self.quoted)
