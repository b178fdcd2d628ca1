"""Scores, and points with the quotes that support them."""

from typing import Literal, NewType

from assayer_client.resources import Absent, Resource

Label = NewType("Label", str)
"""Label of a reference in a report, such as `P3`, written `[P3]` in texts."""
ScoreCertainty = Literal["high", "moderate", "low"]
"""Amount of evidence for a score, and how directly it bears on the question. It does not depend on how high the score
is."""
SupportOutcome = Literal["supports", "partly", "not", "contradicts"]
"""Whether the quoted words support the claim about their paper: fully, partly, not at all, or contradicting it."""


class ClaimSupport(Resource):
    """Result of checking a claim against the words quoted for it."""

    outcome: SupportOutcome
    """Whether the quoted words support the claim about their paper: fully, partly, not at all, or contradicting it."""
    missing: str
    """Part of the claim that the quoted words lack or contradict; empty if they support all of it."""


class FurtherQuote(Resource):
    """Additional quote from the same paper for the same claim, verified like the first."""

    quote: str
    place: str | None = None
    """Where the quote was found, in the same form as for the first quote."""


class Citation(Resource):
    """Reference that supports a point, with the supporting quote."""

    label: Label
    quote: str | None
    """Words quoted from the paper; None if the point cites the paper as a whole."""
    quote_state: Literal["verified", "not_found", "none"]
    """Whether the quote was verified. `verified`: it was copied from the text shown. `not_found`: the words do not
    occur in that text, or `objection` says why they are not a valid quote; the point is marked."""
    place: str | None = None
    """Where a verified quote was found: `abstract`, `passage`, `full text`, `web page`, `repository` or the section's
    heading; None if unknown."""
    objection: str | None = None
    """Why words that do occur in the source are not accepted as a quote: cut out of a negation, joined from several
    places, a title, or too short."""
    further: tuple[FurtherQuote, ...] = ()
    """Up to two further quotes from the same paper, on which the claim check relied."""
    support: ClaimSupport | Absent | None = None
    """Result of checking the quoted words against the claim. Absent, with a reason, if this was not checked. None if
    there is no verified quote, or no point (for a reading's own quote)."""


class Point(Resource):
    """Strength, weakness, suggestion or similar point in one or two sentences, with `[P3]` labels in the text."""

    kind: Literal["support", "contradiction", "strength", "weakness", "suggestion"]
    text: str
    citations: tuple[Citation, ...] = ()
    downgraded: bool = False
    """Whether the point has quotes, none of which could be verified in the sources."""
    numbers_not_found: tuple[str, ...] = ()
    """Numbers in the point's text, as written there, that occur neither in the idea nor in the text shown from the
    cited papers."""


class Score(Resource):
    """Number on a stated scale, with its basis."""

    value: float
    scale_min: float = 0.0
    scale_max: float = 10.0
    basis: str
    certainty: ScoreCertainty | None = None
    """Amount of evidence for the score, and how directly it bears on the question; None if the method does not say."""
