"""The evidence report: closest papers with quotes, what they name and cite, no scores and no points."""

import pytest

from assayer.citing.evidence import Evidence
from assayer.methods.check import CheckOptions
from assayer.methods.check.named_passages import find_comparisons, find_limitations
from assayer.models import Absent, EvidenceReport, FullText, PaperId, ReleaseMinima, Report, Section
from assayer.plan_review.checklist import find_reliable_gaps
from assayer.reports.html import render_html
from assayer.reports.markdown import MAX_WORDS, render_report_markdown
from assayer.reports.release import measure_release
from tests.unit.evidence_reports import make_evidence_report
from tests.unit.reports_document import Document
from tests.unit.scholareval_questions import IDEA
from tests.unit.scholareval_runs import make_corpus_papers

REEFS = """# Reefs

We record the sounds of coral reefs at night, count shrimps by their snapping, and ask whether restored reefs sound like
healthy ones after two years.
"""


def get_evidence(report: Report) -> EvidenceReport:
    assert report.evidence is not None
    return report.evidence


async def test_check_report_has_verified_quotes_without_scores() -> None:
    report = await make_evidence_report()
    assert (report.parts, report.verdict, report.plan_review) == ((), None, None)
    assert not any(report.summary.model_dump().values())
    evidence = get_evidence(report)
    assert evidence.closest_passages
    abstracts = {corpus_paper.id: corpus_paper.abstract for corpus_paper in make_corpus_papers()}
    ids = {reference.label: reference.id for reference in report.references}
    for citation in (*(item.paper for item in evidence.closest_passages), *evidence.limitations, *evidence.comparisons):
        assert citation.quote_state == "verified"
        assert citation.quote
        assert citation.quote in abstracts[ids[citation.label]]
    labels = {item.paper.label for item in evidence.closest_passages}
    assert len(labels) == len(evidence.closest_passages) <= CheckOptions().shown, (
        "each is listed once, at its nearest part"
    )
    plan = " ".join(IDEA.split())
    assert all(item.plan.removesuffix(" …") in plan for item in evidence.closest_passages)


async def test_pages_print_each_passage_once_without_scores() -> None:
    report = await make_evidence_report()
    evidence = get_evidence(report)
    cited = [*(item.paper for item in evidence.closest_passages), *evidence.limitations, *evidence.comparisons]
    plan = " ".join(item.plan for item in evidence.closest_passages)
    text = render_report_markdown(report)
    assert len(text.split()) <= MAX_WORDS
    assert text.count("\n| [P") == len(evidence.closest_passages)
    for page in (Document(render_html(report)).text, text):
        assert sum(page.count(citation.quote or "?") for citation in {item.quote: item for item in cited}.values()) <= (
            len(cited) + plan.count("We train a small reader")
        )
        assert "no score" not in page.lower().replace("no scores", "")
        assert "not judged" in page.lower()


async def test_missing_scores_alone_do_not_mark_a_report_incomplete() -> None:
    report = await make_evidence_report()
    judged_minimum = next(item for item in measure_release(report, ReleaseMinima()).minima if item.name == "judged")
    assert judged_minimum.is_met
    assert judged_minimum.measured == Absent(reason="No language model judged the idea.")


async def test_distant_papers_are_omitted_when_corpus_does_not_cover_field() -> None:
    strangers = await make_evidence_report(REEFS, is_poor=True)
    assert strangers.references == ()
    assert get_evidence(strangers).closest_passages == ()
    assert "No close paper was found in the sources searched." in render_report_markdown(strangers)


async def test_checklist_gaps_are_listed_only_when_requested() -> None:
    requested_report, default_report = await make_evidence_report(with_checklist=True), await make_evidence_report()
    assert get_evidence(default_report).not_stated is None
    assert "Not stated" not in render_report_markdown(default_report)
    gaps = get_evidence(requested_report).not_stated
    assert not isinstance(gaps, Absent)
    assert gaps
    assert "Possibly not stated" in render_report_markdown(requested_report)


@pytest.mark.parametrize("item", ["sample_size", "comparator", "ethics", "measure"])
def test_unreliable_checklist_items_are_never_listed(item: str) -> None:
    gaps = find_reliable_gaps("We train a model and test it on people and their data. " * 8)
    assert not isinstance(gaps, Absent)
    assert gaps
    assert item not in {row.item for row in gaps}


def make_evidence(text: str) -> Evidence:
    return Evidence(label="P1", paper_id=PaperId("one"), title="A title", year=2020, text=text)


def test_limitations_are_quoted_from_their_own_section_first() -> None:
    evidence = make_evidence("We measure recall in mice. We did not test other animals in this long maze.")
    section = Section(
        title="5 Limitations",
        text="All forty mice were young males of one inbred strain. "
        "Whether old rats recall a maze in the same way is unknown.",
    )
    full = FullText(paper_id=PaperId("one"), sections=(section,), parser="corpus")
    (first, second) = find_limitations([evidence], {PaperId("one"): full}, 8)
    assert (first.quote, first.place) == (
        "All forty mice were young males of one inbred strain",
        "5 Limitations",
    )
    assert [item.quote for item in find_limitations([evidence], {}, 8)] == [
        "We did not test other animals in this long maze"
    ]
    assert find_limitations([evidence], {PaperId("one"): full}, 1) == (first,)
    assert second.quote_state == "verified"


def test_comparisons_are_recognised_by_their_wording() -> None:
    text = "We measure recall in forty mice. Training in the maze is compared with a control group of untrained mice."
    assert [item.quote for item in find_comparisons([make_evidence(text)], 8)] == [
        "Training in the maze is compared with a control group of untrained mice"
    ]
