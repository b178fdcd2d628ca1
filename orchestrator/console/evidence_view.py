"""The claims of a report with numbers, the quotes that carry them, and the sources with what is said of them."""

from collections import Counter
from collections.abc import Iterable, Mapping
from typing import NamedTuple

from assayer.citing.labels import point_labels, segments
from assayer.models import Assessment, Citation, ClaimSupport, Label, Part, Point, Reference, Report, Score, Summary
from assayer.reports import citation_wording, reference_wording
from assayer.reports.escaping import web_url
from assayer.reports.wording import KINDS, count, points_by_kind
from orchestrator.jobs.report_figures import CERTAINTIES

__all__ = ["ClaimGroup", "EvidenceView", "NumberedClaim", "QuotedWords", "SourceView", "evidence_of"]

_SUMMARY = (("strength", "strengths"), ("weakness", "weaknesses"), ("suggestion", "suggestions"))


class QuotedWords(NamedTuple):
    anchor: str
    label: Label
    words: str
    found: bool
    state: str
    """What is known of the quote."""
    support: str
    """Whether the words bear the claim out; empty where nobody checked."""


class NumberedClaim(NamedTuple):
    number: int
    pointer: str
    """Where it stands in the report, as people judge it by: `/parts/0/assessments/1/points/2`."""
    words: tuple[tuple[str, Label | None], ...]
    """Its text; labels of sources by themselves."""
    quotes: tuple[QuotedWords, ...]
    labels: tuple[Label, ...]
    """Sources that it cites, each once."""
    unnamed: tuple[Label, ...]
    """Those of them that its text does not name."""
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
    """Those that cite it."""


class EvidenceView(NamedTuple):
    summary: tuple[ClaimGroup, ...]
    parts: tuple[tuple[str, tuple[ClaimGroup, ...]], ...]
    """By the part's title: what was said of each method or dimension."""
    sources: tuple[SourceView, ...]
    certainties: Mapping[str, str]
    """By the part's name: how certain its single scores are; none where nothing is said of it."""


class _Counter:
    def __init__(self, known: Iterable[Label]) -> None:
        self._known = frozenset(known)
        self.claims: list[NumberedClaim] = []

    def group(self, title: str, points: Iterable[tuple[str, Point]]) -> ClaimGroup:
        """Points with their places in the report."""
        return ClaimGroup(title, tuple(self._claim(pointer, point) for pointer, point in points))

    def _claim(self, pointer: str, point: Point) -> NumberedClaim:
        number = len(self.claims) + 1
        quoted = [words for one in point.citations if one.quote for words in _quoted(one)]
        labels = tuple(dict.fromkeys(one for one in point_labels(point) if one in self._known))
        words = tuple(segments(point.text, self._known))
        claim = NumberedClaim(
            number=number,
            pointer=pointer,
            words=words,
            quotes=tuple(one._replace(anchor=f"quote-{number}-{place}") for place, one in enumerate(quoted, 1)),
            labels=labels,
            unnamed=tuple(one for one in labels if one not in {label for _, label in words}),
            warning=_warning(point),
        )
        self.claims.append(claim)
        return claim


def evidence_of(report: Report) -> EvidenceView:
    """Claims are numbered in the order in which they stand on the page."""
    counter = _Counter(one.label for one in report.references)
    summary = tuple(_of_summary(counter, report.summary))
    parts = tuple(
        (
            part.title,
            tuple(
                _of_assessment(counter, f"/parts/{at}/assessments/{place}", one)
                for place, one in enumerate(part.assessments)
                if one.points
            ),
        )
        for at, part in enumerate(report.parts)
    )
    return EvidenceView(
        summary=summary,
        parts=tuple((title, groups) for title, groups in parts if groups),
        sources=tuple(_source(one, counter.claims) for one in report.references),
        certainties={part.name: said for part in report.parts if (said := _certainties(part))},
    )


def _certainties(part: Part) -> str:
    """`Of 3 scores in it: 2 with high certainty, 1 without a word on it.`; empty where none has one."""
    found = Counter(one.score.certainty for one in part.assessments if isinstance(one.score, Score))
    if not found.keys() - {None}:
        return ""
    told = [f"{found[one]} with {one} certainty" for one in reversed(CERTAINTIES) if found[one]]
    silent = [f"{found[None]} without a word on it"] if found[None] else []
    return f"Of {count(found.total(), 'score')} in it: {', '.join(told + silent)}."


def _of_summary(counter: _Counter, summary: Summary) -> Iterable[ClaimGroup]:
    for kind, field in _SUMMARY:
        if points := getattr(summary, field):
            placed = ((f"/summary/{field}/{place}", point) for place, point in enumerate(points))
            yield counter.group(KINDS[kind], placed)


def _of_assessment(counter: _Counter, place: str, assessment: Assessment) -> ClaimGroup:
    """Points by their kinds, in the order in which readers expect these."""
    placed = [(f"{place}/points/{at}", point) for at, point in enumerate(assessment.points)]
    order = [kind for kind, _ in points_by_kind(assessment.points)]
    return counter.group(assessment.name, sorted(placed, key=lambda one: order.index(one[1].kind)))


def _quoted(citation: Citation) -> Iterable[QuotedWords]:
    """Anchors are given to all quotes of a claim. Where several of a paper are kept, the last tells what the check of
    the claim against all of them came to."""
    support = citation_wording.support(citation.support) if isinstance(citation.support, ClaimSupport) else ""
    first = QuotedWords(
        anchor="",
        label=citation.label,
        words=citation.quote or "",
        found=citation.quote_state == "verified",
        state=citation_wording.quote_state(citation),
        support="" if citation.further else support,
    )
    yield first
    for one in citation.further:
        last = one is citation.further[-1]
        state = citation_wording.further_state(one)
        told = f"with the words above, {support}" if support and last else ""
        yield first._replace(words=one.quote, state=state, support=told)


def _warning(point: Point) -> str:
    if point.downgraded:
        return "Unverified: none of its quotes could be verified in the sources."
    if citation_wording.not_borne_out(point):
        return "Not borne out: none of the quotes that were checked supports it."
    return citation_wording.missing_numbers(point)


def _source(reference: Reference, claims: Iterable[NumberedClaim]) -> SourceView:
    return SourceView(
        reference=reference,
        authors=reference_wording.authors(reference),
        year=reference_wording.year(reference),
        link=web_url(reference.url),
        retraction=reference_wording.retraction(reference.retraction) if reference.retraction else "",
        claims=tuple(claim for claim in claims if reference.label in claim.labels),
    )
