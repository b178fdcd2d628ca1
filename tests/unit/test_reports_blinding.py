"""What was masked stands in every form of the report."""

from assayer.models import MaskedText, Report
from assayer.reports.html import as_html
from assayer.reports.json_and_csv import as_json
from assayer.reports.markdown import as_markdown
from assayer.reports.wording import WHO_SAW_MASKED
from tests.unit.reports_document import Document
from tests.unit.reports_fixture import full_report


def test_page_and_markdown_say_what_was_masked_and_how_often() -> None:
    for text in (Document(as_html(full_report())).text, as_markdown(full_report())):
        assert "judged blind: 3 names, 1 affiliation, 1 ORCID iD" in text
        assert "Masked before judging" in text
        for words in ("Jane Roe", "3 times", "University of Freiburg", WHO_SAW_MASKED):
            assert words in text


def test_report_of_before_blind_mode_is_still_read_and_says_nothing_of_it() -> None:
    old = full_report().model_dump(mode="json")
    del old["idea"]["blinding"]
    report = Report.model_validate(old)
    assert report.idea.blinding is None
    for text in (as_html(report), as_markdown(report)):
        assert "blind" not in text
        assert "Masked" not in text


def test_masked_words_stand_in_the_json() -> None:
    assert Report.model_validate_json(as_json(full_report())).idea.blinding == full_report().idea.blinding


def test_idea_without_anything_to_mask_is_said_to_have_been_judged_blind() -> None:
    report = full_report()
    assert report.idea.blinding is not None
    nothing = report.idea.blinding.model_copy(update={"masked": ()})
    report = report.model_copy(update={"idea": report.idea.model_copy(update={"blinding": nothing})})
    assert "judged blind: nothing found to mask" in as_markdown(report)


def test_long_section_that_was_masked_stands_on_the_page_and_is_begun_in_markdown() -> None:
    report = full_report()
    assert report.idea.blinding is not None
    long = MaskedText(kind="biography", text="Jane Roe has led such work. " * 100)
    cut = report.idea.blinding.model_copy(update={"masked": (long,)})
    report = report.model_copy(update={"idea": report.idea.model_copy(update={"blinding": cut})})
    assert Document(as_html(report)).text.count("Jane Roe has led such work.") == 100
    begun = as_markdown(report)
    assert "… (2,800 characters in all)" in begun
    assert begun.count("Jane Roe has led such work.") < 12
