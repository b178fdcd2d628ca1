"""Passages that a report relies on, each listed once and grouped by paper, for the evidence section of its pages."""

from collections.abc import Iterator
from typing import NamedTuple

from assayer.models import Absent, Citation, ClaimSupport, Label, PanelReview, Point, Report
from assayer.reports import citation_wording, wording


class ShownPassage(NamedTuple):
    """Statement about a paper, with the paper's words that support it."""

    lead: str
    """Subject that the paper was read for, and how it relates to the plan; empty if only a point quotes the passage."""
    text: str
    """Statement about the paper; empty if only a point quotes the passage."""
    quote: Citation | None
    supports: tuple[ClaimSupport | Absent, ...]
    """Results of checking claims against the quote, one for each outcome that occurred."""
    warning: str = ""
    """Warning about numbers in the statement that were not found; empty if all were found."""
    further_leads: tuple[str, ...] = ()
    """Other subjects for which the paper was read and the same words were quoted, as in `lead`."""


def collect_passages(report: Report) -> dict[Label, list[ShownPassage]]:
    """Return each reference's passages, keyed by label. A passage that several points and readings quote is listed
    once. Readings in which the paper says nothing relevant are left out."""
    shown_by_label: dict[Label, list[ShownPassage]] = {reference.label: [] for reference in report.references}
    passages = _list_panel_passages(report.panel_review) if report.panel_review else _list_read_passages(report)
    printed_places: dict[tuple[Label, str | None], int] = {}
    for label, passage in passages:
        if label not in shown_by_label:
            continue
        words = passage.quote.quote if passage.quote else None
        place = printed_places.get((label, words)) if words else None
        if place is None:
            if words:
                printed_places[label, words] = len(shown_by_label[label])
            shown_by_label[label].append(passage)
            continue
        earlier_passage = shown_by_label[label][place]
        shown_by_label[label][place] = _merge_passages(earlier_passage, passage)
        if passage.text and passage.text != earlier_passage.text:
            shown_by_label[label].append(passage._replace(quote=None, supports=()))
    return shown_by_label


def _merge_passages(earlier: ShownPassage, later: ShownPassage) -> ShownPassage:
    """Merge two passages that quote the same words: keep the earlier one, with the additional quotes and check results
    of both."""
    assert earlier.quote is not None  # noqa: S101 - both have the same words
    assert later.quote is not None  # noqa: S101
    further = tuple(dict.fromkeys((*earlier.quote.further, *later.quote.further)))
    return earlier._replace(
        quote=earlier.quote.model_copy(update={"further": further, "support": later.quote.support}),
        further_leads=(*earlier.further_leads, later.lead) if later.lead else earlier.further_leads,
        supports=tuple(
            {
                None if isinstance(outcome, Absent) else outcome.outcome: outcome
                for outcome in (*later.supports, *earlier.supports)
            }.values()
        ),
    )


def _list_panel_passages(review: PanelReview) -> Iterator[tuple[Label, ShownPassage]]:
    for item in review.evidence:
        yield item.label, _build_passage(wording.RELATIONS[item.relation], f"{item.conclusion}.", item.quote)


def _list_read_passages(report: Report) -> Iterator[tuple[Label, ShownPassage]]:
    for part in report.parts:
        for assessment in part.assessments:
            for reading in assessment.readings:
                if reading.stance is not None or reading.quote is not None:
                    lead = f"{assessment.name}: {wording.describe_stance(reading.stance, part.name)}"
                    passage = _build_passage(lead, reading.text, reading.quote)
                    warning = citation_wording.describe_missing_numbers(reading)
                    yield reading.label, passage._replace(warning=warning)
    for point in _collect_points(report):
        for citation in point.citations:
            if citation.quote_state == "verified":
                yield citation.label, _build_passage("", "", citation)


def _collect_points(report: Report) -> Iterator[Point]:
    summaries = [report.summary, *(part.summary for part in report.parts if not isinstance(part.summary, Absent))]
    for summary in summaries:
        yield from (*summary.strengths, *summary.weaknesses, *summary.suggestions)
    for part in report.parts:
        for assessment in part.assessments:
            yield from assessment.points
    if report.board and not isinstance(report.board.advice, Absent):
        yield from report.board.advice


def _build_passage(lead: str, text: str, quote: Citation | None) -> ShownPassage:
    supports = () if quote is None or quote.support is None else (quote.support,)
    return ShownPassage(lead, text, quote if quote and quote.quote else None, supports)
