"""Facts about how much of a document was read, as reports and the command line show them."""

from collections.abc import Sequence

from assayer.models import ReadingRecord, TextFlag
from assayer.reports.wording import count

_MOST = 60
"""Maximum number of sections or parts listed."""


def reading_facts(record: ReadingRecord, flags: Sequence[TextFlag]) -> list[tuple[str, str]]:
    """Return names and values, in reading order; parts that the document lacks are stated as none. Hidden text reported
    by the flags counts as left out."""
    hidden = sum(flag.kind == "hidden_text" for flag in flags)
    left_out = [f"{item.part}: {item.why}" for item in record.left_out]
    left_out += [f"{count(hidden, 'passage')} of hidden text: readers cannot see it"] if hidden else []
    facts = [
        ("Title", record.title),
        ("Sections", _listed([f"{item.title} ({count(item.words, 'word')})" for item in record.sections]) or "none"),
        ("Languages", ", ".join(record.languages) or "not detected"),
        ("Notes", count(record.notes) if record.notes else "none"),
        ("Tables", count(record.tables) if record.tables else "none"),
        ("References", _references(record)),
        ("Above the text, not judged", ", ".join(record.front_matter)),
        ("Left out", _listed(left_out) or "nothing"),
    ]
    return [(name, value) for name, value in facts if value]


def _references(record: ReadingRecord) -> str:
    marks = count(record.citation_marks, "citation mark")
    if record.references:
        return f"{count(record.references, 'entry', 'entries')} in the list, {marks} in the text; not judged as text"
    return f"{marks}, no reference list detected" if record.citation_marks else "none"


def _listed(items: list[str]) -> str:
    beyond = len(items) - _MOST
    return "; ".join([*items[:_MOST], *([f"and {beyond} more"] if beyond > 0 else [])])
