"""Scores, and points with the quotes that carry them."""

from typing import Literal

from assayer_client.resources import Absent, Resource


class ClaimSupport(Resource):
    """What a check of a claim against the words quoted for it came to."""

    outcome: Literal["supports", "partly", "not", "contradicts"]
    """Whether the quoted words bear out what the claim says of their paper: all of it, a part, none, its opposite."""
    missing: str
    """What the claim says of the paper and the quoted words do not, or deny; empty when they say all of it."""
    judged_by: Literal["model", "overlap"]
    """`overlap`: shared words and nearness of embeddings, for want of a language model; it cannot read."""


class FurtherQuote(Resource):
    """More of a paper's own words for the same claim, verified like the first ones."""

    quote: str
    place: str | None = None
    """Where it stands, as of the first quote."""


class Citation(Resource):
    """A reference that carries a point, with the words that carry it."""

    label: str
    quote: str | None
    """The words quoted from the paper; None when the point cites the paper as a whole."""
    quote_state: Literal["verified", "not_found", "none"]
    """`verified`: the quote is cut from the text that was shown. `not_found`: the words are not in it, or `objection`
    says why they are no quote of it; the point is marked."""
    place: str | None = None
    """Where a verified quote stands: `abstract`, `passage`, `full text`, `web page`, `repository`, or the title of the
    section; None where nobody knows."""
    objection: str | None = None
    """Why words that do stand in the source are not verified: cut from under a negation, glued, a title, too short."""
    further: tuple[FurtherQuote, ...] = ()
    """Quotes of the same paper beside the first, at most two: those on which the check of the claim relied."""
    support: ClaimSupport | Absent | None = None
    """Whether the quoted words bear out the claim; absent with a reason where that was not checked. None where there
    is no verified quote or no point, and in reports made before claims were checked."""


class Point(Resource):
    """One strength, weakness, suggestion … in a sentence or two, with `[P3]` labels in the text."""

    kind: Literal["support", "contradiction", "strength", "weakness", "suggestion"]
    text: str
    citations: tuple[Citation, ...] = ()
    downgraded: bool = False
    """True when it has quotes and none could be verified in the sources."""
    numbers_not_found: tuple[str, ...] = ()
    """Numbers of the text, as written there, that are neither in what was shown of the cited papers nor in the idea."""


class Score(Resource):
    """A number on a stated scale, and what it rests on."""

    value: float
    scale_min: float = 0.0
    scale_max: float = 10.0
    basis: str
    certainty: Literal["high", "moderate", "low"] | None = None
    """How much evidence it rests on and how directly that bears on the question; None where the method gives none."""
