"""Wording that reports use for values in the data models."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import Literal, NamedTuple, get_args

from assayer.models import (
    Absent,
    Blinding,
    EvidenceRelation,
    Familiarity,
    MaskedKind,
    MaskedText,
    NamedRole,
    NumberedFinding,
    PanelFinding,
    PanelParagraph,
    PanelReview,
    Point,
    Report,
    Reviewer,
)
from assayer_client.rankings import Band, ErasedRank

_AFTER_NOUN = re.compile(
    r"^(.+?)((?: (?:at|between|beyond|by|for|from|in|left|of|on|read|that|to|with)\b.*)?)$", re.DOTALL
)
"""Pattern that separates the noun to be pluralised from the words after it."""
_PLURALS = (
    (r"sis$", "ses"),
    (r"([^s])s$", r"\1s"),
    (r"(s|x|z|ch|sh)$", r"\1es"),
    (r"([^aeiou])y$", r"\1ies"),
    (r"$", "s"),
)
"""Singular endings and their plural forms; the first match applies. A noun that ends in a single s is assumed to be
plural already."""

BANDS: dict[Band, str] = {
    "in": "Clearly in",
    "human": "Needs a human decision",
    "out": "Clearly out",
}
"""Displayed names of a shortlist's bands, in reading order."""

Kind = Literal["support", "contradiction", "strength", "weakness", "suggestion"]
Stance = Literal[-1, 0, 1]

METHODS: dict[str, str] = {
    "review": "Review",
    "scholareval": "ScholarEval",
    "grapheval": "GraphEval",
    "innoeval": "InnoEval",
    "scicompanion": "SciCompanion",
    "check": "Evidence, not judged",
}
"""Published names of the methods; a method without a published name is shown by its identifier."""

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
    "own_references": "References not found or retracted",
    "long_idea": "Idea read only in part",
    "weak_signal": "Weak signal",
    "other_viewpoints": "Viewpoints from different methods",
    "small_review": "Smaller review",
    "example": "Invented papers",
    "repeated_idea": "Repeats another idea",
    "graph": "Sparse graph",
}
"""Headings of the notices; the text of the notice states what happened."""

KINDS: dict[str, str] = {
    "support": "Support",
    "contradiction": "Contradictions",
    "strength": "Strengths",
    "weakness": "Weaknesses",
    "suggestion": "Suggestions",
}

_SINGULAR_KINDS: dict[Kind, str] = {
    "support": "supporting point",
    "contradiction": "contradiction",
    "strength": "strength",
    "weakness": "weakness",
    "suggestion": "suggestion",
}


class IncompleteWording(NamedTuple):
    """Statement of what an incomplete report lacks: a phrase for the title, and a sentence."""

    title: str
    sentence: str


NO_TOTAL = IncompleteWording("no total is given", "An overall score would suggest more than they support.")
NOT_ORDERED = IncompleteWording(
    "not ordered by its scores", "Its two scores are shown, but they do not determine the order of reports."
)
"""Wording for panel reviews, which keep their scores and never have a total."""


def describe_incomplete(report: Report) -> IncompleteWording:
    return NOT_ORDERED if report.panel_review is not None else NO_TOTAL


MINIMA: dict[str, str] = {
    "corpus_fit": "Field covered",
    "judged": "Judged",
    "answered": "Questions answered",
    "quotes_found": "Quotes found",
    "points_traced": "Points traced",
    "claims_supported": "Claims supported",
}
"""Names of the release minima; the basis states what was counted."""

RELATIONS: dict[EvidenceRelation, str] = {
    "supports": "Supports the point",
    "weakens": "Weakens the point",
    "contradicts": "Contradicts the point",
    "already_has": "Already has what is claimed as new",
    "has_part": "Has a part of what is claimed as new",
    "missing_comparison": "Missing comparison",
    "background": "Background",
}
"""Relation between a passage and the point that it was read for."""

