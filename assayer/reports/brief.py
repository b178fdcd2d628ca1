"""Brief of a report: its first page, condensed to at most two printed pages, with the papers that it cites.

A brief only selects from the report and counts what it leaves out. All substantive wording comes from the report."""

import datetime as dt
import re
from collections.abc import Sequence
from typing import NamedTuple

from assayer.citing.labels import find_point_labels
from assayer.models import (
    Absent,
    Citation,
    EvidenceReport,
    Frozen,
    NamedWork,
    PanelFinding,
    PanelReview,
    Point,
    Reference,
    Report,
    Score,
    Verdict,
)
from assayer.reports import citation_wording, reference_wording, wording
from assayer.reports.escaping import get_safe_url, remove_unprintable
from assayer.reports.scores import compute_share, compute_total_score

_MAX_PARTS = 12
_MAX_NAME_CHARS = 90
_SENTENCE_ENDS = (".", "?", "!", "…")
_MARKDOWN = re.compile(r"(?:(?<=\s)|^)#{1,6}\s+(?=[^\W\d_])|(?<!\w)\*\*(?=\w)|(?<=[\w.:?!])\*\*(?!\w)")
"""Pattern for the marks of Markdown headings and bold text, including within a line. It does not match `2 ** 3` or
`x**2`."""


class BriefSize(NamedTuple):
    """Limits on how much of a report a brief shows."""

    points: int
    """Maximum number of points of each kind."""
    quotes: int
    """Maximum number of quotes per point."""
    characters: int
    """Maximum number of characters in a text; longer texts are cut."""
    references: int


BRIEF_SIZES = (
    BriefSize(4, 2, 700, 12),
    BriefSize(3, 1, 500, 10),
    BriefSize(3, 1, 280, 8),
    BriefSize(2, 1, 160, 5),
    BriefSize(1, 0, 120, 3),
)
"""Brief sizes, largest first. A brief uses the first size that fits on two pages."""


class BriefLine(Frozen):
    name: str
    text: str
    share: float | None = None
    """Position of a score on its scale, 0 to 1, for drawing; if None, nothing is drawn."""


class BriefPoint(Frozen):
    text: str
    warning: str
    """Reason not to rely on the point; empty if none is known."""
    quotes: tuple[BriefLine, ...]
    """Quotes with their verification state, or, for a panel's finding, what the cited passages show. The name of each
    line is the source's label."""


class BriefGroup(Frozen):
    title: str
    points: tuple[BriefPoint, ...]
    left_out: int


class BriefReference(Frozen):
    label: str
    text: str
    url: str
    """URL of the reference; empty if there is none that is safe to use as a link."""
    warning: str


class Brief(Frozen):
    title: str
    source: str
    subtitle: str
    evaluation: str
    score: BriefLine
    facts: tuple[BriefLine, ...]
    """Facts about the evaluation, such as whether the corpus covers the field."""
    parts: tuple[BriefLine, ...]
    warnings: tuple[BriefLine, ...]
    verdict: str
    """The panel's verdict; empty if there was no panel."""
    groups: tuple[BriefGroup, ...]
    references: tuple[BriefReference, ...]
    references_left_out: int
    made_with: tuple[BriefLine, ...]
    day: dt.date
    """Date of the evaluation, in UTC."""


def build_brief(report: Report, size: BriefSize = BRIEF_SIZES[0]) -> Brief:
    cited_references, fit = _collect_cited_references(report, size), report.coverage.corpus_fit
    fit_text = f"unknown: {fit.reason}" if isinstance(fit, Absent) else f"{fit.level}. {fit.criterion}"
    return Brief(
        title=_clip(report.idea.title, 300),
        source=_clip(report.idea.source, 200),
        subtitle=_describe_method(report),
        evaluation=report.evaluation_id,
        score=_describe_overall_score(report),
        facts=(BriefLine(name="Does the corpus cover the field?", text=_clip(fit_text, 220)),),
        parts=tuple(_list_parts(report)),
        warnings=tuple(_list_warnings(report, size)),
        verdict=_clip(report.panel_review.verdict, size.characters) if report.panel_review else "",
        groups=tuple(_build_groups(report, size)),
        references=tuple(map(build_brief_reference, cited_references[: size.references])),
        references_left_out=len(report.references) - min(len(cited_references), size.references),
        made_with=tuple(_describe_production(report)),
        day=report.usage.started_at.date(),
    )


