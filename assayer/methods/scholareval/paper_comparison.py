"""Compare a paper with an idea in one dimension: how the paper reduces the idea's novelty, and the evidence for
that."""

from collections.abc import Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from assayer.citing.claim_quotes import GivenQuote, Side
from assayer.citing.evidence import Evidence, Quoted, check_quote
from assayer.citing.labels import strip_citations
from assayer.methods.points import build_reading, get_verified_words
from assayer.methods.scholareval.schemas import ComparedPaper, NoveltyStanding, NoveltyVerdict
from assayer.models import PaperId, Reading

_STANCE: dict[NoveltyStanding, Literal[-1, 0, 1]] = {"paper_has_it": -1, "paper_has_part": 0, "idea_goes_further": 1}
_SIDE: dict[NoveltyStanding, Side] = {
    "paper_has_it": "against",
    "paper_has_part": "neither",
    "idea_goes_further": "for",
}


@dataclass(frozen=True)
class PaperComparison:
    """A paper compared with the idea in a dimension that it touches."""

    shown: Evidence
    """The paper as shown in the prompt."""
    standing: NoveltyStanding
    """Whether the paper has all or part of what the idea claims as new, or the idea goes further than the paper."""
    reason: str
    quoted: Quoted | None

    @classmethod
    def from_verdict(cls, evidence: Evidence, verdict: NoveltyVerdict) -> "PaperComparison":
        return cls(evidence, verdict.verdict, verdict.reason, check_quote(verdict.quote, evidence))

    @property
    def paper(self) -> PaperId:
        return self.shown.paper_id

    def build_reading(self, idea: Set[Decimal]) -> Reading:
        """Return the report's reading of the paper. `idea` holds the numbers that occur in the idea itself."""
        return build_reading(self.shown, _STANCE[self.standing], strip_citations(self.reason), self.quoted, idea)

    def build_compared_paper(self, label: str) -> ComparedPaper:
        """Return the comparison as shown to the model that reviews the dimension."""
        return ComparedPaper(
            label=label,
            title=self.shown.title,
            year=self.shown.year,
            verdict=self.standing,
            reason=strip_citations(self.reason),
            quote=get_verified_words(self.quoted),
        )

    def build_given_quote(self) -> GivenQuote:
        """Return the quote that the review may use, with the statement that it supports."""
        return GivenQuote(paper=self.paper, side=_SIDE[self.standing], statement=self.reason, quoted=self.quoted)
