"""Wording for the references that a report cites and for the idea's own references."""

from collections.abc import Iterable

from assayer.literature.paper_identity import extract_family_name
from assayer.models import (
    Absent,
    OwnReference,
    OwnReferenceOutcome,
    OwnReferences,
    Reference,
    ReferenceRecord,
    Retraction,
    SupportOutcome,
)
from assayer.reports.wording import format_count

RETRACTIONS: dict[str, str] = {
    "retracted": "retracted",
    "withdrawn": "withdrawn",
    "concern": "expression of concern",
}
"""Words shown beside the label of a paper that is retracted, withdrawn or under an expression of concern, wherever it
is cited."""

SOURCES: dict[str, str] = {
    "corpus": "the corpus",
    "semantic_scholar": "Semantic Scholar",
    "openalex": "OpenAlex",
    "crossref": "Crossref",
    "arxiv": "arXiv",
}
"""Names of sources in running text; a source that is not listed here is shown by its identifier."""

_OWN_OUTCOMES: dict[OwnReferenceOutcome, str] = {
    "found": "found",
    "differs": "found, with differences",
    "retracted": "found, but retracted or withdrawn",
    "not_found": "not found",
}


def format_citation(reference: Reference) -> str:
    """Return authors and year as a citation in running text: `Li et al., 2024`."""
    families = [family for author in reference.authors if (family := extract_family_name(author))]
    authors = " and ".join(families) if len(families) < 3 else f"{families[0]} et al."
    return f"{authors or 'unknown author'}, {format_year(reference)}"


def format_year(reference: Reference | ReferenceRecord) -> str:
    return str(reference.publication_date.year) if reference.publication_date else "undated"


def describe_retraction(notice: Retraction) -> str:
    """Return a retraction notice in words: `Retracted on 2023-04-01, according to Crossref`."""
    words = RETRACTIONS[notice.kind]
    date = f" on {notice.date}" if notice.date else ""
    return f"{words[0].upper()}{words[1:]}{date}, according to {join_source_names([notice.source])}"


def describe_origins(reference: Reference) -> str:
    """Return which fields of a merged record come from other sources than the record itself: `abstract from arxiv;
    venue, url from crossref`."""
    by_source: dict[str, list[str]] = {}
    for origin in reference.origins:
        by_source.setdefault(origin.source, []).append(origin.field.replace("_", " "))
    return "; ".join(f"{', '.join(fields)} from {source}" for source, fields in by_source.items())


def join_source_names(items: Iterable[str]) -> str:
    """Return source names as a list in words: `the corpus, Crossref and OpenAlex`."""
    names = [SOURCES.get(item, item) for item in items]
    return " and ".join([", ".join(names[:-1]), names[-1]] if len(names) > 1 else names)


def describe_own_outcome(entry: OwnReference) -> str:
    """Return, in words, the result of checking one of the idea's own references. Where it matters, the text names the
    sources that were queried or that did not answer."""
    silent = f"; {join_source_names(entry.sources_unanswered)} did not answer" if entry.sources_unanswered else ""
    if isinstance(entry.outcome, Absent):
        return f"not known{silent}: {entry.outcome.reason}"
    if entry.outcome == "not_found":
        return f"not found in {join_source_names(entry.sources_answered)}{silent}"
    if entry.outcome == "retracted" and entry.retraction is not None:
        return describe_retraction(entry.retraction)
    clauses = [_OWN_OUTCOMES[entry.outcome]]
    if entry.retraction is not None:
        notice = describe_retraction(entry.retraction)
        clauses.append(f"{notice[0].lower()}{notice[1:]}")
    if entry.retraction_sources_unanswered:
        clauses.append(
            f"{join_source_names(entry.retraction_sources_unanswered)} did not answer whether it was retracted"
        )
    return "; ".join(clauses)


_ABSTRACT_SUPPORT: dict[SupportOutcome, str] = {
    "supports": "its abstract supports this",
    "partly": "its abstract supports this in part",
    "not": "its abstract does not say this",
    "contradicts": "its abstract contradicts this",
}


def describe_passage_support(entry: OwnReference) -> str:
    """Return, in words, whether a reference's abstract supports the passage that cites it."""
    support = entry.passage_support
    if isinstance(support, Absent):
        return support.reason
    return f"{_ABSTRACT_SUPPORT[support.outcome]}{f': {support.missing}' if support.missing else ''}"


def count_own_outcomes(references: OwnReferences) -> str:
    """Return the number of references with each outcome, in a fixed order: `12 found, 2 not found`."""
    numbers = {
        words: sum(entry.outcome == kind for entry in references.entries) for kind, words in _OWN_OUTCOMES.items()
    }
    numbers["not known"] = sum(isinstance(entry.outcome, Absent) for entry in references.entries)
    return ", ".join(f"{format_count(number)} {words}" for words, number in numbers.items() if number)


def format_authors(reference: Reference | ReferenceRecord, max_names: int = 6) -> str:
    names = reference.authors
    if not names:
        return "Authors unknown"
    if len(names) <= max_names:
        return ", ".join(names)
    return f"{', '.join(names[: max_names - 1])} and {len(names) - max_names + 1} others"
