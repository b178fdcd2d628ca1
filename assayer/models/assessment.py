"""Components of a judgement: scores, points with citations, and the report parts made up of them."""

import re
from typing import Literal, NewType

from assayer.models.base import Absent, Frozen

Label = NewType("Label", str)
"""Label of a reference in the report, such as `P3`; written `[P3]` in texts."""
LABEL = re.compile(r"\[(P\d+(?:\s*[,;]\s*P\d+)*)\]")
"""Pattern of labels in text: `[P3]`, and `[P3, P7]`, which models write unprompted."""


UNDERSPECIFIED = "underspecified"
"""First word of the reason for an absent score if the plan says too little to be judged."""
ScoreCertainty = Literal["high", "moderate", "low"]
"""Amount of evidence behind a score and how directly it bears on the question; not how high the score is."""


class Score(Frozen):
    """Score on a stated scale, and its basis."""

    value: float
    scale_min: float = 0.0
    scale_max: float = 10.0
    basis: str
    certainty: ScoreCertainty | None = None
    """Certainty of the score; None if the method does not state it."""


SupportOutcome = Literal["supports", "partly", "not", "contradicts"]
"""Whether the quoted words support a claim about their paper: all of it, part of it, none of it, or its opposite."""


class ClaimSupport(Frozen):
    """Outcome of checking a claim against the words quoted for it."""

    outcome: SupportOutcome
    missing: str
    """Part of the claim that the quoted words deny or do not support; empty if they support all of it."""


class FurtherQuote(Frozen):
    """Additional quote from the paper for the same claim, verified like the first quote."""

    quote: str
    place: str | None = None
    """Location of the quote, as for the first quote."""


class Citation(Frozen):
    """Reference that supports a point, with the quoted words."""

    label: Label
    quote: str | None
    """Words quoted from the paper; None if the point cites the paper as a whole."""
    quote_state: Literal["verified", "not_found", "none"]
    """Result of verifying the quote. `verified`: the quote is cut from the text that was shown. `not_found`: the
    words are not in that text, or `objection` says why they do not count as a quote; the point is marked."""
    place: str | None = None
    """Location of a verified quote; None if unknown. Values are `abstract`, `passage`, `full text`, `web page`,
    `repository`, or a section title."""
    objection: str | None = None
    """Why words that appear in the source are not verified. Reasons: cut out of a negation, joined from separate
    places, a title, or too short."""
    further: tuple[FurtherQuote, ...] = ()
    """Additional quotes from the same paper, at most two: those on which the claim check relied."""
    support: ClaimSupport | Absent | None = None
    """Whether the quoted words support the claim; absent, with a reason, if not checked. None if there is no
    verified quote or no point (a reading's own quote)."""


class Point(Frozen):
    """Strength, weakness, suggestion or similar point in one or two sentences, with `[P3]` labels in the text."""

    kind: Literal["support", "contradiction", "strength", "weakness", "suggestion"]
    text: str
    citations: tuple[Citation, ...] = ()
    downgraded: bool = False
    """True if the point has quotes and none of them could be verified in the sources."""
    numbers_not_found: tuple[str, ...] = ()
    """Numbers in the text, as written there, that appear neither in the shown text of the cited papers nor in the
    idea."""


class Reading(Frozen):
    """One paper read with respect to one method or dimension."""

    label: Label
    stance: Literal[-1, 0, 1] | None
    """Stance of the paper. Contribution: −1 the paper already has it, 0 comparable, +1 the idea goes beyond it,
    None the paper's text does not address it. Soundness: −1 speaks against the method, 0 neutral, +1 speaks for it."""
    text: str
    quote: Citation | None = None
    numbers_not_found: tuple[str, ...] = ()
    """Numbers in the text that appear neither in the shown text of the cited papers nor in the idea, as for a point."""


class Assessment(Frozen):
    """Judgement of one method or of one dimension of contribution."""

    name: str
    statement: str
    score: Score | Absent
    points: tuple[Point, ...]
    readings: tuple[Reading, ...]


class Summary(Frozen):
    """Strengths, weaknesses and suggestions: at most three of each, the most important first."""

    strengths: tuple[Point, ...]
    weaknesses: tuple[Point, ...]
    suggestions: tuple[Point, ...]


class Part(Frozen):
    """Part of a report: one module of a method, such as soundness or contribution."""

    name: str
    title: str
    score: Score | Absent
    summary: Summary | Absent
    assessments: tuple[Assessment, ...]
