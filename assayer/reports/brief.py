"""What a brief of two pages says of a report: scores, what speaks for and against, what it rests on, what is not known.

It chooses and counts; every word of substance is the report's own. What is left out is counted.
"""

from typing import NamedTuple

from assayer.citing.labels import point_labels
from assayer.models import Absent, Citation, Frozen, Point, Reference, Report, Score, Verdict
from assayer.reports import citation_wording, reference_wording, wording
from assayer.reports.escaping import printable, web_url
from assayer.reports.scores import score_of, share

__all__ = ["BRIEF_SIZES", "Brief", "BriefLine", "BriefPoint", "BriefSize", "brief_of"]

_MOST_PARTS = 12
_LONGEST_NAME = 90
_ENDS = (".", "?", "!", "…")


class BriefSize(NamedTuple):
    """How much of a report is shown."""

    points: int
    """Of each kind."""
    quotes: int
    """Of each point."""
    characters: int
    """Of a text before it is cut."""
    references: int
    assessments: int
    """Of each part."""


BRIEF_SIZES = (
    BriefSize(4, 2, 700, 12, 12),
    BriefSize(3, 1, 500, 10, 8),
    BriefSize(3, 1, 280, 8, 5),
    BriefSize(2, 1, 160, 5, 3),
    BriefSize(1, 0, 120, 3, 0),
)
"""From the fullest; a brief takes the first that fits its two pages."""


class BriefLine(Frozen):
    name: str
    text: str
    share: float | None = None
    """Where a score lies on its scale, 0 to 1, to be drawn; None draws nothing."""


class BriefPoint(Frozen):
    text: str
    warning: str
    """Why it should not be relied on; empty for nothing known."""
    quotes: tuple[BriefLine, ...]
    """By label; what is known of the quote stands after it."""


class BriefGroup(Frozen):
    title: str
    points: tuple[BriefPoint, ...]
    left_out: int


class BriefPart(Frozen):
    title: str
    assessments: tuple[BriefLine, ...]
    left_out: int


class BriefReference(Frozen):
    label: str
    text: str
    url: str
    """Empty for none that may be a link."""
    warning: str


class Brief(Frozen):
    title: str
    source: str
    subtitle: str
    evaluation: str
    score: BriefLine
    facts: tuple[BriefLine, ...]
    """Certainty and corpus fit."""
    parts: tuple[BriefLine, ...]
    warnings: tuple[BriefLine, ...]
    proposal: str
    groups: tuple[BriefGroup, ...]
    details: tuple[BriefPart, ...]
    """The methods or dimensions of each part that has any."""
    references: tuple[BriefReference, ...]
    references_left_out: int
    unknown: tuple[str, ...]
    """What the evaluation could not check or find."""
    made_with: tuple[BriefLine, ...]
    year: int
    month: int
    day: int
    """When it was evaluated, in UTC."""


def brief_of(report: Report, size: BriefSize = BRIEF_SIZES[0]) -> Brief:
    groups = tuple(_groups(report, size))
    cited = _cited(report, size)
    started = report.usage.started_at
    return Brief(
        title=_clipped(report.idea.title, 300),
        source=_clipped(report.idea.source, 200),
        subtitle=_subtitle(report),
        evaluation=report.evaluation_id,
        score=_overall(report),
        facts=tuple(_facts(report)),
        parts=tuple(_parts(report)),
        warnings=tuple(_warnings(report, size)),
        proposal=_clipped(report.idea.text, size.characters),
        groups=groups,
        details=tuple(_details(report, size)),
        references=tuple(_reference(one) for one in cited[: size.references]),
        references_left_out=len(report.references) - min(len(cited), size.references),
        unknown=tuple(_unknown(report)),
        made_with=tuple(_made_with(report)),
        year=started.year,
        month=started.month,
        day=started.day,
    )


def _clipped(text: str, most: int) -> str:
    """On one line, cut between words."""
    line = " ".join(printable(text).split())
    if len(line) <= most:
        return line
    return line[: most - 1].rsplit(" ", 1)[0].rstrip(" ,;:") + "…"


def _subtitle(report: Report) -> str:
    method = wording.METHODS.get(report.method, report.method)
    until = f"literature up to {report.cutoff.isoformat()}" if report.cutoff else "no cutoff: all literature counts"
    blind = f"judged blind: {wording.masked_counts(report.idea.blinding)}" if report.idea.blinding else "not blinded"
    return f"{method} · {until} · {blind}"


def _overall(report: Report) -> BriefLine:
    score = score_of(report)
    if isinstance(score, Absent):
        return BriefLine(name="No total score", text=_clipped(score.reason, 400))
    return BriefLine(name=f"{100 * score:.0f} of 100", text="mean of the parts, each on its own scale", share=score)


def _facts(report: Report) -> list[BriefLine]:
    fit = report.coverage.corpus_fit
    said = f"unknown: {fit.reason}" if isinstance(fit, Absent) else f"{fit.level}. {fit.criterion}"
    return [BriefLine(name="Does the corpus cover the field?", text=_clipped(said, 220))]


def _parts(report: Report) -> list[BriefLine]:
    lines = [
        BriefLine(name=_clipped(part.title, _LONGEST_NAME), text=_figure(part.score), share=share(part.score))
        for part in report.parts[:_MOST_PARTS]
    ]
    if isinstance(report.verdict, Verdict):
        likely = sorted(report.verdict.probabilities, key=lambda one: -one.probability)[:3]
        said = ", ".join(f"{one.name} {one.probability:.0%}" for one in likely) or "none is named"
        lines.append(BriefLine(name="Outcomes of similar ideas", text=_clipped(said, 160)))
    return lines


