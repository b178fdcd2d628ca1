"""Texts of letters: templates whose placeholders are filled with the data of a decision."""

import re
from collections.abc import Mapping

PLACEHOLDERS = (
    "applicant",
    "institution",
    "title",
    "reference",
    "call",
    "decision",
    "amount",
    "currency",
    "reason",
    "comments",
    "date",
)
_PLACEHOLDER = re.compile(r"\{([^{}\n]*)\}")
_ONLY_PLACEHOLDERS = re.compile(r"[ \t]*(?:\{[^{}\n]*\}[ \t]*)+")


def find_unknown_placeholders(template: str) -> list[str]:
    """Return the names in braces that are not placeholders."""
    return sorted({name for name in _PLACEHOLDER.findall(template) if name not in PLACEHOLDERS})


def fill_template(template: str, values: Mapping[str, str]) -> str:
    """Return the template with its placeholders replaced. Paragraphs whose placeholders are all empty, and lines that
    contain only empty placeholders, are omitted. Braces in values are not treated as placeholders."""
    paragraphs = (_fill_paragraph(paragraph, values) for paragraph in re.split(r"\n\s*\n", template.strip()))
    return "\n\n".join(filter(None, paragraphs)) + "\n"


def _fill_paragraph(paragraph: str, values: Mapping[str, str]) -> str:
    """Return a paragraph with its placeholders replaced; empty if all of them are empty."""
    names = _PLACEHOLDER.findall(paragraph)
    if names and not any(values.get(name, name).strip() for name in names):
        return ""
    lines = list[str]()
    for line in paragraph.splitlines():
        completed_line = _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), line)
        if completed_line.strip() or not _ONLY_PLACEHOLDERS.fullmatch(line):
            lines.append(completed_line)
    return "\n".join(lines)
