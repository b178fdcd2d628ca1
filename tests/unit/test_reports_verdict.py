"""How a verdict of labelled ideas is shown: evidence first, in words and as a drawing."""

import datetime as dt
import re

import pytest

from assayer.models import (
    Absent,
    ClassProbability,
    GraphUsed,
    IdeaId,
    NeighbourViewpoint,
    Report,
    Summary,
    Verdict,
    ViewpointEvidence,
)
from assayer.reports.html import as_html
from assayer.reports.json_and_csv import as_json
from assayer.reports.markdown import as_markdown
from assayer.reports.viewpoint_drawing import drawing_of, side
from tests.unit.reports_document import Document
from tests.unit.reports_fixture import full_report

GRAPH = GraphUsed(
    name="default",
    version="0f0f",
    ideas=120,
    labelled=100,
    viewpoints=900,
    embedding_model="mini",
    maker="splitter v1",
    outcomes=("reject", "workshop", "accept"),
    ordered=True,
)


def near(
    text: str, label: str | None, url: str = "https://example.org/1", similarity: float = 0.8
) -> NeighbourViewpoint:
    return NeighbourViewpoint(
        text=text,
        idea=IdeaId(f"id of {text}"),
        title=f"Paper on {text}",
        url=url,
        date=dt.date(2017, 4, 1),
        label=label,
        similarity=0.8,
    )


SHARED = near("replay buffers", "accept")
VERDICT = Verdict(
    decision="accept",
    probabilities=(
        ClassProbability(name="reject", probability=0.31, low=0.25, high=0.4, rate=0.6),
        ClassProbability(name="workshop", probability=0.1, low=0.05, high=0.2, rate=0.1),
        ClassProbability(name="accept", probability=0.59, low=0.5, high=0.7, rate=0.3),
    ),
    scorer="label propagation",
    calibration="icml, 2026-01-01: 100 ideas",
    graph=GRAPH,
    maker="splitter v1",
    viewpoints=7,
    evidence=(
        ViewpointEvidence(
            text="We replay old examples.",
            words="We replay old examples.",
            self_contained=True,
            leaning="accept",
            influence=0.123,
            neighbours=(SHARED, near("forgetting", "reject")),
        ),
        ViewpointEvidence(
            text="It forgets <b>nothing</b>.",
            words="It forgets nothing.",
            self_contained=False,
            leaning=None,
            influence=0.0,
            neighbours=(SHARED, near("<script>alert(1)</script>", None, "javascript:alert(1)")),
        ),
    ),
)


def report_with(verdict: Verdict | Absent, alone: bool = True) -> Report:
    changes: dict[str, object] = {"verdict": verdict}
    if alone:
        changes |= {"parts": (), "summary": Summary(strengths=(), weaknesses=(), suggestions=()), "method": "grapheval"}
    return full_report().model_copy(update=changes)


def test_a_page_shows_evidence_before_probabilities_and_names_the_outcome() -> None:
    text = Document(as_html(report_with(VERDICT))).text
    assert text.index("We replay old examples.") < text.index("Probabilities of the outcomes")
    assert "Moved the score 12.3 points towards “accept”." in text
    assert "Did not move the score. Hard to read on its own" in text
    assert "59 %" in text
    assert "50 to 70 %" in text
    assert "icml, 2026-01-01: 100 ideas" in text
    assert "7 viewpoints of this idea compared with 900 of 100 ideas with a known outcome" in text


def test_neighbours_link_to_their_records_and_never_to_a_script() -> None:
    html = as_html(report_with(VERDICT))
    assert 'href="https://example.org/1"' in html
    assert "javascript:" not in re.sub(r"<title>.*?</title>", "", html)
    assert "<script" not in html
    assert "<b>nothing" not in html


def test_the_drawing_joins_every_viewpoint_to_its_neighbours_and_draws_a_shared_one_once() -> None:
    drawing = drawing_of(VERDICT)
    assert drawing is not None
    assert [dot.number for dot in drawing.viewpoints] == [1, 2]
    assert len(drawing.neighbours) == 3
    assert len(drawing.lines) == 4
    assert [dot.side for dot in drawing.neighbours] == ["plus", "minus", "none"]
    assert max(line.y2 for line in drawing.lines) < drawing.height
    assert max(dot.y for dot in drawing.viewpoints) < drawing.height
    assert as_html(report_with(VERDICT)).count('class="tie') == 4


def test_a_verdict_without_evidence_has_no_drawing() -> None:
    verdict = VERDICT.model_copy(
        update={"evidence": (), "decision": Absent(reason="nothing is near."), "probabilities": ()}
    )
    assert drawing_of(verdict) is None
    html = as_html(report_with(verdict))
    assert "No outcome is predicted:" in html
    assert 'neighbourhood"' not in html


@pytest.mark.parametrize(
    ("label", "ordered", "expected"),
    [
        ("reject", True, "minus"),
        ("workshop", True, "zero"),
        ("accept", True, "plus"),
        (None, True, "none"),
        ("accept", False, "zero"),
    ],
)
def test_outcomes_are_coloured_by_their_order_where_they_have_one(
    label: str | None, ordered: bool, expected: str
) -> None:
    assert side(label, GRAPH.model_copy(update={"ordered": ordered})) == expected


def test_markdown_lists_the_same_and_lets_nothing_from_outside_become_markup() -> None:
    text = as_markdown(report_with(VERDICT))
    assert "## Comparison with labelled ideas: accept" in text
    assert "1. We replay old examples." in text
    assert "**accept** (0.80): replay buffers *Paper on replay buffers*, 2017-04-01, <https://example.org/1>" in text
    assert "| accept | 59 % | 50 to 70 % | 30 % |" in text
    assert "\\<script>alert(1)\\</script>" in text
    assert not re.search(r"(?<!\\)<script", text)
    assert "<javascript:" not in text
    assert "## Summary" not in text


@pytest.mark.parametrize("verdict", [VERDICT, Absent(reason="No graph is there.")])
def test_beside_another_method_the_verdict_stands_after_its_parts(verdict: Verdict | Absent) -> None:
    report = report_with(verdict, alone=False)
    html, text = as_html(report), as_markdown(report)
    assert html.index('id="part-1"') < html.index('id="verdict"') < html.index('id="coverage"')
    assert text.index("## Summary") < text.index("## Comparison with labelled ideas")
    if isinstance(verdict, Absent):
        assert "No graph is there." in html
        assert "No graph is there." in text


def test_a_report_without_a_verdict_does_not_mention_one() -> None:
    assert 'id="verdict"' not in as_html(full_report())
    assert "labelled ideas" not in as_markdown(full_report())


@pytest.mark.parametrize("verdict", [VERDICT, Absent(reason="No graph is there."), None])
def test_a_report_with_any_verdict_reads_back_the_same(verdict: Verdict | Absent | None) -> None:
    report = full_report().model_copy(update={"verdict": verdict})
    assert Report.model_validate_json(as_json(report)) == report
