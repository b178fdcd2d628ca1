"""What a judgement is made of: scores, points that cite, and the parts of a report that they make up."""

import re
from typing import Literal, NewType

from assayer.models.base import Absent, Frozen

__all__ = [
    "LABEL",
    "Assessment",
    "Citation",
    "ClaimSupport",
    "FurtherQuote",
    "Label",
    "Part",
    "Point",
    "Reading",
    "Score",
    "ScoreCertainty",
    "Summary",
    "SupportOutcome",
]

Label = NewType("Label", str)
"""`P3`: stands for one of the report's references; written `[P3]` in texts."""
LABEL = re.compile(r"\[(P\d+(?:\s*[,;]\s*P\d+)*)\]")
"""`[P3]`, and the `[P3, P7]` that models write unasked."""


ScoreCertainty = Literal["high", "moderate", "low"]
"""How much evidence a score rests on and how directly it bears on the question; not how high the score is."""


class Score(Frozen):
    """A number on a stated scale, and what it rests on."""

    value: float
    scale_min: float = 0.0
    scale_max: float = 10.0
    basis: str
    certainty: ScoreCertainty | None = None
    """None where the method gives none, and in reports made before it did."""


SupportOutcome = Literal["supports", "partly", "not", "contradicts"]
"""Whether quoted words bear out what a claim says of their paper: all of it, a part, none of it, or its opposite."""


class ClaimSupport(Frozen):
    """What a check of a claim against the words quoted for it came to."""

    outcome: SupportOutcome
    missing: str
    """What the claim says of the paper and the quoted words do not, or deny; empty when they say all of it."""
    judged_by: Literal["model", "overlap"]
    """`overlap`: shared words and nearness of embeddings, for want of a language model. It cannot read, and nothing
    may be decided by it (docs/quality/support.md)."""


class FurtherQuote(Frozen):
    """More of a paper's own words for the same claim, verified like the first ones."""

    quote: str
    place: str | None = None
    """Where it stands, as of the first quote."""


class Citation(Frozen):
    """A reference that carries a point, with the words that carry it."""

    label: Label
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
    is no verified quote or no point (a reading's own quote), and in reports made before claims were checked."""


class Point(Frozen):
    """One strength, weakness, suggestion … in a sentence or two, with `[P3]` labels in the text."""

    kind: Literal["support", "contradiction", "strength", "weakness", "suggestion"]
    text: str
    citations: tuple[Citation, ...] = ()
    downgraded: bool = False
    """True when it has quotes and none could be verified in the sources."""
    numbers_not_found: tuple[str, ...] = ()
    """Numbers of the text, as written there, that are neither in what was shown of the cited papers nor in the idea."""


class Reading(Frozen):
    """What one paper says about one method or dimension."""

    label: Label
    stance: Literal[-1, 0, 1] | None
    """Contribution: −1 the paper already has it, 0 comparable, +1 the idea goes beyond, None the paper's text
    does not touch it. Soundness: −1 speaks against the method, 0 neutral, +1 speaks for it."""
    text: str
    quote: Citation | None = None
    numbers_not_found: tuple[str, ...] = ()
    """As of a point."""


class Assessment(Frozen):
    """The judgement of one method or one dimension of contribution."""

    name: str
    statement: str
    score: Score | Absent
    points: tuple[Point, ...]
    readings: tuple[Reading, ...]


class Summary(Frozen):
    """At most three of each, the most important first."""

    strengths: tuple[Point, ...]
    weaknesses: tuple[Point, ...]
    suggestions: tuple[Point, ...]


class Part(Frozen):
    """One module of a method: soundness, contribution, …"""

    name: str
    title: str
    score: Score | Absent
    summary: Summary | Absent
    assessments: tuple[Assessment, ...]
