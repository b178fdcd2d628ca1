"""What the check of claims against their quotes came to, as a reader sees it."""

import html
from collections.abc import Callable

import pytest

from assayer.models import Absent, ClaimCounts, ClaimSupport, Report
from assayer.models.assessment import SupportOutcome
from assayer.reports.html import as_html
from assayer.reports.markdown import as_markdown
from tests.unit.reports_fixture import full_report

RENDERINGS = pytest.mark.parametrize("render", [lambda report: html.unescape(as_html(report)), as_markdown])


def _found(outcome: SupportOutcome, by_model: bool = True, missing: str = "Nothing on <images>.") -> ClaimSupport:
    return ClaimSupport(outcome=outcome, missing=missing, judged_by="model" if by_model else "overlap")


def _report(support: ClaimSupport | Absent | None, claims: ClaimCounts | None = None) -> Report:
    """Every citation with a quote carries the same outcome; a model answered."""
    report = full_report()
    soundness, *others = report.parts
    first, *rest = soundness.assessments
    points = tuple(
        point.model_copy(
            update={"citations": tuple(one.model_copy(update={"support": support}) for one in point.citations)}
        )
        for point in first.points
    )
    part = soundness.model_copy(update={"assessments": (first.model_copy(update={"points": points}), *rest)})
    return report.model_copy(
        update={
            "parts": (part, *others),
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
def test_the_outcome_stands_beside_the_claim(
    render: Callable[[Report], str], outcome: SupportOutcome, words: str
) -> None:
    page = render(_report(_found(outcome)))
    assert words in page
    assert ("Missing or denied: Nothing on" in page) == (outcome != "supports")
    assert ("Not borne out" in page) == (outcome in ("not", "contradicts"))


@RENDERINGS
def test_why_a_claim_was_not_checked_is_said(render: Callable[[Report], str]) -> None:
    assert "Reason: the budget was spent." in render(_report(Absent(reason="the budget was spent.")))


@RENDERINGS
def test_a_report_of_before_calls_its_quotes_found_and_its_claims_not_checked(render: Callable[[Report], str]) -> None:
    page = render(_report(None))
    assert "quote found, claim not checked" in page
    assert "supports the claim" not in page


@RENDERINGS
def test_without_a_model_only_what_was_measured_is_said(render: Callable[[Report], str]) -> None:
    page = render(_report(_found("not", by_model=False, missing="Words of the claim that the quote does not have: x.")))
    assert "far from the claim in wording" in page
    assert "does not support" not in page
    assert "Not borne out" not in page


@RENDERINGS
def test_coverage_counts_what_was_checked(render: Callable[[Report], str]) -> None:
    counts = ClaimCounts(supported=12, partly_supported=3, not_supported=0, contradicted=1, unchecked=2)
    page = render(_report(None, counts)).replace("<strong>", "").replace("</strong>", "").replace("**", "")
    assert "12 supported, 3 supported in part, 1 contradicted, 2 not checked" in page


@RENDERINGS
def test_coverage_without_a_model_says_what_the_check_is_worth(render: Callable[[Report], str]) -> None:
    counts = ClaimCounts(supported=12, partly_supported=3, not_supported=1, contradicted=0, unchecked=0)
    report = _report(None, counts)
    page = render(report.model_copy(update={"provenance": full_report().provenance.model_copy(update={"models": ()})}))
    assert "cannot tell a claim from its opposite" in page


def test_what_is_missing_is_escaped() -> None:
    assert "Nothing on &lt;images&gt;." in as_html(_report(_found("partly")))
