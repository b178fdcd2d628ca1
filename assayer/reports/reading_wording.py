"""Facts about how much of a document was read, as reports and the command line show them."""

from collections.abc import Sequence

from assayer.models import ReadingRecord, TextFlag
from assayer.reports.wording import format_count

_MAX_LISTED = 60
"""Maximum number of sections or omitted parts to list."""


def list_reading_facts(record: ReadingRecord, flags: Sequence[TextFlag]) -> list[tuple[str, str]]:
    """Return facts about how a document was read, as (name, value) pairs in the order in which to show them. The
    number of passages that are flagged as hidden text is listed under `Left out`."""
    hidden_count = sum(flag.kind == "hidden_text" for flag in flags)
    left_out = [f"{item.part}: {item.reason}" for item in record.unread_parts]
    left_out += (
        [f"{format_count(hidden_count, 'passage')} of hidden text: readers cannot see it"] if hidden_count else []
    )
    facts = [
        ("Title", record.title),
        (
            "Sections",
            _join_items([f"{item.title} ({format_count(item.words, 'word')})" for item in record.sections]) or "none",
        ),
        ("Languages", ", ".join(record.languages) or "not detected"),
        ("Notes", format_count(record.notes) if record.notes else "none"),
        ("Tables", format_count(record.tables) if record.tables else "none"),
        ("References", _describe_references(record)),
        ("Above the text, not judged", ", ".join(record.front_matter)),
        ("Left out", _join_items(left_out) or "nothing"),
    ]
    return [(name, value) for name, value in facts if value]


def _describe_references(record: ReadingRecord) -> str:
    marks = format_count(record.citation_marks, "citation mark")
    if record.references:
        entries = format_count(record.references, "entry", "entries")
        return f"{entries} in the list, {marks} in the text; not judged as text"
    return f"{marks}, no reference list detected" if record.citation_marks else "none"


def _join_items(items: list[str]) -> str:
    surplus = len(items) - _MAX_LISTED
    return "; ".join([*items[:_MAX_LISTED], *([f"and {surplus} more"] if surplus > 0 else [])])
