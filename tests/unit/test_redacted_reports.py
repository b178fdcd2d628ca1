"""A report as a reviewer of a blind call may read it."""

from assayer.models import MaskedText, OwnReferences, Report
from assayer.reports.json_and_csv import render_json
from orchestrator.reviewing.redacted_reports import build_numbered_title, redact_report
from tests.contract.store_records import report
from tests.unit.named_reports import IDENTIFYING, make_named_report


def test_blind_report_contains_no_identifying_text() -> None:
    redacted = redact_report(make_named_report("Rehearsal"), build_numbered_title(7))
    text = render_json(redacted)
    assert [word for word in IDENTIFYING if word in text] == []
    assert redacted.idea.source == "Proposal 7"
    assert Report.model_validate_json(text) == redacted


def test_masked_items_are_counted_by_kind_and_other_content_is_kept() -> None:
    full_report = make_named_report("Rehearsal")
    redacted = redact_report(full_report, build_numbered_title(None))
    assert redacted.idea.blinding is not None
    assert [(item.kind, item.occurrences) for item in redacted.idea.blinding.masked] == [
        ("name", 3),
        ("affiliation", 1),
        ("orcid", 1),
    ]
    assert [flag.excerpt for flag in redacted.idea.flags] == ["[masked]", full_report.idea.flags[1].excerpt]
    assert isinstance(redacted.own_references, OwnReferences)
    (entry,) = redacted.own_references.entries
    assert "Byron" in entry.text
    assert entry.record is not None
    assert entry.record.authors == ("[masked]", "Ada Byron")
    unchanged = {"idea", "own_references"}
    assert redacted.model_dump(exclude=unchanged) == full_report.model_dump(exclude=unchanged)


def test_report_of_non_blind_evaluation_is_unchanged() -> None:
    open_report = report("run_1")
    assert redact_report(open_report, build_numbered_title(7)) is open_report


def test_reviewer_is_told_that_names_may_remain() -> None:
    full_report = make_named_report("Rehearsal")
    assert full_report.idea.blinding is not None
    blinding = full_report.idea.blinding.model_copy(update={"names_may_remain": True, "checked_by_model": True})
    redacted = redact_report(
        full_report.model_copy(update={"idea": full_report.idea.model_copy(update={"blinding": blinding})}),
        build_numbered_title(7),
    )
    assert redacted.idea.blinding is not None
    assert (redacted.idea.blinding.names_may_remain, redacted.idea.blinding.checked_by_model) == (True, True)


def test_masked_lines_with_labels_hide_names_and_not_labels_in_references() -> None:
    full_report = make_named_report("Rehearsal")
    assert full_report.idea.blinding is not None
    masked = (
        MaskedText(kind="name", text="Owner: Grace Hopper"),
        MaskedText(kind="name", text="作者：欧阳晓岚、蒲德馨"),
    )
    idea = full_report.idea.model_copy(
        update={"blinding": full_report.idea.blinding.model_copy(update={"masked": masked})}
    )
    assert isinstance(full_report.own_references, OwnReferences)
    entry = full_report.own_references.entries[0].model_copy(
        update={"text": "Hopper, G. Owner surveys. 2020. 蒲德馨, 2019."}
    )
    own_references = full_report.own_references.model_copy(update={"entries": (entry,)})
    redacted = redact_report(
        full_report.model_copy(update={"idea": idea, "own_references": own_references}), build_numbered_title(7)
    )
    assert isinstance(redacted.own_references, OwnReferences)
    assert redacted.own_references.entries[0].text == "[masked], G. Owner surveys. 2020. [masked], 2019."
