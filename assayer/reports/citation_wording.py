"""Wording for quotes, for the claims that cite them, and for numbers that their sources do not contain."""

from assayer.models import Citation, ClaimCounts, ClaimSupport, FurtherQuote, Point, Reading, SupportOutcome

SUPPORT: dict[SupportOutcome, str] = {
    "supports": "supports the claim",
    "partly": "supports the claim only in part",
    "not": "does not support the claim",
    "contradicts": "contradicts the claim",
}

_CLAIM_COUNTS = ("supported", "supported in part", "not supported", "contradicted", "not checked")

SUPPORT_MARKS: dict[SupportOutcome, str] = {"supports": "✓", "partly": "◐", "not": "○", "contradicts": "✗"}

_PLACES = frozenset(("abstract", "full text", "web page", "repository"))


def describe_support(outcome: SupportOutcome, is_one_of_several: bool) -> str:
    """Return the outcome of a claim's check in words, for a passage that one claim relies on, or several claims with
    different outcomes."""
    return SUPPORT[outcome].replace("the claim", "a claim") if is_one_of_several else SUPPORT[outcome]


def describe_place(citation: Citation | FurtherQuote) -> str:
    """Return the location of a quote: ` in the abstract`, ` in “3 Results”`; empty if unknown."""
    if citation.place is None:
        return ""
    if citation.place == "passage":
        return " in a passage"
    return f" in the {citation.place}" if citation.place in _PLACES else f" in “{citation.place}”"


def describe_quote_state(citation: Citation) -> str:
    """Return the verification state in words. A verified quote does not necessarily support its claim."""
    if citation.quote_state == "none":
        return "cited as a whole"
    if citation.quote_state == "not_found":
        return f"not verified: {citation.objection}" if citation.objection else "not found in the source"
    check = "" if isinstance(citation.support, ClaimSupport) else ", claim not checked"
    return f"quote found{describe_place(citation)}{check}"


def describe_further_quote_state(quote: FurtherQuote) -> str:
    """Return the verification state of an additional quote, without the claim check, whose result is shown once for all
    quotes."""
    return f"quote found{describe_place(quote)}"


def describe_missing_numbers(point: Point | Reading) -> str:
    """Return a sentence that lists the numbers in a point that appear neither in the cited texts nor in the idea; empty
    if there are none."""
    numbers = [f"“{number}”" for number in point.numbers_not_found]
    if not numbers:
        return ""
    if len(numbers) == 1:
        return f"The number {numbers[0]} appears neither in the cited texts that were shown nor in the idea."
    return f"The numbers {', '.join(numbers)} appear neither in the cited texts that were shown nor in the idea."


def list_claim_counts(counts: ClaimCounts) -> list[tuple[int, str]]:
    """Return (number of claims, outcome in words) for each outcome of the claim check that occurred."""
    numbers = (counts.supported, counts.partly_supported, counts.not_supported, counts.contradicted, counts.unchecked)
    return [(number, name) for number, name in zip(numbers, _CLAIM_COUNTS, strict=True) if number]


def is_unsupported(point: Point) -> bool:
    """Return whether a point's claim was checked and no quote supports even part of it."""
    outcomes = _list_outcomes(point)
    return bool(outcomes) and all(outcome in ("not", "contradicts") for outcome in outcomes)


def describe_warning(point: Point) -> str:
    """Return a warning about a point's quotes; empty if there is nothing to warn about."""
    if point.downgraded:
        return "Unverified: none of its quotes was found in the sources."
    if is_unsupported(point):
        return "Not supported: none of the quotes that were checked supports this claim."
    return ""


def describe_gaps(point: Point) -> str:
    """Return which papers support a point's claim only in part or not at all, and what their quotes lack; empty if
    there are none."""
    gaps = []
    for citation in point.citations:
        if isinstance(citation.support, ClaimSupport) and citation.support.outcome != "supports":
            missing = citation.support.missing.rstrip(".")
            lacking = f" Missing or denied: {missing}." if missing else ""
            gaps.append(f"{citation.label} {SUPPORT[citation.support.outcome]}.{lacking}")
    return " ".join(gaps)


def _list_outcomes(point: Point) -> list[SupportOutcome]:
    support_checks = (citation.support for citation in point.citations if isinstance(citation.support, ClaimSupport))
    return [item.outcome for item in support_checks]
