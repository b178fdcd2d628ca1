"""The claims page shows every quote that a claim keeps, each with its source."""

from assayer.models import ClaimSupport, FurtherQuote, Report
from orchestrator.console.evidence_view import QuotedWords, evidence_of
from tests.unit.reports_fixture import full_report

SECOND, THIRD = "words of a second finding", "words of a third finding"


def _report(*further: FurtherQuote) -> tuple[Report, str]:
    """Return a report, and the text of its claim whose first citation has further quotes."""
    report = full_report()
    soundness, *others = report.parts
    first, *rest = soundness.assessments
    at, cited = next(
        (at, cited)
        for at, point in enumerate(first.points)
        for cited in point.citations
        if cited.quote_state == "verified"
    )
    support = ClaimSupport(outcome="supports", missing="")
    changed = cited.model_copy(update={"further": further, "support": support})
    point = first.points[at]
    citations = tuple(changed if citation is cited else citation for citation in point.citations)
    points = tuple(
        item if item is not point else item.model_copy(update={"citations": citations}) for item in first.points
    )
    part = soundness.model_copy(update={"assessments": (first.model_copy(update={"points": points}), *rest)})
    return report.model_copy(update={"parts": (part, *others)}), cited.quote or ""


def _shown(*further: FurtherQuote) -> list[QuotedWords]:
    report, words = _report(*further)
    claims = [claim for _, groups in evidence_of(report).parts for group in groups for claim in group.claims]
    wanted = next(claim for claim in claims if words in [quote.words for quote in claim.quotes])
    at = [quote.words for quote in wanted.quotes].index(words)
    assert len({quote.anchor for quote in wanted.quotes}) == len(wanted.quotes)
    return list(wanted.quotes[at : at + 1 + len(further)])


def test_further_quotes_share_the_source_and_outcome_follows_the_last() -> None:
    shown = _shown(FurtherQuote(quote=SECOND, place="abstract"), FurtherQuote(quote=THIRD))
    assert [item.words for item in shown[1:]] == [SECOND, THIRD]
    assert len({item.label for item in shown}) == 1
    assert shown[1].state == "quote found in the abstract"
    assert [item.support for item in shown] == ["", "", "with the quotes above, supports the claim"]


def test_single_quote_shows_its_outcome() -> None:
    assert [item.support for item in _shown()] == ["supports the claim"]
