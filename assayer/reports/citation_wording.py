"""What a report says of quotes, of claims beside them and of their numbers."""

from assayer.models import Citation, ClaimCounts, ClaimSupport, FurtherQuote, Point, Reading, SupportOutcome

__all__ = [
    "OVERLAP_CAVEAT",
    "SUPPORT",
    "SUPPORT_MARKS",
    "claim_counts",
    "further_state",
    "missing_numbers",
    "not_borne_out",
    "place",
    "quote_state",
    "support",
    "unsupported",
]

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

_PLACES = frozenset(("abstract", "full text", "web page", "repository"))


def place(citation: Citation | FurtherQuote) -> str:
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


def further_state(quote: FurtherQuote) -> str:
    """Of a quote beside the first: the check of the claim, where one was made, stands once for all of them."""
    return f"quote found{place(quote)}"


def missing_numbers(point: Point | Reading) -> str:
    """One sentence, or nothing where all its numbers were found."""
    numbers = [f"“{one}”" for one in point.numbers_not_found]
    if not numbers:
        return ""
    if len(numbers) == 1:
        return f"The number {numbers[0]} is in none of the cited texts that were shown, nor in the idea."
    return f"The numbers {', '.join(numbers)} are in none of the cited texts that were shown, nor in the idea."


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