def _details(report: Report, size: BriefSize) -> list[BriefPart]:
    return [
        BriefPart(
            title=_clipped(part.title, _LONGEST_NAME),
            assessments=tuple(
                BriefLine(name=_clipped(one.name, _LONGEST_NAME), text=_figure(one.score), share=share(one.score))
                for one in part.assessments[: size.assessments]
            ),
            left_out=max(0, len(part.assessments) - size.assessments),
        )
        for part in report.parts[:_MOST_PARTS]
        if part.assessments and size.assessments
    ]


def _figure(score: Score | Absent) -> str:
    if isinstance(score, Absent):
        return f"no score: {_clipped(score.reason, 160)}"
    scale = f"of {score.scale_max:g}" if score.scale_min == 0 else f"({score.scale_min:g} to {score.scale_max:g})"
    certainty = f", {score.certainty} certainty" if score.certainty else ""
    return f"{score.value:.1f} {scale}{certainty}"


def _warnings(report: Report, size: BriefSize) -> list[BriefLine]:
    lines: list[BriefLine] = []
    if report.release is not None and report.release.failed:
        below = ", ".join(wording.MINIMA[one.name].lower() for one in report.release.failed)
        lines.append(BriefLine(name="Incomplete", text=f"Below the minimum: {below}. No total is given."))
    lines += [
        BriefLine(name=wording.NOTICES[one.kind], text=_clipped(one.text, size.characters)) for one in report.notices
    ]
    return lines


def _groups(report: Report, size: BriefSize) -> list[BriefGroup]:
    named = (
        ("What speaks for it", report.summary.strengths),
        ("What speaks against it", report.summary.weaknesses),
        ("What would make it better", report.summary.suggestions),
    )
    return [
        BriefGroup(
            title=title,
            points=tuple(_point(point, size) for point in points[: size.points]),
            left_out=max(0, len(points) - size.points),
        )
        for title, points in named
    ]


def _point(point: Point, size: BriefSize) -> BriefPoint:
    warning = ""
    if point.downgraded:
        warning = "Unverified: none of its quotes could be verified in the sources."
    elif citation_wording.not_borne_out(point):
        warning = "Not borne out: none of the quotes that were checked supports it."
    quoted = [one for one in point.citations if one.quote]
    return BriefPoint(
        text=_clipped(point.text, size.characters),
        warning=" ".join(filter(None, (warning, citation_wording.missing_numbers(point)))),
        quotes=tuple(
            BriefLine(
                name=one.label,
                text=_quotes(one, size.characters // 2),
            )
            for one in quoted[: size.quotes]
        ),
    )


def _quotes(citation: Citation, characters: int) -> str:
    """The first, then those that the claim rests on besides."""
    first = f"“{_clipped(citation.quote or '', characters)}” ({citation_wording.quote_state(citation)})"
    further = (
        f"“{_clipped(one.quote, characters)}” ({citation_wording.further_state(one)})" for one in citation.further
    )
    return " and ".join((first, *further))


def _cited(report: Report, size: BriefSize) -> list[Reference]:
    """Those that the points shown rest on, in the report's order."""
    summary = report.summary
    shown = [*summary.strengths[: size.points], *summary.weaknesses[: size.points]]
    shown += summary.suggestions[: size.points]
    labels = {label for point in shown for label in point_labels(point)}
    return [one for one in report.references if one.label in labels]


def _reference(reference: Reference) -> BriefReference:
    """Never a link that could lead elsewhere than it says."""
    authors = _clipped(reference_wording.authors(reference), 120)
    title = _clipped(reference.title, 200)
    venue = f" {_clipped(reference.venue, 80)}." if reference.venue else ""
    return BriefReference(
        label=reference.label,
        text=f"{authors}. {title}{'' if title.endswith(_ENDS) else '.'}{venue} {reference_wording.year(reference)}.",
        url=web_url(reference.url) or "",
        warning=reference_wording.retraction(reference.retraction) if reference.retraction else "",
    )


def _unknown(report: Report) -> list[str]:
    coverage = report.coverage
    lines = [
        f"Read were {wording.count(coverage.papers_read, 'paper')} of {wording.count(coverage.papers_found)} found; "
        f"{wording.count(coverage.full_texts)} of them beyond the abstract."
    ]
    if coverage.quotes_unverified:
        lines.append(
            f"{wording.count(coverage.quotes_unverified, 'quote')} could not be verified, "
            f"{wording.count(coverage.quotes_verified)} could."
        )
    if coverage.troubles:
        sources = ", ".join(dict.fromkeys(one.source for one in coverage.troubles))
        lines.append(f"Some requests to {_clipped(sources, 120)} had no answer: what they would have found is missing.")
    lost = sum(one.met - one.recovered for one in coverage.faults)
    if lost:
        lines.append(f"{wording.count(lost, 'answer')} of the language model could not be used.")
    return lines


def _made_with(report: Report) -> list[BriefLine]:
    made = report.provenance
    lines = (
        ("Models", ", ".join(made.models) or "none: made without a language model"),
        ("Corpus", made.corpus_version),
        ("Cost", wording.money(made.cost_usd)),
        ("Program", f"assayer {made.assayer_version}"),
        ("Evaluated", wording.moment(report.usage.started_at)),
    )
    return [BriefLine(name=name, text=_clipped(text, 160)) for name, text in lines]
