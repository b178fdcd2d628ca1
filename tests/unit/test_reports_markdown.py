"""The Markdown page, as renderers see it: nothing from outside becomes structure."""

from functools import cache

import pytest
from hypothesis import given
from hypothesis import strategies as st
from markdown_it import MarkdownIt

from assayer.models import Report
from assayer.reports.escaping import join_lines
from assayer.reports.markdown import MAX_WORDS, escape, render_report_markdown
from tests.unit.reports_document import Document, collapse_spaces
from tests.unit.reports_fixture import make_full_report
from tests.unit.reports_hostile import make_hostile_report

_ALLOWED = {
    "h1", "h2", "h3", "h4", "p", "em", "strong", "a", "ul", "li", "blockquote", "br", "code",
    "table", "thead", "tbody", "tr", "th", "td",
}  # fmt: skip


def render(markdown: str, guess_domains: bool = True) -> Document:
    """Render CommonMark with GitHub's tables and strike-through, and addresses as links.

    `guess_domains` also makes a link of any `word.tld`, which GitHub does not: `1.aw` would be one.
    """
    renderer = MarkdownIt("commonmark", {"linkify": True}).enable(["table", "strikethrough", "linkify"])
    assert renderer.linkify is not None
    renderer.linkify.set({"fuzzy_link": guess_domains})
    return Document(renderer.render(markdown).replace("<br />", "<br>"))


@cache
def render_page(is_hostile: bool = False) -> Document:
    return render(render_report_markdown(make_hostile_report() if is_hostile else make_full_report()))


def count_headings(report: Report) -> int:
    parts = sum(1 + len(part.assessments) for part in report.parts)
    page_one = ["title", "Scores", "Strengths", "Weaknesses", "Suggestions", "Closest work"]
    appendix = ["Evidence", "Own references", "Coverage", "Sources", "Left out", "Errors", "Flags", "Masked"]
    plan = ["Doubts", "Comparisons"]
    return len(page_one) + len(appendix) + parts + len(plan) + len(["Provenance"])


@pytest.mark.parametrize("is_hostile", [False, True])
def test_markdown_has_only_template_elements_and_headings(is_hostile: bool) -> None:
    page = render_page(is_hostile)
    assert set(page.tags) <= _ALLOWED
    assert len(page.headings) == count_headings(make_full_report())


def test_links_of_hostile_report_are_references_or_plain_web_urls() -> None:
    inside = {link for link in render_page(is_hostile=True).links if link.startswith("#")}
    assert inside <= {f"#p{number}" for number in range(1, 9)}
    assert set(render_page(is_hostile=True).links) == inside | {"https://papers.example.org/fine?a=1&b=2#c"}
    assert {link[1:] for link in inside} <= set(render_page(is_hostile=True).ids)


def test_labels_in_texts_are_links_to_their_references() -> None:
    assert render_page().links.count("#p7") >= 2
    assert "over 24 orders it changed in 17 P7." in render_page().text


def test_adjacent_labels_become_separate_links() -> None:
    report = make_full_report()
    point = report.summary.strengths[0].model_copy(
        update={"text": "[P1][P2](see [P3, P4]): and [P5]: so", "citations": ()}
    )
    summary = report.summary.model_copy(update={"strengths": (point,)})
    before = render_page()
    page = render(render_report_markdown(report.model_copy(update={"summary": summary})))
    assert "P1 P2(see P3 P4): and P5: so" in page.text
    for label in ("#p1", "#p4", "#p5"):
        assert page.links.count(label) == before.links.count(label) + 1


def test_hostile_report_adds_no_table_rows_or_cells() -> None:
    assert render_page(is_hostile=True).tags["td"] == render_page().tags["td"]
    assert render_page(is_hostile=True).tags["tr"] == render_page().tags["tr"]


def make_long_report() -> Report:
    """Return a report of 14 methods and dimensions with 12 points each."""
    report = make_full_report()
    part = report.parts[0]
    assessments = []
    for number in range(14):
        item = part.assessments[number % 3]
        points = [
            point.model_copy(update={"text": f"{number}.{copy} {point.text} {'and so on ' * 10}"})
            for point in item.points
            for copy in range(6)
        ]
        assessments.append(item.model_copy(update={"name": f"Method {number}", "points": tuple(points)}))
    return report.model_copy(update={"parts": (part.model_copy(update={"assessments": tuple(assessments)}),)})


def test_long_report_stays_within_word_limit_and_counts_omitted_points() -> None:
    text = render_report_markdown(make_long_report())
    assert len(text.split()) <= MAX_WORDS
    assert "more points in the HTML and JSON reports" in text
    assert "### Method 13" in text
    short = render_report_markdown(make_full_report())
    assert "more point" not in short


@pytest.mark.parametrize(("before", "after"), [("before ", " after"), ("", "\n")])
@given(text=st.text(alphabet=st.sampled_from("ab1 \n#*_[]()<>!`~|\\&;:/.@-+=$\"'wP"), max_size=60))
def test_any_escaped_text_renders_as_single_paragraph_with_same_words(before: str, after: str, text: str) -> None:
    page = render(f"{before}{escape(text)}{after}", guess_domains=False)
    assert set(page.tags) <= {"p", "code"}
    assert page.text == collapse_spaces(f"{before}{join_lines(text)}{after}")
