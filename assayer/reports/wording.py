"""The words a report uses for the values of its model."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import Literal, get_args

from assayer.models import Absent, Blinding, Familiarity, MaskedKind, MaskedText, Point, Reviewer
from assayer.models.ranking import Band, ErasedRank

__all__ = [
    "BANDS",
    "FINDS",
    "FLAGS",
    "KINDS",
    "MASKED",
    "METHODS",
    "MINIMA",
    "NOTICES",
    "OPERATIONS",
    "SEATS",
    "WHO_SAW_MASKED",
    "Stance",
    "count",
    "duration",
    "erased_ranks",
    "familiarity",
    "kind_count",
    "masked_by_kind",
    "masked_counts",
    "masked_words",
    "measured",
    "moment",
    "money",
    "points_by_kind",
    "stance_sign",
    "stance_words",
    "unseen",
]

_AFTER_NOUN = re.compile(r"^(.+?)((?: (?:for|of|on|with|from|in|read|left)\b.*)?)$", re.DOTALL)
"""What takes the s of a plural, and what stands behind it."""

BANDS: dict[Band, str] = {
    "in": "Clearly in",
    "human": "Needs a human decision",
    "out": "Clearly out",
}
"""What a shortlist says of an idea, wherever people read it; in the order in which they are read."""

Kind = Literal["support", "contradiction", "strength", "weakness", "suggestion"]
Stance = Literal[-1, 0, 1]

METHODS: dict[str, str] = {
    "scholareval": "ScholarEval",
    "grapheval": "GraphEval",
    "innoeval": "InnoEval",
    "scicompanion": "SciCompanion",
}
"""Names as published; a method without one goes by its own."""

NOTICES: dict[str, str] = {
    "no_llm": "No language model",
    "corpus_fit": "Corpus coverage",
    "budget": "Budget used up",
    "retraction": "Retracted paper cited",
    "unchecked_retractions": "Not checked for retraction",
    "undated_version": "Possibly changed after the cutoff",
    "injection": "Suspicious text",
    "absent_part": "Missing score",
    "own_paper": "Own publication left out",
    "own_references": "The idea's own references",
    "long_idea": "Idea read only in part",
    "weak_signal": "Weak signal",
    "other_viewpoints": "Viewpoints from different methods",
    "repeated_idea": "Repeats another idea",
    "graph": "Little in the graph",
}
"""Headings; what happened stands in the notice itself."""

KINDS: dict[str, str] = {
    "support": "Support",
    "contradiction": "Contradictions",
    "strength": "Strengths",
    "weakness": "Weaknesses",
    "suggestion": "Suggestions",
}

_ONE_OF_KIND: dict[Kind, str] = {
    "support": "supporting point",
    "contradiction": "contradiction",
    "strength": "strength",
    "weakness": "weakness",
    "suggestion": "suggestion",
}

MINIMA: dict[str, str] = {
    "corpus_fit": "Field covered",
    "judged": "Judged",
    "answered": "Questions answered",
    "quotes_found": "Quotes found",
    "points_traced": "Points traced",
    "claims_supported": "Claims supported",
}
"""What an export gate asks for; what was counted stands in its basis."""

OPERATIONS: dict[str, str] = {
    "search": "paper search",
    "snippets": "passage search",
    "neighbours": "similar papers",
    "references": "cited papers",
    "own_references": "the idea's own references",
    "citations": "citing papers",
    "papers": "paper records",
    "retractions": "checks for retraction",
    "open_access": "open-access copies",
    "full_texts": "full texts",
    "web": "web pages",
    "code": "code",
    "datasets": "data sets",
}

FLAGS: dict[str, str] = {
    "hidden_text": "Hidden text, removed",
    "bidi_text": "Characters that reverse the reading direction, removed",
    "homoglyphs": "Look-alike letters",
    "suspected_injection": "Suspected instruction to the reviewer",
    "label_lookalike": "Looks like a citation label",
}

WHO_SAW_MASKED = (
    "Language models and literature searches were given the text without these words. The references that the idea "
    "gives are looked up by their identifiers and titles, without the names of people that are masked here."
)
_LONGEST_MASKED = 300
MASKED: dict[MaskedKind, tuple[str, str]] = {
    "name": ("name", "names"),
    "role": ("role", "roles"),
    "affiliation": ("affiliation", "affiliations"),
    "email": ("e-mail address", "e-mail addresses"),
    "orcid": ("ORCID iD", "ORCID iDs"),
    "contact": ("other contact", "other contacts"),
    "funding": ("funding statement", "funding statements"),
    "acknowledgement": ("acknowledgement", "acknowledgements"),
    "biography": ("biographical section", "biographical sections"),
}

FINDS: dict[Literal["literature", "web", "code", "data"], tuple[str, str]] = {
    "literature": ("paper", "papers"),
    "web": ("web page", "web pages"),
    "code": ("repository", "repositories"),
    "data": ("data set", "data sets"),
}

SEATS: dict[str, str] = {
    "near": "drawn from the personas whose topics the idea mentions",
    "open": "drawn from all other personas",
    "control": "no persona",
}

_STANCES: dict[str, dict[Stance, str]] = {
    "soundness": {-1: "contradicts", 0: "neutral", 1: "supports"},
    "contribution": {-1: "already does this", 0: "comparable", 1: "idea goes further"},
}

_ANY_STANCE: dict[Stance, str] = {-1: "against the idea", 0: "neutral", 1: "for the idea"}


def stance_words(stance: Stance | None, part: str) -> str:
    return "not addressed by the paper" if stance is None else _STANCES.get(part, _ANY_STANCE)[stance]


def stance_sign(stance: Stance | None) -> str:
    """With a real minus; an en dash for nobody's judgement."""
    return "–" if stance is None else {-1: "−1", 0: "0", 1: "+1"}[stance]


