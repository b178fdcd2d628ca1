"""Presentation of a verdict based on labelled ideas: evidence first, in words and as a drawing."""

import re

import pytest

from assayer.reports.html import render_html
from assayer.reports.markdown import render_report_markdown
from assayer.reports.viewpoint_drawing import choose_side, draw_viewpoints
from tests.unit.reports_document import Document
from tests.unit.verdict_reports import GRAPH, VERDICT, make_report_with_verdict


def test_a_page_shows_evidence_before_probabilities_and_names_the_outcome() -> None:
    text = Document(render_html(make_report_with_verdict(VERDICT))).text
    assert text.index("We replay old examples.") < text.index("Probabilities of the outcomes")
    assert "Moved the score 12.3 points towards “accept”." in text
    assert "Did not move the score. Hard to read on its own" in text
    assert "59 %" in text
    assert "50 to 70 %" in text
    assert "icml, 2026-01-01: 100 ideas" in text
    assert "7 viewpoints of this idea compared with 900 of 100 ideas with a known outcome" in text


def test_neighbours_link_to_their_records_and_never_to_a_script() -> None:
    html = render_html(make_report_with_verdict(VERDICT))
    assert 'href="https://example.org/1"' in html
    assert "javascript:" not in re.sub(r"<title>.*?</title>", "", html)
    assert "<script" not in html
    assert "<b>nothing" not in html


def test_drawing_links_viewpoints_to_neighbours_and_draws_shared_neighbours_once() -> None:
    drawing = draw_viewpoints(VERDICT)
    assert drawing is not None
    assert [dot.number for dot in drawing.viewpoints] == [1, 2]
    assert len(drawing.neighbours) == 3
    assert len(drawing.lines) == 4
    assert [dot.side for dot in drawing.neighbours] == ["plus", "minus", "none"]
    assert max(line.y2 for line in drawing.lines) < drawing.height
    assert max(dot.y for dot in drawing.viewpoints) < drawing.height
    assert render_html(make_report_with_verdict(VERDICT)).count('class="tie') == 4


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
def test_ordinal_outcomes_are_coloured_by_rank(label: str | None, ordered: bool, expected: str) -> None:
    assert choose_side(label, GRAPH.model_copy(update={"ordered": ordered})) == expected


def test_markdown_shows_verdict_evidence_and_escapes_hostile_text() -> None:
    text = render_report_markdown(make_report_with_verdict(VERDICT))
    assert "## Comparison with labelled ideas: accept" in text
    assert "1. We replay old examples." in text
    assert "**accept** (0.80): replay buffers *Paper on replay buffers*, 2017-04-01, <https://example.org/1>" in text
    assert "| accept | 59 % | 50 to 70 % | 30 % |" in text
    assert "\\<script>alert(1)\\</script>" in text
    assert not re.search(r"(?<!\\)<script", text)
    assert "<javascript:" not in text
    assert "## Summary" not in text