NAMED_ROLES: dict[NamedRole, str] = {
    "already_does": "Already does it",
    "contradicts": "Contradicts it",
    "baseline": "Expected comparison",
    "method": "Method to use",
}
"""Reason why a work that the panel cited from memory matters for the plan."""

OPERATIONS: dict[str, str] = {
    "search": "paper search",
    "snippets": "passage search",
    "neighbours": "similar papers",
    "references": "cited papers",
    "own_references": "look-ups of cited works",
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

MASKED_VISIBILITY = (
    "Language models and literature searches were given the text without these words. The idea's own references are "
    "looked up by identifier and title, without the names that are masked here."
)
_MODEL_CHECK_SENTENCE = (
    " A language model was asked once for names that the rules had missed, and saw the names that it listed."
)
_MAX_MASKED_CHARS = 300
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


def describe_stance(stance: Stance | None, part: str) -> str:
    if stance is None:
        return "not addressed by the paper"
    return _STANCES.get(part, _ANY_STANCE)[stance]


def group_points_by_kind(points: tuple[Point, ...]) -> list[tuple[Kind, list[Point]]]:
    """Return the points grouped by kind, in the order that readers expect. Kinds without points are left out. Within a
    kind, points keep their order."""
    groups = ((kind, [point for point in points if point.kind == kind]) for kind in get_args(Kind))
    return [(kind, group) for kind, group in groups if group]


def format_count(number: int, noun: str = "", plural: str = "") -> str:
    """Return a number with its noun, pluralised if necessary: `30 papers for the methods`."""
    if not noun:
        return f"{number:,}"
    if number != 1:
        noun = plural or _AFTER_NOUN.sub(lambda parts: _form_plural(parts[1]) + parts[2], noun, count=1)
    return f"{number:,} {noun}"


def _form_plural(noun: str) -> str:
    ending, replacement = next(pair for pair in _PLURALS if re.search(pair[0], noun))
    return re.sub(ending, replacement, noun, count=1)


def describe_erased_ranks(erased: Sequence[ErasedRank], noun: str) -> str:
    """Return the notice about erased ideas, for readers of a ranking; empty if no ideas were erased."""
    if not erased:
        return ""
    days = sorted({item.erased_on for item in erased})
    erasures = [
        f"{format_count(len(ranks), noun)} on {day} ({'rank' if len(ranks) == 1 else 'ranks'} {', '.join(ranks)})"
        for day in days
        for ranks in [[f"{rank:,}" for rank in sorted(item.rank for item in erased if item.erased_on == day)]]
    ]
    return (
        f"Erased after this ranking was made: {'; '.join(erasures)}. All others keep their ranks, intervals and bands; "
        "comparisons with the erased texts were deleted."
    )


def format_measured(value: float | str | Absent) -> str:
    """Format a measured share or level, or its required minimum: `75 %`, `partial`."""
    if isinstance(value, Absent):
        return "nothing to measure"
    return value if isinstance(value, str) else f"{100 * value:.3g} %"


def format_kind_count(kind: Kind, number: int) -> str:
    return format_count(number, _SINGULAR_KINDS[kind], "weaknesses" if kind == "weakness" else "")


def describe_who_saw_masked(blinding: Blinding) -> str:
    """Return who was shown the masked words."""
    return MASKED_VISIBILITY + (_MODEL_CHECK_SENTENCE if blinding.checked_by_model else "")


def group_masked_by_kind(blinding: Blinding) -> list[tuple[MaskedKind, list[MaskedText]]]:
    """Return the masked texts grouped by kind, in a fixed order of kinds. Kinds that do not occur are left out."""
    groups = ((kind, [item for item in blinding.masked if item.kind == kind]) for kind in MASKED)
    return [(kind, group) for kind, group in groups if group]


def format_masked_counts(blinding: Blinding) -> str:
    """Return how many occurrences of each kind were masked, and whether names may remain: `3 names; names may
    remain`."""
    counts = [(kind, sum(item.occurrences for item in group)) for kind, group in group_masked_by_kind(blinding)]
    masked_text = ", ".join(format_count(times, *MASKED[kind]) for kind, times in counts) or "nothing found to mask"
    return f"{masked_text}; names may remain" if blinding.names_may_remain else masked_text


def format_masked_text(masked: MaskedText) -> str:
    """Return the masked text in full or, if it is a long section, its beginning and its length."""
    if len(masked.text) <= _MAX_MASKED_CHARS:
        return masked.text
    return f"{masked.text[:_MAX_MASKED_CHARS].rstrip()}… ({format_count(len(masked.text), 'character')} in all)"


def format_duration(seconds: float) -> str:
    if seconds < 120:
        return f"{seconds:.1f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes // 60} h {minutes % 60} min" if minutes >= 120 else f"{minutes} min {rest} s"


def format_money(usd: float | Absent) -> str:
    if isinstance(usd, Absent):
        return f"unknown price: {usd.reason}"
    if usd >= 0.1 or usd == 0:
        return f"${usd:.2f}"
    return f"${usd:.4f}" if usd >= 0.0001 else "less than $0.0001"


def format_moment(at: dt.datetime) -> str:
    """Return day and minute in UTC; a time without a time zone is taken as UTC."""
    aware = at if at.tzinfo else at.replace(tzinfo=dt.UTC)
    return aware.astimezone(dt.UTC).strftime("%Y-%m-%d %H:%M UTC")


def describe_hidden_evidence(reviewer: Reviewer) -> str:
    """Return how much of the evidence was hidden from a board reviewer: `2 of 10 papers, 4 of 9 web pages`."""
    hidden = [
        (len(mask.hidden_papers), mask.shown_count, FINDS[mask.kind]) for mask in reviewer.masking if mask.hidden_papers
    ]
    return ", ".join(f"{some} of {format_count(some + rest, *noun)}" for some, rest, noun in hidden) or "nothing"


def format_familiarity(levels: Familiarity) -> str:
    """Return familiarity levels in words: `literature 8, methods 7, …`."""
    return ", ".join(f"{name} {getattr(levels, name)}" for name in type(levels).model_fields)


def group_by_plan_quote(findings: Sequence[NumberedFinding]) -> list[tuple[str, list[str]]]:
    """Return each quoted passage of the plan once, with the numbers of the findings that quote it."""
    numbers: dict[str, list[str]] = {}
    for number, finding in findings:
        numbers.setdefault(finding.plan.quote, []).append(number)
    return list(numbers.items())


FROM_MEMORY = "°"
"""Mark after a work that the panel cited from memory rather than from search results."""


def format_named_work(author: str, year: int | None) -> str:
    """Return author and year of a work cited from memory, as far as the model stated them: `Hinton 2006°`."""
    return f"{author or 'earlier work'}{f' {year}' if year else ''}{FROM_MEMORY}"


def list_named_works(review: PanelReview, item: PanelFinding | PanelParagraph) -> list[str]:
    """Return the works cited from memory that an item refers to. Omit those already named in its text or in the list of
    closest works below it."""
    below = review.closest_named if item is review.novelty else ()
    works = [
        format_named_work(review.works_from_memory[at].author, review.works_from_memory[at].year)
        for at in item.works_from_memory
        if at not in below
    ]
    texts = f"{item.text} {item.fix}" if isinstance(item, PanelFinding) else item.text
    return [work for work in works if work not in texts]


def group_named_works(review: PanelReview) -> list[tuple[str, list[int]]]:
    """Return the indexes of the works cited from memory, grouped under headings that say whether they were found."""
    check = "check before relying on them"
    groups: dict[str, list[int]] = {
        f"Named by the panel from memory, not found in the sources searched: {check}": [],
        f"Named by the panel from memory, not looked up because a source did not answer: {check}": [],
        "Named by the panel from memory; a record was found, but no text that was read confirms what is said": [],
    }
    not_found, not_looked_up, with_record = groups.values()
    for at, work in enumerate(review.works_from_memory):
        (with_record if work.label else not_found if work.lookup_complete else not_looked_up).append(at)
    return [(title, places) for title, places in groups.items() if places]
