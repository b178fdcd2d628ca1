"""The words a report uses for the values of its model."""

import datetime as dt
from typing import Literal, get_args

from assayer.models import Absent, Familiarity, Point, Reference, Retraction, Reviewer

__all__ = [
    "FINDS",
    "FLAGS",
    "KINDS",
    "METHODS",
    "NOTICES",
    "OPERATIONS",
    "QUOTE_STATES",
    "RETRACTIONS",
    "SEATS",
    "authors",
    "count",
    "duration",
    "familiarity",
    "kind_count",
    "moment",
    "money",
    "origins",
    "points_by_kind",
    "retraction",
    "stance_sign",
    "stance_words",
    "unseen",
    "year",
]

Kind = Literal["support", "contradiction", "strength", "weakness", "suggestion"]
Stance = Literal[-1, 0, 1]

METHODS: dict[str, str] = {"scholareval": "ScholarEval", "grapheval": "GraphEval", "innoeval": "InnoEval"}
"""Names as published; a method without one goes by its own."""

NOTICES: dict[str, str] = {
    "no_llm": "No language model",
    "corpus_fit": "Corpus coverage",
    "budget": "Budget spent",
    "retraction": "Retracted paper cited",
    "injection": "Suspicious text",
    "absent_part": "Missing part",
    "own_paper": "Own paper set aside",
    "long_idea": "Idea read in part",
    "weak_signal": "A weak signal",
    "other_viewpoints": "Taken apart in another way",
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

QUOTE_STATES: dict[str, str] = {
    "verified": "verified",
    "not_found": "not found in the source",
    "none": "cited as a whole",
}

OPERATIONS: dict[str, str] = {
    "search": "paper search",
    "snippets": "passage search",
    "neighbours": "similar papers",
    "references": "cited papers",
    "citations": "citing papers",
    "papers": "paper records",
    "open_access": "free copies",
    "full_texts": "full texts",
    "web": "web pages",
    "code": "code",
}

RETRACTIONS: dict[str, str] = {
    "retracted": "retracted",
    "withdrawn": "withdrawn",
    "concern": "expression of concern",
}
"""Beside a label wherever it is cited."""

FLAGS: dict[str, str] = {
    "hidden_text": "Hidden text, removed",
    "bidi_text": "Characters that turn the reading direction, removed",
    "homoglyphs": "Letters that look like others",
    "suspected_injection": "Suspected instruction to the reader",
    "label_lookalike": "Looks like a citation label",
}

FINDS: dict[Literal["literature", "web", "code"], tuple[str, str]] = {
    "literature": ("paper", "papers"),
    "web": ("web page", "web pages"),
    "code": ("repository", "repositories"),
}

SEATS: dict[str, str] = {
    "near": "drawn among those whose topics the idea names",
    "open": "drawn among all others",
    "control": "nobody in particular",
}

_STANCES: dict[str, dict[Stance, str]] = {
    "soundness": {-1: "speaks against", 0: "neutral", 1: "speaks for"},
    "contribution": {-1: "already has it", 0: "comparable", 1: "idea goes beyond"},
}
_ANY_STANCE: dict[Stance, str] = {-1: "against the idea", 0: "neutral", 1: "for the idea"}


def stance_words(stance: Stance | None, part: str) -> str:
    return "not touched by the paper" if stance is None else _STANCES.get(part, _ANY_STANCE)[stance]


def stance_sign(stance: Stance | None) -> str:
    """With a real minus; an en dash for nobody's judgement."""
    return "–" if stance is None else {-1: "−1", 0: "0", 1: "+1"}[stance]


def points_by_kind(points: tuple[Point, ...]) -> list[tuple[Kind, list[Point]]]:
    """Kinds in the order a reader expects, only those that occur; the order within a kind is kept."""
    groups = ((kind, [point for point in points if point.kind == kind]) for kind in get_args(Kind))
    return [(kind, group) for kind, group in groups if group]


def count(number: int, noun: str = "", plural: str = "") -> str:
    """`1,240 papers`; a plural is the noun with an s unless given."""
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def kind_count(kind: Kind, number: int) -> str:
    return count(number, _ONE_OF_KIND[kind], "weaknesses" if kind == "weakness" else "")


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


def year(reference: Reference) -> str:
    return str(reference.publication_date.year) if reference.publication_date else "undated"


def retraction(notice: Retraction) -> str:
    """`Retracted on 2023-04-01, says crossref`."""
    words = RETRACTIONS[notice.kind]
    return f"{words[0].upper()}{words[1:]}{f' on {notice.date}' if notice.date else ''}, says {notice.source}"


def origins(reference: Reference) -> str:
    """`abstract from arxiv; venue, url from crossref`: whose word the rest of a merged record is."""
    by_source: dict[str, list[str]] = {}
    for origin in reference.origins:
        by_source.setdefault(origin.source, []).append(origin.field.replace("_", " "))
    return "; ".join(f"{', '.join(fields)} from {source}" for source, fields in by_source.items())


def authors(reference: Reference, most: int = 6) -> str:
    names = reference.authors
    if not names:
        return "Authors unknown"
    if len(names) <= most:
        return ", ".join(names)
    return f"{', '.join(names[: most - 1])} and {len(names) - most + 1} others"


def unseen(reviewer: Reviewer) -> str:
    """`2 of 10 papers, 4 of 9 web pages`: what a reviewer of the board did not see."""
    hidden = [(len(mask.hidden), mask.shown, FINDS[mask.kind]) for mask in reviewer.masking if mask.hidden]
    return ", ".join(f"{some} of {count(some + rest, *noun)}" for some, rest, noun in hidden) or "nothing"


def familiarity(levels: Familiarity) -> str:
    """`literature 8, methods 7, …`."""
    return ", ".join(f"{name} {getattr(levels, name)}" for name in type(levels).model_fields)
