"""The words a report uses for the values of its model."""

import datetime as dt
from collections.abc import Iterable
from typing import Literal, get_args

from assayer.models import (
    Absent,
    Blinding,
    Citation,
    ClaimCounts,
    ClaimSupport,
    Familiarity,
    MaskedKind,
    MaskedText,
    OwnReference,
    OwnReferenceOutcome,
    OwnReferences,
    Point,
    Reference,
    ReferenceRecord,
    Retraction,
    Reviewer,
    SupportOutcome,
)

__all__ = [
    "FINDS",
    "FLAGS",
    "KINDS",
    "MASKED",
    "METHODS",
    "MINIMA",
    "NOTICES",
    "OPERATIONS",
    "OVERLAP_CAVEAT",
    "RETRACTIONS",
    "SEATS",
    "SOURCES",
    "SUPPORT",
    "SUPPORT_MARKS",
    "authors",
    "borne_out",
    "claim_counts",
    "count",
    "duration",
    "familiarity",
    "kind_count",
    "listing",
    "masked_by_kind",
    "masked_counts",
    "measured",
    "missing_numbers",
    "moment",
    "money",
    "not_borne_out",
    "origins",
    "own_outcome",
    "own_outcomes",
    "place",
    "points_by_kind",
    "quote_state",
    "retraction",
    "stance_sign",
    "stance_words",
    "support",
    "unseen",
    "unsupported",
    "year",
]

Kind = Literal["support", "contradiction", "strength", "weakness", "suggestion"]
Stance = Literal[-1, 0, 1]

METHODS: dict[str, str] = {"scholareval": "ScholarEval", "grapheval": "GraphEval", "innoeval": "InnoEval"}
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

SUPPORT: dict[SupportOutcome, str] = {
    "supports": "supports the claim",
    "partly": "supports the claim only in part",
    "not": "does not support the claim",
    "contradicts": "contradicts the claim",
}

_WORDING: dict[SupportOutcome, str] = {
    "supports": "close to the claim in wording",
    "partly": "somewhat close to the claim in wording",
    "not": "far from the claim in wording",
    "contradicts": "contradicts the claim",
}
"""Where no model read the two: what was measured, not what it might mean."""

_BY_MODEL = ("supported", "supported in part", "not supported", "contradicted", "not checked")
_BY_OVERLAP = ("close in wording", "somewhat close", "far", "contradicted", "not checked")

OVERLAP_CAVEAT = (
    "No model read the claims: only shared words and nearness in meaning were measured, which cannot tell a claim from "
    "its opposite."
)

SUPPORT_MARKS: dict[SupportOutcome, str] = {"supports": "✓", "partly": "◐", "not": "○", "contradicts": "✗"}

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
}

RETRACTIONS: dict[str, str] = {
    "retracted": "retracted",
    "withdrawn": "withdrawn",
    "concern": "expression of concern",
}
"""Beside a label wherever it is cited."""

FLAGS: dict[str, str] = {
    "hidden_text": "Hidden text, removed",
    "bidi_text": "Characters that reverse the reading direction, removed",
    "homoglyphs": "Look-alike letters",
    "suspected_injection": "Suspected instruction to the reviewer",
    "label_lookalike": "Looks like a citation label",
}

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

FINDS: dict[Literal["literature", "web", "code"], tuple[str, str]] = {
    "literature": ("paper", "papers"),
    "web": ("web page", "web pages"),
    "code": ("repository", "repositories"),
}

SOURCES: dict[str, str] = {
    "corpus": "the corpus",
    "semantic_scholar": "Semantic Scholar",
    "openalex": "OpenAlex",
    "crossref": "Crossref",
    "arxiv": "arXiv",
}
"""As running text names them; a source without a name there goes by its own."""

