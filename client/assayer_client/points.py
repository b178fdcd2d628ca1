"""Scores, and points with the quotes that support them."""

from typing import Literal, NewType

from assayer_client.resources import Absent, Resource

Label = NewType("Label", str)
"""Label of a reference in a report, such as `P3`; written `[P3]` in texts."""
ScoreCertainty = Literal["high", "moderate", "low"]
"""Amount of evidence behind a score, and how directly it bears on the question; independent of how high the score is.
"""
SupportOutcome = Literal["supports", "partly", "not", "contradicts"]
"""Support of the quoted words for the claim about their paper: fully, partly, not at all, or contradicting it."""


class ClaimSupport(Resource):
    """Result of checking a claim against the words quoted for it."""

    outcome: SupportOutcome
    """Support of the quoted words for the claim about their paper: fully, partly, not at all, or contradicting it."""
    missing: str
    """Content of the claim that the quoted words lack or contradict; empty if they support all of it."""


class FurtherQuote(Resource):
    """Additional quote from the same paper for the same claim, verified like the first."""

    quote: str
    place: str | None = None
    """Location of the quote, in the same form as for the first quote."""


class Citation(Resource):
    """Reference that supports a point, with the supporting quote."""

    label: Label
    quote: str | None
    """Quoted words of the paper; None if the point cites the paper as a whole."""
    quote_state: Literal["verified", "not_found", "none"]
    """Verification state. `verified`: the quote is copied from the text shown. `not_found`: the words are not in that
    text, or `objection` states why they are not a valid quote; the point is marked."""
    place: str | None = None
    """Location of a verified quote: `abstract`, `passage`, `full text`, `web page`, `repository` or the section
    title; None if unknown."""
    objection: str | None = None
    """Reason why words that do occur in the source are not accepted as verified: cut out of a negation, joined from
    several places, a title, or too short."""
    further: tuple[FurtherQuote, ...] = ()
    """Further quotes from the same paper, at most two, on which the claim check relied."""
    support: ClaimSupport | Absent | None = None
    """Result of checking the quoted words against the claim; absent, with a reason, if this was not checked. None if
    there is no verified quote, or no point (for a reading's own quote)."""


class Point(Resource):
    """Strength, weakness, suggestion or similar point in one or two sentences, with `[P3]` labels in the text."""

    kind: Literal["support", "contradiction", "strength", "weakness", "suggestion"]
    text: str
    citations: tuple[Citation, ...] = ()
    downgraded: bool = False
    """True if the point has quotes but none of them could be verified in the sources."""
    numbers_not_found: tuple[str, ...] = ()
    """Numbers in the point's text, as written there, that occur neither in the shown text of the cited papers nor in
    the idea."""


class Score(Resource):
    """Number on a stated scale, with its basis."""

    value: float
    scale_min: float = 0.0
    scale_max: float = 10.0
    basis: str
    certainty: ScoreCertainty | None = None
    """Amount of evidence behind the score and how directly it bears on the question; None if the method does not
    provide it."""
