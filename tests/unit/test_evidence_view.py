"""The claims page shows every quote that a claim keeps, each with its source."""

from assayer.models import ClaimSupport, FurtherQuote, Report
from orchestrator.console.evidence_view import QuoteView, build_evidence_view
from tests.unit.reports_fixture import make_full_report

SECOND, THIRD = "words of a second finding", "words of a third finding"


def make_report(*further: FurtherQuote) -> tuple[Report, str]:
    """Return a report, and the text of its claim whose first citation has further quotes."""
    report = make_full_report()
    soundness, *other_parts = report.parts
    first, *other_assessments = soundness.assessments
    place, cited = next(
        (place, cited)
        for place, point in enumerate(first.points)
        for cited in point.citations
        if cited.quote_state == "verified"
    )
    support = ClaimSupport(outcome="supports", missing="")
    changed = cited.model_copy(update={"further": further, "support": support})
    point = first.points[place]
    citations = tuple(changed if citation is cited else citation for citation in point.citations)
    points = tuple(
        item if item is not point else item.model_copy(update={"citations": citations}) for item in first.points
    )
    part = soundness.model_copy(
        update={"assessments": (first.model_copy(update={"points": points}), *other_assessments)}
    )
    return report.model_copy(update={"parts": (part, *other_parts)}), cited.quote or ""


def list_quote_views(*further: FurtherQuote) -> list[QuoteView]:
    report, words = make_report(*further)
    claims = [claim for _, groups in build_evidence_view(report).parts for group in groups for claim in group.claims]
    claim_with_quote = next(claim for claim in claims if words in [quote.words for quote in claim.quotes])
    place = [quote.words for quote in claim_with_quote.quotes].index(words)
    assert len({quote.anchor for quote in claim_with_quote.quotes}) == len(claim_with_quote.quotes)
    return list(claim_with_quote.quotes[place : place + 1 + len(further)])


def test_further_quotes_share_the_source_and_outcome_follows_the_last() -> None:
    quote_views = list_quote_views(FurtherQuote(quote=SECOND, place="abstract"), FurtherQuote(quote=THIRD))
    assert [item.words for item in quote_views[1:]] == [SECOND, THIRD]
    assert len({item.label for item in quote_views}) == 1
    assert quote_views[1].state == "quote found in the abstract"
    assert [item.support for item in quote_views] == ["", "", "with the quotes above, supports the claim"]


def test_single_quote_shows_its_outcome() -> None:
    assert [item.support for item in list_quote_views()] == ["supports the claim"]