_OWN_OUTCOMES: dict[OwnReferenceOutcome, str] = {
    "found": "found",
    "differs": "found, with differences",
    "retracted": "found, and no longer standing as published",
    "not_found": "not found",
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


_PLACES = frozenset(("abstract", "full text", "web page", "repository"))


def place(citation: Citation) -> str:
    """` in the abstract`, ` in “3 Results”`; empty where nobody knows."""
    if citation.place is None:
        return ""
    if citation.place == "passage":
        return " in a passage"
    return f" in the {citation.place}" if citation.place in _PLACES else f" in “{citation.place}”"


def quote_state(citation: Citation) -> str:
    """What is known of a quote. That its words stand in the source says nothing of the claim that they are to carry."""
    if citation.quote_state == "none":
        return "cited as a whole"
    if citation.quote_state == "not_found":
        return f"not verified: {citation.objection}" if citation.objection else "not found in the source"
    return f"quote found{place(citation)}{'' if isinstance(citation.support, ClaimSupport) else ', claim not checked'}"


def missing_numbers(point: Point) -> str:
    """One sentence, or nothing where all its numbers were found."""
    numbers = [f"“{one}”" for one in point.numbers_not_found]
    if not numbers:
        return ""
    if len(numbers) == 1:
        return f"The number {numbers[0]} is in none of the cited texts that were shown, nor in the idea."
    return f"The numbers {', '.join(numbers)} are in none of the cited texts that were shown, nor in the idea."


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
    """`1,240 papers`; a plural is the noun with an s unless given."""
    if not noun:
        return f"{number:,}"
    return f"{number:,} {noun if number == 1 else plural or noun + 's'}"


def measured(value: float | str | Absent) -> str:
    """`75 %`, `partial`: a share or a level that is held against a minimum."""
    if isinstance(value, Absent):
        return "nothing to measure"
    return value if isinstance(value, str) else f"{100 * value:.3g} %"


def support(found: ClaimSupport) -> str:
    return (SUPPORT if found.judged_by == "model" else _WORDING)[found.outcome]


def claim_counts(counts: ClaimCounts, by_overlap: bool) -> list[tuple[int, str]]:
    """How many claims came to what, in words; what did not occur is left out."""
    numbers = (counts.supported, counts.partly_supported, counts.not_supported, counts.contradicted, counts.unchecked)
    names = _BY_OVERLAP if by_overlap else _BY_MODEL
    return [(number, name) for number, name in zip(numbers, names, strict=True) if number]


def unsupported(point: Point) -> int:
    """Quotes of a point that, as a model read them, bear out nothing of what it claims, or deny it."""
    return sum(one in ("not", "contradicts") for one in _outcomes(point))


def not_borne_out(point: Point) -> bool:
    """Whether a point was checked against quotes, and none of them bears out even a part of it."""
    outcomes = _outcomes(point)
    return bool(outcomes) and unsupported(point) == len(outcomes)


def _outcomes(point: Point) -> list[SupportOutcome]:
    checked = (one.support for one in point.citations if isinstance(one.support, ClaimSupport))
    return [one.outcome for one in checked if one.judged_by == "model"]


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


def year(reference: Reference | ReferenceRecord) -> str:
    return str(reference.publication_date.year) if reference.publication_date else "undated"


def retraction(notice: Retraction) -> str:
    """`Retracted on 2023-04-01, according to crossref`."""
    words = RETRACTIONS[notice.kind]
    return f"{words[0].upper()}{words[1:]}{f' on {notice.date}' if notice.date else ''}, according to {notice.source}"


def origins(reference: Reference) -> str:
    """`abstract from arxiv; venue, url from crossref`: whose word the rest of a merged record is."""
    by_source: dict[str, list[str]] = {}
    for origin in reference.origins:
        by_source.setdefault(origin.source, []).append(origin.field.replace("_", " "))
    return "; ".join(f"{', '.join(fields)} from {source}" for source, fields in by_source.items())


def listing(items: Iterable[str]) -> str:
    """`the corpus, Crossref and OpenAlex`."""
    names = [SOURCES.get(one, one) for one in items]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def own_outcome(entry: OwnReference) -> str:
    """What became of one of the idea's own references, and who was asked where it was not found."""
    silent = f"; {listing(entry.unanswered)} did not answer" if entry.unanswered else ""
    if isinstance(entry.outcome, Absent):
        return f"not known{silent}: {entry.outcome.reason}"
    if entry.outcome == "not_found":
        return f"not found in {listing(entry.asked)}{silent}"
    if entry.retraction is not None:
        return retraction(entry.retraction)
    return _OWN_OUTCOMES[entry.outcome]


_BORNE_OUT: dict[SupportOutcome, str] = {
    "supports": "its abstract bears this out",
    "partly": "its abstract bears this out in part",
    "not": "its abstract does not say this",
    "contradicts": "its abstract says otherwise",
}


def borne_out(entry: OwnReference) -> str:
    """Whether a reference's abstract bears out the passage that refers to it."""
    found = entry.borne_out
    if isinstance(found, Absent):
        return found.reason
    return f"{_BORNE_OUT[found.outcome]}{f': {found.missing}' if found.missing else ''}"


def own_outcomes(own: OwnReferences) -> str:
    """`12 found, 2 not found`: how many of each outcome, the usual first."""
    numbers = {words: sum(one.outcome == kind for one in own.entries) for kind, words in _OWN_OUTCOMES.items()}
    numbers["not known"] = sum(isinstance(one.outcome, Absent) for one in own.entries)
    return ", ".join(f"{count(number)} {words}" for words, number in numbers.items() if number)


def authors(reference: Reference | ReferenceRecord, most: int = 6) -> str:
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
