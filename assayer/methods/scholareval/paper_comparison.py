"""One paper compared with an idea along one dimension: what it takes from the idea's novelty, and how that is shown."""

from collections.abc import Set
from dataclasses import dataclass
from decimal import Decimal
from typing import Literal

from assayer.citing.claim_numbers import KnownNumbers
from assayer.citing.claim_quotes import GivenQuote, Side
from assayer.citing.evidence import Evidence, Quoted, check_quote, citation_of
from assayer.citing.labels import marker, plain
from assayer.methods.scholareval.paper_evidence import ABSTRACT_CHARS
from assayer.methods.scholareval.schemas import ComparedPaper, NoveltyStanding, NoveltyVerdict
from assayer.models import PaperId, Reading

__all__ = ["PaperComparison"]

_STANCE: dict[NoveltyStanding, Literal[-1, 0, 1]] = {"paper_has_it": -1, "paper_has_part": 0, "idea_goes_further": 1}
_SIDE: dict[NoveltyStanding, Side] = {
    "paper_has_it": "against",
    "paper_has_part": "against",
    "idea_goes_further": "for",
}
_UNCOMPARED = "It was not compared along this dimension: the settings leave the comparison out."


@dataclass(frozen=True)
class PaperComparison:
    """One paper along one dimension that it touches."""

    paper: PaperId
    title: str
    year: int | None
    standing: NoveltyStanding | None
    """None where it was not compared."""
    reason: str
    """Of the standing; without one the beginning of its abstract."""
    quoted: Quoted | None
    numbers: frozenset[Decimal]
    """Of what was shown of the paper."""
    shown: Evidence

    @classmethod
    def of(cls, evidence: Evidence, verdict: NoveltyVerdict | None) -> "PaperComparison":
        """Without a verdict it was not compared."""
        return cls(
            paper=evidence.paper_id,
            title=evidence.title,
            year=evidence.year,
            standing=verdict.verdict if verdict else None,
            reason=verdict.reason if verdict else evidence.text[:ABSTRACT_CHARS],
            quoted=check_quote(verdict.quote, evidence) if verdict else None,
            numbers=evidence.numbers,
            shown=evidence,
        )

    def reading(self, idea: Set[Decimal]) -> Reading:
        """For the report; `idea` are the numbers that the idea itself names."""
        if self.standing is None:
            return Reading(label=marker(self.paper), stance=None, text=_UNCOMPARED)
        text = plain(self.reason)
        return Reading(
            label=marker(self.paper),
            stance=_STANCE[self.standing],
            text=text,
            quote=citation_of(self.paper, self.quoted) if self.quoted else None,
            numbers_not_found=KnownNumbers(idea, {self.paper: self.numbers}).missing_from(text, [self.paper]),
        )

    def for_synthesis(self, label: str) -> ComparedPaper:
        """As the reviewer of the dimension is shown it."""
        verified = self.quoted is not None and self.quoted.state == "verified"
        return ComparedPaper(
            label=label,
            title=self.title,
            year=self.year,
            verdict=self.standing,
            reason=plain(self.reason),
            quote=self.quoted.words if self.quoted and verified else "",
        )

    def given_quote(self) -> GivenQuote:
        """What the reviewer may quote it for."""
        return GivenQuote(
            paper=self.paper,
            side=_SIDE[self.standing] if self.standing else "neither",
            statement=self.reason if self.standing else "",
            quoted=self.quoted,
        )
