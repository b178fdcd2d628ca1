"""A report as a reviewer of a blind call may read it."""

from assayer.models import MaskedText, OwnReferences, Report
from assayer.reports.json_and_csv import render_json
from orchestrator.reviewing.redacted_reports import build_numbered_title, redact_report
from tests.contract.store_records import report
from tests.unit.named_reports import IDENTIFYING, named_report


def test_blind_report_contains_no_identifying_text() -> None:
    shown = redact_report(named_report("Rehearsal"), build_numbered_title(7))
    text = render_json(shown)
    assert [word for word in IDENTIFYING if word in text] == []
    assert shown.idea.source == "Proposal 7"
    assert Report.model_validate_json(text) == shown


def test_masked_items_are_counted_by_kind_and_other_content_is_kept() -> None:
    whole = named_report("Rehearsal")
    shown = redact_report(whole, build_numbered_title(None))
    assert shown.idea.blinding is not None
    assert [(item.kind, item.occurrences) for item in shown.idea.blinding.masked] == [
        ("name", 3),
        ("affiliation", 1),
        ("orcid", 1),
    ]
    assert [flag.excerpt for flag in shown.idea.flags] == ["[masked]", whole.idea.flags[1].excerpt]
    assert isinstance(shown.own_references, OwnReferences)
    (entry,) = shown.own_references.entries
    assert "Byron" in entry.text
    assert entry.record is not None
    assert entry.record.authors == ("[masked]", "Ada Byron")
    unchanged = {"idea", "own_references"}
    assert shown.model_dump(exclude=unchanged) == whole.model_dump(exclude=unchanged)


def test_report_of_non_blind_evaluation_is_unchanged() -> None:
    plain = report("run_1")
    assert redact_report(plain, build_numbered_title(7)) is plain


def test_reviewer_is_told_that_names_may_remain() -> None:
    whole = named_report("Rehearsal")
    assert whole.idea.blinding is not None
    blinding = whole.idea.blinding.model_copy(update={"names_may_remain": True, "checked_by_model": True})
    shown = redact_report(
        whole.model_copy(update={"idea": whole.idea.model_copy(update={"blinding": blinding})}), build_numbered_title(7)
    )
    assert shown.idea.blinding is not None
    assert (shown.idea.blinding.names_may_remain, shown.idea.blinding.checked_by_model) == (True, True)


def test_masked_lines_with_labels_hide_names_and_not_labels_in_references() -> None:
    whole = named_report("Rehearsal")
    assert whole.idea.blinding is not None
    masked = (
        MaskedText(kind="name", text="Owner: Grace Hopper"),
        MaskedText(kind="name", text="作者：欧阳晓岚、蒲德馨"),
    )
    idea = whole.idea.model_copy(update={"blinding": whole.idea.blinding.model_copy(update={"masked": masked})})
    assert isinstance(whole.own_references, OwnReferences)
    entry = whole.own_references.entries[0].model_copy(update={"text": "Hopper, G. Owner surveys. 2020. 蒲德馨, 2019."})
    own = whole.own_references.model_copy(update={"entries": (entry,)})
    shown = redact_report(whole.model_copy(update={"idea": idea, "own_references": own}), build_numbered_title(7))
    assert isinstance(shown.own_references, OwnReferences)
    assert shown.own_references.entries[0].text == "[masked], G. Owner surveys. 2020. [masked], 2019."
