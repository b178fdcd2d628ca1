"""A report's numbered claims with the quotes cited for them, and its sources with the claims that cite them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from assayer.citing.labels import find_point_labels, split_at_labels
from assayer.models import Assessment, Citation, ClaimSupport, Label, Part, Point, Reference, Report, Score, Summary
from assayer.reports import citation_wording, reference_wording
from assayer.reports.escaping import get_safe_url
from assayer.reports.wording import KINDS, format_count, group_points_by_kind
from orchestrator.jobs.report_figures import CERTAINTIES

_SUMMARY_FIELDS = (("strength", "strengths"), ("weakness", "weaknesses"), ("suggestion", "suggestions"))


class QuoteView(NamedTuple):
    anchor: str
    label: Label
    words: str
    is_verified: bool
    state: str
    """Whether the quote was verified, in words."""
    support: str
    """Result of checking whether the quote supports the claim; empty if unchecked."""


class NumberedClaim(NamedTuple):
    number: int
    pointer: str
    """The claim's path in the report, to which reviewers' judgements refer, such as
    `/parts/0/assessments/1/points/2`."""
    words: tuple[tuple[str, Label | None], ...]
    """The claim's text, split so that source labels are separate items."""
    quotes: tuple[QuoteView, ...]
    labels: tuple[Label, ...]
    """Sources that the claim cites, without duplicates."""
    unnamed_labels: tuple[Label, ...]
    """Cited sources that the claim's text does not name."""
    warning: str

    @property
    def anchor(self) -> str:
        return f"claim-{self.number}"


class ClaimGroup(NamedTuple):
    title: str
    claims: tuple[NumberedClaim, ...]


class SourceView(NamedTuple):
    reference: Reference
    authors: str
    year: str
    link: str | None
    retraction: str
    claims: tuple[NumberedClaim, ...]
    """Claims that cite the source."""


class EvidenceView(NamedTuple):
    summary: tuple[ClaimGroup, ...]
    parts: tuple[tuple[str, tuple[ClaimGroup, ...]], ...]
    """The title of each part of the report (method or dimension), with its claims."""
    sources: tuple[SourceView, ...]
    certainties: Mapping[str, str]
    """A sentence about the certainty of each part's scores, by the part's name; parts that state no certainty are
    omitted."""


class _ClaimNumbering:
    def __init__(self, known_labels: Iterable[Label]) -> None:
        self._known_labels = frozenset(known_labels)
        self.claims: list[NumberedClaim] = []

    def number_points(self, title: str, points: Iterable[tuple[str, Point]]) -> ClaimGroup:
        """Number points, and return them as a group of claims. Each point comes with its path in the report."""
        return ClaimGroup(title, tuple(self._number_point(pointer, point) for pointer, point in points))

    def _number_point(self, pointer: str, point: Point) -> NumberedClaim:
        number = len(self.claims) + 1
        quotes = [words for citation in point.citations if citation.quote for words in _list_quotes(citation)]
        labels = tuple(
            dict.fromkeys(point_label for point_label in find_point_labels(point) if point_label in self._known_labels)
        )
        words = tuple(split_at_labels(point.text, self._known_labels))
        claim = NumberedClaim(
            number=number,
            pointer=pointer,
            words=words,
            quotes=tuple(
                quote._replace(anchor=f"quote-{number}-{quote_number}") for quote_number, quote in enumerate(quotes, 1)
            ),
            labels=labels,
            unnamed_labels=tuple(
                cited_label for cited_label in labels if cited_label not in {label for _, label in words}
            ),
            warning=citation_wording.describe_warning(point) or citation_wording.describe_missing_numbers(point),
        )
        self.claims.append(claim)
        return claim


def build_evidence_view(report: Report) -> EvidenceView:
    """Return a report's evidence, with claims numbered in the order in which they appear on the page."""
    numbering = _ClaimNumbering(reference.label for reference in report.references)
    summary = tuple(_number_summary(numbering, report.summary))
    parts = tuple(
        (
            part.title,
            tuple(
                _number_assessment(numbering, f"/parts/{part_index}/assessments/{index}", assessment)
                for index, assessment in enumerate(part.assessments)
                if assessment.points
            ),
        )
        for part_index, part in enumerate(report.parts)
    )
    return EvidenceView(
        summary=summary,
        parts=tuple((title, groups) for title, groups in parts if groups),
        sources=tuple(_build_source_view(reference, numbering.claims) for reference in report.references),
        certainties={part.name: certainties for part in report.parts if (certainties := _describe_certainty(part))},
    )


def _describe_certainty(part: Part) -> str:
    """Describe how certain a part's scores are, such as `Of 3 scores in this part: 2 with high certainty, 1 without
    stated certainty.` Empty if no score states its certainty."""
    counts = Counter(
        assessment.score.certainty for assessment in part.assessments if isinstance(assessment.score, Score)
    )
    if not counts.keys() - {None}:
        return ""
    phrases = [
        f"{counts[certainty]} with {certainty} certainty" for certainty in reversed(CERTAINTIES) if counts[certainty]
    ]
    unstated = [f"{counts[None]} without stated certainty"] if counts[None] else []
    return f"Of {format_count(counts.total(), 'score')} in this part: {', '.join(phrases + unstated)}."


def _number_summary(numbering: _ClaimNumbering, summary: Summary) -> Iterable[ClaimGroup]:
    for kind, field in _SUMMARY_FIELDS:
        if points := getattr(summary, field):
            located = ((f"/summary/{field}/{index}", point) for index, point in enumerate(points))
            yield numbering.number_points(KINDS[kind], located)


def _number_assessment(numbering: _ClaimNumbering, pointer: str, assessment: Assessment) -> ClaimGroup:
    """Return an assessment's points, grouped by kind in the usual order."""
    located = [(f"{pointer}/points/{index}", point) for index, point in enumerate(assessment.points)]
    order = [kind for kind, _ in group_points_by_kind(assessment.points)]
    return numbering.number_points(
        assessment.name, sorted(located, key=lambda located_point: order.index(located_point[1].kind))
    )


def _list_quotes(citation: Citation) -> Iterable[QuoteView]:
    """Yield a citation's quotes. Their anchors are assigned later, for all of the claim's quotes together. If there are
    several quotes from a paper, the last one states the result of checking the claim against all of them."""
    support = citation_wording.SUPPORT[citation.support.outcome] if isinstance(citation.support, ClaimSupport) else ""
    first = QuoteView(
        anchor="",
        label=citation.label,
        words=citation.quote or "",
        is_verified=citation.quote_state == "verified",
        state=citation_wording.describe_quote_state(citation),
        support="" if citation.further else support,
    )
    yield first
    for further_quote in citation.further:
        is_last = further_quote is citation.further[-1]
        state = citation_wording.describe_further_quote_state(further_quote)
        words = f"with the quotes above, {support}" if support and is_last else ""
        yield first._replace(words=further_quote.quote, state=state, support=words)


def _build_source_view(reference: Reference, claims: Iterable[NumberedClaim]) -> SourceView:
    return SourceView(
        reference=reference,
        authors=reference_wording.format_authors(reference),
        year=reference_wording.format_year(reference),
        link=get_safe_url(reference.url),
        retraction=reference_wording.describe_retraction(reference.retraction) if reference.retraction else "",
        claims=tuple(claim for claim in claims if reference.label in claim.labels),
    )
