"""Results of the check of claims against their quotes, as a reader sees them."""

import html
import re
from collections.abc import Callable

import pytest

from assayer.models import Absent, ClaimCounts, ClaimSupport, FurtherQuote, Point, Report, SupportOutcome
from assayer.reports.brief import BRIEF_SIZES, build_brief
from assayer.reports.html import render_html
from assayer.reports.markdown import render_report_markdown
from tests.unit.reports_fixture import make_full_report

RENDERINGS = pytest.mark.parametrize(
    "render", [lambda report: html.unescape(render_html(report)), render_report_markdown]
)


def make_support(outcome: SupportOutcome, missing_part: str = "Nothing on <images>.") -> ClaimSupport:
    return ClaimSupport(outcome=outcome, missing=missing_part)


def make_report(support: ClaimSupport | Absent | None, claims: ClaimCounts | None = None) -> Report:
    """Return a report in which every citation with a quote has the same outcome, from a model."""
    report = make_full_report()
    soundness, *other_parts = report.parts
    first, *other_assessments = soundness.assessments
    points = tuple(
        point.model_copy(
            update={
                "citations": tuple(citation.model_copy(update={"support": support}) for citation in point.citations)
            }
        )
        for point in first.points
    )
    part = soundness.model_copy(
        update={"assessments": (first.model_copy(update={"points": points}), *other_assessments)}
    )
    return report.model_copy(
        update={
            "parts": (part, *other_parts),
            "summary": report.summary.model_copy(update={"strengths": points}),
            "coverage": report.coverage.model_copy(update={"claims": claims}),
            "provenance": report.provenance.model_copy(update={"models": ("a model",)}),
        }
    )


@RENDERINGS
@pytest.mark.parametrize(
    ("outcome", "words"),
    [
        ("supports", "supports the claim"),
        ("partly", "supports the claim only in part"),
        ("not", "does not support the claim"),
        ("contradicts", "contradicts the claim"),
    ],
)
def test_support_outcome_is_shown_with_quote(
    render: Callable[[Report], str], outcome: SupportOutcome, words: str
) -> None:
    page = render(make_report(make_support(outcome)))
    assert words in page
    assert ("Missing or denied: Nothing on" in page) == (outcome != "supports")
    assert ("Not supported:" in page) == (outcome in ("not", "contradicts"))


@RENDERINGS
def test_what_a_partly_supported_claim_lacks_is_shown_beside_the_claim(render: Callable[[Report], str]) -> None:
    report = make_report(make_support("partly"))
    point = report.summary.strengths[0]
    lacking = f"{point.citations[0].label} supports the claim only in part. Missing or denied: Nothing on"
    page = render(report).replace("\\", "")
    assert lacking in page[page.index("Strengths") : page.index("Weaknesses")]


@RENDERINGS
def test_passage_with_several_outcomes_does_not_name_one_claim(render: Callable[[Report], str]) -> None:
    report = make_report(make_support("partly"))
    points = [
        point.model_copy(
            update={
                "citations": tuple(
                    item.model_copy(update={"support": make_support("supports")}) for item in point.citations
                )
            }
        )
        for point in report.summary.strengths
    ]
    page = render(report.model_copy(update={"summary": report.summary.model_copy(update={"strengths": points})}))
    assert "supports a claim only in part" in page
    assert re.search(r"✓(</span>)? supports a claim", page)


@RENDERINGS
def test_reason_for_unchecked_claim_is_shown(render: Callable[[Report], str]) -> None:
    assert "Reason: the budget was spent." in render(make_report(Absent(reason="the budget was spent.")))


@RENDERINGS
def test_coverage_counts_checked_claims_by_outcome(render: Callable[[Report], str]) -> None:
    counts = ClaimCounts(supported=12, partly_supported=3, not_supported=0, contradicted=1, unchecked=2)
    page = render(make_report(None, counts)).replace("<strong>", "").replace("</strong>", "").replace("**", "")
    assert "12 supported, 3 supported in part, 1 contradicted, 2 not checked" in page


def test_missing_support_text_is_escaped() -> None:
    assert "Nothing on &lt;images&gt;." in render_html(make_report(make_support("partly")))


@pytest.mark.parametrize("support", [make_support("supports"), make_support("partly"), None])
@RENDERINGS
def test_further_quote_is_shown_once_with_its_location(
    render: Callable[[Report], str], support: ClaimSupport | None
) -> None:
    page = render(add_further_quotes(make_report(support)))
    assert page.count("words of a second finding") == 1
    assert "quote found in “4 Costs”" in page
    assert page.index("words of a second finding") < page.index("quote found in “4 Costs”")


def test_the_brief_has_the_further_quotes_of_its_points() -> None:
    report = make_full_report()
    strengths = add_further_quotes_to_points(report.summary.strengths)
    report_with_quotes = report.model_copy(
        update={"summary": report.summary.model_copy(update={"strengths": strengths})}
    )
    texts = [
        line.text
        for group in build_brief(report_with_quotes, BRIEF_SIZES[0]).groups
        for point in group.points
        for line in point.quotes
    ]
    assert any("” (quote found" in text and "and “words of a second finding" in text for text in texts)


def add_further_quotes(report: Report) -> Report:
    """Add further quotes to the first citation of the first point with a verified quote."""
    soundness, *other_parts = report.parts
    first, *other_assessments = soundness.assessments
    part = soundness.model_copy(
        update={
            "assessments": (
                first.model_copy(update={"points": add_further_quotes_to_points(first.points)}),
                *other_assessments,
            )
        }
    )
    return report.model_copy(update={"parts": (part, *other_parts)})


def add_further_quotes_to_points(points: tuple[Point, ...]) -> tuple[Point, ...]:
    place = next(
        index for index, point in enumerate(points) if any(c.quote_state == "verified" for c in point.citations)
    )
    cited = list(points[place].citations)
    index = next(index for index, item in enumerate(cited) if item.quote_state == "verified")
    further_quote = FurtherQuote(quote="words of a second finding <b>", place="4 Costs")
    cited[index] = cited[index].model_copy(update={"further": (further_quote,)})
    return (*points[:place], points[place].model_copy(update={"citations": tuple(cited)}), *points[place + 1 :])