def _clip(text: str, max_chars: int) -> str:
    """Return the text on one line, without marks of Markdown headings and bold text, and cut between words if it is too
    long."""
    line = " ".join(_MARKDOWN.sub("", remove_unprintable(text)).split())
    if len(line) <= max_chars:
        return line
    return line[: max_chars - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def _describe_method(report: Report) -> str:
    method = wording.METHODS.get(report.method, report.method)
    period = f"literature up to {report.cutoff.isoformat()}" if report.cutoff else "no cutoff: papers of any date"
    blind = (
        f"judged blind: {wording.format_masked_counts(report.idea.blinding)}" if report.idea.blinding else "not blinded"
    )
    return f"{method} · {period} · {blind}"


def _describe_overall_score(report: Report) -> BriefLine:
    if report.panel_review is not None:
        return BriefLine(name="Review", text="two scores, each limited by a finding; they are never averaged")
    if report.evidence is not None:
        return BriefLine(name="Evidence", text="no language model was used, so nothing is scored")
    score = compute_total_score(report)
    if isinstance(score, Absent):
        return BriefLine(name="No total score", text=_clip(score.reason, 400))
    return BriefLine(
        name=f"{100 * score:.0f} of 100",
        text="the overall score if there is one, otherwise the lowest part score",
        share=score,
    )


def _list_parts(report: Report) -> list[BriefLine]:
    lines = [
        BriefLine(
            name=_clip(part.title, _MAX_NAME_CHARS), text=_format_score(part.score), share=compute_share(part.score)
        )
        for part in report.parts[:_MAX_PARTS]
    ]
    if isinstance(report.verdict, Verdict):
        likely = sorted(report.verdict.probabilities, key=lambda probability: -probability.probability)[:3]
        outcomes = ", ".join(f"{item.name} {item.probability:.0%}" for item in likely) or "none predicted"
        lines.append(BriefLine(name="Outcomes of similar ideas", text=_clip(outcomes, 160)))
    return lines


def _format_score(score: Score | Absent) -> str:
    if isinstance(score, Absent):
        return f"no score: {_clip(score.reason, 160)}"
    scale = f"of {score.scale_max:g}" if score.scale_min == 0 else f"({score.scale_min:g} to {score.scale_max:g})"
    certainty = f", {score.certainty} certainty" if score.certainty else ""
    return f"{score.value:.1f} {scale}{certainty}"


def _list_warnings(report: Report, size: BriefSize) -> list[BriefLine]:
    lines: list[BriefLine] = []
    if report.release is not None and report.release.failed and report.evidence is None:
        failed_minima = ", ".join(wording.MINIMA[item.name].lower() for item in report.release.failed)
        lines.append(
            BriefLine(
                name="Incomplete",
                text=f"Too low for a total: {failed_minima}; {wording.describe_incomplete(report).title}.",
            )
        )
    lines += [
        BriefLine(name=wording.NOTICES[notice.kind], text=_clip(notice.text, size.characters))
        for notice in report.notices
    ]
    return lines


def _build_panel_groups(review: PanelReview, size: BriefSize) -> list[BriefGroup]:
    """Return a panel's findings and the closest work, in the order of the report's first page. The supporting evidence
    is only in the full report."""
    titled_findings = (
        ("Strengths", review.strengths),
        ("Major weaknesses", review.major_weaknesses),
        ("Further points and questions", review.minor_points),
    )
    groups = [
        _build_group(title, [_build_panel_point(review, finding, size) for finding in findings], 3 * size.points)
        for title, findings in titled_findings
    ]
    closest = []
    for item in review.closest_works:
        if item.work_from_memory is not None:
            work = review.works_from_memory[item.work_from_memory]
            near_work = f"{wording.format_named_work(work.author, work.year)}, {work.title}: {work.relevance}"
        elif item.evidence is not None:
            near_work = f"[{review.evidence[item.evidence].label}] {review.evidence[item.evidence].conclusion}"
        closest.append(_build_plain_point(f"{near_work}. The plan adds: {item.difference}", size))
    named_groups = [
        _build_group(
            title,
            [_build_plain_point(_describe_named_work(review.works_from_memory[number]), size) for number in places],
            2 * size.points,
        )
        for title, places in wording.group_named_works(review)
    ]
    novelty, outlook, redesign = (
        [_build_plain_point(item.text, size)] if item else []
        for item in (review.novelty, review.outlook, review.redesign)
    )
    return [
        groups[0],
        _build_group("New against earlier work", novelty, 1),
        _build_group("Likely outcome and feasibility", outlook, 1),
        groups[1],
        _build_group("A stronger study", redesign, 1),
        groups[2],
        _build_group("Closest work", closest, size.points),
        *named_groups,
    ]


def _describe_named_work(work: NamedWork) -> str:
    citation = f"{wording.format_named_work(work.author, work.year)}, {work.title}"
    return f"{citation}. {wording.NAMED_ROLES[work.role]}: {work.relevance}."


def _build_evidence_groups(evidence: EvidenceReport, size: BriefSize) -> list[BriefGroup]:
    """Return the lists of an evidence report."""
    nearest_passages = sorted(evidence.closest_passages, key=lambda item: -item.similarity)
    titled_citations = (
        ("Closest work", [item.paper for item in nearest_passages]),
        ("Limitations stated by these papers", evidence.limitations),
        ("Comparisons made by these papers", evidence.comparisons),
    )
    groups = [
        _build_group(
            title, [_build_plain_point(f"[{item.label}] “{item.quote}”", size) for item in citations], 2 * size.points
        )
        for title, citations in titled_citations
    ]
    cited_points = [
        _build_plain_point(
            f"[{work.label}], cited by {', '.join(citing_paper.label for citing_paper in work.cited_by)}", size
        )
        for work in evidence.often_cited
    ]
    return [*groups, _build_group("Cited by several of these papers but not by the plan", cited_points, size.points)]


def _build_group(title: str, points: Sequence[BriefPoint], max_points: int) -> BriefGroup:
    return BriefGroup(title=title, points=tuple(points[:max_points]), left_out=max(0, len(points) - max_points))


def _build_plain_point(text: str, size: BriefSize) -> BriefPoint:
    return BriefPoint(text=_clip(text, size.characters), warning="", quotes=())


def _build_panel_point(review: PanelReview, finding: PanelFinding, size: BriefSize) -> BriefPoint:
    lead = f"{finding.headline}. " if finding.headline else ""
    fix = f" {finding.fix}" if finding.fix else ""
    named_works = "".join(f" ({work})" for work in wording.list_named_works(review, finding))
    evidence = [review.evidence[number] for number in finding.evidence]
    return BriefPoint(
        text=_clip(f"{lead}{finding.text}{fix}{named_works}", size.characters),
        warning="" if finding.plan.state == "verified" else "No passage of the plan is quoted in support.",
        quotes=tuple(BriefLine(name=item.label, text=item.conclusion) for item in evidence[: size.quotes]),
    )


def _build_groups(report: Report, size: BriefSize) -> list[BriefGroup]:
    if report.panel_review is not None:
        return _build_panel_groups(report.panel_review, size)
    if report.evidence is not None:
        return _build_evidence_groups(report.evidence, size)
    titled_points = (
        ("Strengths", report.summary.strengths),
        ("Weaknesses", report.summary.weaknesses),
        ("Suggestions", report.summary.suggestions),
    )
    return [
        _build_group(title, [_build_point(point, size) for point in points], size.points)
        for title, points in titled_points
    ]


def _build_point(point: Point, size: BriefSize) -> BriefPoint:
    warnings = (
        citation_wording.describe_warning(point),
        citation_wording.describe_gaps(point),
        citation_wording.describe_missing_numbers(point),
    )
    quoted_citations = [citation for citation in point.citations if citation.quote]
    return BriefPoint(
        text=_clip(point.text, size.characters),
        warning=" ".join(filter(None, warnings)),
        quotes=tuple(
            BriefLine(name=item.label, text=_format_quotes(item, size.characters // 2))
            for item in quoted_citations[: size.quotes]
        ),
    )


def _format_quotes(citation: Citation, characters: int) -> str:
    """Return the first quote, then the additional quotes that support the claim."""
    first_quote = f"“{_clip(citation.quote or '', characters)}” ({citation_wording.describe_quote_state(citation)})"
    further = (
        f"“{_clip(item.quote, characters)}” ({citation_wording.describe_further_quote_state(item)})"
        for item in citation.further
    )
    return " and ".join((first_quote, *further))


def _collect_cited_references(report: Report, size: BriefSize) -> list[Reference]:
    """Return the references cited by the points in the brief, in the report's order."""
    if report.panel_review is not None or report.evidence is not None:
        return list(report.references)
    summary = report.summary
    shown_points = [*summary.strengths[: size.points], *summary.weaknesses[: size.points]]
    shown_points += summary.suggestions[: size.points]
    labels = {label for point in shown_points for label in find_point_labels(point)}
    return [reference for reference in report.references if reference.label in labels]


def build_brief_reference(reference: Reference) -> BriefReference:
    """Return a reference as a brief prints it. `url` is empty unless it is safe to use as a link."""
    authors = _clip(reference_wording.format_authors(reference), 120)
    title = _clip(reference.title, 200)
    venue = f" {_clip(reference.venue, 80)}." if reference.venue else ""
    year = reference_wording.format_year(reference)
    return BriefReference(
        label=reference.label,
        text=f"{authors}. {title}{'' if title.endswith(_SENTENCE_ENDS) else '.'}{venue} {year}.",
        url=get_safe_url(reference.url) or "",
        warning=reference_wording.describe_retraction(reference.retraction) if reference.retraction else "",
    )


def _describe_production(report: Report) -> list[BriefLine]:
    provenance = report.provenance
    lines = (
        ("Models", ", ".join(provenance.models) or "none: made without a language model"),
        ("Corpus", provenance.corpus_version),
        ("Cost", wording.format_money(provenance.cost_usd)),
        ("Program", f"assayer {provenance.assayer_version}"),
        ("Evaluated", wording.format_moment(report.usage.started_at)),
    )
    return [BriefLine(name=name, text=_clip(text, 160)) for name, text in lines]
