"""Masked text is listed in every form of the report."""

from assayer.models import MaskedText
from assayer.reports.html import render_html
from assayer.reports.markdown import render_report_markdown
from assayer.reports.wording import MASKED_VISIBILITY
from tests.unit.reports_document import Document
from tests.unit.reports_fixture import make_full_report


def test_html_and_markdown_list_masked_text_with_counts() -> None:
    for text in (Document(render_html(make_full_report())).text, render_report_markdown(make_full_report())):
        assert "judged blind: 3 names, 1 affiliation, 1 ORCID iD" in text
        assert "Masked before judging" in text
        for words in ("Jane Roe", "3 times", "University of Freiburg", MASKED_VISIBILITY):
            assert words in text


def test_long_masked_section_is_full_in_html_and_truncated_in_markdown() -> None:
    report = make_full_report()
    assert report.idea.blinding is not None
    long = MaskedText(kind="biography", text="Jane Roe has led such work. " * 100)
    cut = report.idea.blinding.model_copy(update={"masked": (long,)})
    report = report.model_copy(update={"idea": report.idea.model_copy(update={"blinding": cut})})
    assert Document(render_html(report)).text.count("Jane Roe has led such work.") == 100
    markdown = render_report_markdown(report)
    assert "… (2,800 characters in all)" in markdown
    assert markdown.count("Jane Roe has led such work.") < 12