def points_by_kind(points: tuple[Point, ...]) -> list[tuple[Kind, list[Point]]]:
    """Kinds in the order a reader expects, only those that occur; the order within a kind is kept."""
    groups = ((kind, [point for point in points if point.kind == kind]) for kind in get_args(Kind))
    return [(kind, group) for kind, group in groups if group]


def count(number: int, noun: str = "", plural: str = "") -> str:
    """`1,240 papers`, `30 papers for the methods`; a plural is the noun with an s unless given."""
    if not noun:
        return f"{number:,}"
    if number != 1:
        noun = plural or _AFTER_NOUN.sub(r"\1s\2", noun, count=1)
    return f"{number:,} {noun}"


def erased_ranks(erased: Sequence[ErasedRank], noun: str) -> str:
    """What a reader of a ranking must know of it; empty where nobody was erased."""
    if not erased:
        return ""
    days = sorted({one.on for one in erased})
    told = [
        f"{count(len(ranks), noun)} on {day} ({'rank' if len(ranks) == 1 else 'ranks'} {', '.join(ranks)})"
        for day in days
        for ranks in [[f"{rank:,}" for rank in sorted(one.rank for one in erased if one.on == day)]]
    ]
    return (
        f"Erased after this ranking was made: {'; '.join(told)}. All others keep their ranks, intervals and bands; "
        "comparisons with what was erased are gone."
    )


def measured(value: float | str | Absent) -> str:
    """`75 %`, `partial`: a share or a level that is held against a minimum."""
    if isinstance(value, Absent):
        return "nothing to measure"
    return value if isinstance(value, str) else f"{100 * value:.3g} %"


def kind_count(kind: Kind, number: int) -> str:
    return count(number, _ONE_OF_KIND[kind], "weaknesses" if kind == "weakness" else "")


def masked_by_kind(blinding: Blinding) -> list[tuple[MaskedKind, list[MaskedText]]]:
    """Kinds that occur, in a fixed order; within a kind the text's order."""
    groups = ((kind, [one for one in blinding.masked if one.kind == kind]) for kind in MASKED)
    return [(kind, group) for kind, group in groups if group]


def masked_counts(blinding: Blinding) -> str:
    """`3 names, 2 affiliations`: places in the text, not different words."""
    counts = [(kind, sum(one.times for one in group)) for kind, group in masked_by_kind(blinding)]
    return ", ".join(count(times, *MASKED[kind]) for kind, times in counts) or "nothing found to mask"


def masked_words(masked: MaskedText) -> str:
    """In full; of a section that was taken out the beginning, and how much there was."""
    if len(masked.text) <= _LONGEST_MASKED:
        return masked.text
    return f"{masked.text[:_LONGEST_MASKED].rstrip()}… ({count(len(masked.text), 'character')} in all)"


def duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 120 else f"{minutes} min {rest} s"


def money(usd: float | Absent) -> str:
    if isinstance(usd, Absent):
        return f"unknown price: {usd.reason}"
    return f"${usd:.2f}" if usd >= 0.1 or usd == 0 else f"${usd:.4f}"


def moment(at: dt.datetime) -> str:
    """Day and minute in UTC; a time without a zone is taken for UTC."""
    aware = at if at.tzinfo else at.replace(tzinfo=dt.UTC)
    return aware.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")


def unseen(reviewer: Reviewer) -> str:
    """`2 of 10 papers, 4 of 9 web pages`: what a reviewer of the board did not see."""
    hidden = [(len(mask.hidden), mask.shown, FINDS[mask.kind]) for mask in reviewer.masking if mask.hidden]
    return ", ".join(f"{some} of {count(some + rest, *noun)}" for some, rest, noun in hidden) or "nothing"


def familiarity(levels: Familiarity) -> str:
    """`literature 8, methods 7, …`."""
    return ", ".join(f"{name} {getattr(levels, name)}" for name in type(levels).model_fields)
