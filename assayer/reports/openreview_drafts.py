"""Draft OpenReview reviews made from reports: notes with the fields of a review form, for a person to finish and post.

Scores, confidence and recommendation are left to that person."""

from collections.abc import Mapping, Sequence
from typing import Any, NamedTuple

from assayer.errors import InputError
from assayer.literature.paper_addresses import find_identifiers
from assayer.models import Report
from assayer.models.sender_references import reference_of_row
from assayer.reports.python_report import EvaluationReport, FindingKind

_USUAL_FORM = ("summary", "strengths", "weaknesses", "questions", "rating", "confidence")
_KINDS: Mapping[str, tuple[FindingKind, ...]] = {
    "strength": ("strength",),
    "weakness": ("weakness",),
    "question": ("question", "suggestion"),
    "suggestion": ("suggestion",),
}
"""Kinds of findings that go into a form field, keyed by a word in the field's name."""


class DraftReview(NamedTuple):
    title: str
    note: dict[str, Any] | None
    """Note in the form of version 2 of OpenReview's API, without signatures; None if the report has no finding."""
    left_to_you: tuple[str, ...]
    """Form fields that the draft leaves empty."""


def list_form_fields(invitation: Any) -> tuple[str, ...]:
    """Return the field names in a review form. `invitation` is an invitation from version 2 of the API (fields in its
    note content), one from version 1 (fields in its reply content), or an object whose keys are the fields. Raises
    InputError if there are no fields."""
    content = invitation
    for path in (("edit", "note", "content"), ("note", "content"), ("reply", "content"), ("content",)):
        field_forms = _get_at_path(invitation, path)
        if isinstance(field_forms, Mapping):
            content = field_forms
            break
    if not isinstance(content, Mapping) or not content:
        raise InputError("The review form has no fields.", "Pass the review invitation as JSON.")
    return tuple(map(str, content))


def draft_review(report: Report, fields: Sequence[str] = _USUAL_FORM) -> DraftReview:
    """Return a draft review of the report's proposal. The note's `forum` is the OpenReview id of the proposal's
    source, or None if the source has none."""
    evaluation_report = EvaluationReport(report)
    content = {field: {"value": text} for field in fields if (text := _format_findings(evaluation_report, field))}
    missing_fields = tuple(field for field in fields if field not in content)
    if not content:
        return DraftReview(evaluation_report.title, None, missing_fields)
    forum = reference_of_row(report.idea.source) or find_identifiers(report.idea.source).openreview or None
    return DraftReview(evaluation_report.title, {"forum": forum, "replyto": forum, "content": content}, missing_fields)


def _format_findings(report: EvaluationReport, field: str) -> str:
    kinds = {kind for part, kinds in _KINDS.items() if part in field.lower() for kind in kinds}
    lines = []
    for finding in report.findings:
        if finding.kind in kinds:
            severity = f" ({finding.severity})" if finding.severity else ""
            papers = f" Evidence: {'; '.join(finding.papers)}." if finding.papers else ""
            lines.append(f"- {finding.text}{severity}{papers}")
    return "\n".join(lines)


def _get_at_path(value: Any, path: Sequence[str]) -> Any:
    for name in path:
        value = value.get(name) if isinstance(value, Mapping) else None
    return value
