"""Texts of letters: placeholders of a template, filled with what is known about a decision."""

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


def unknown_placeholders(template: str) -> list[str]:
    """Return the names in braces that no letter can fill."""
    return sorted({name for name in _PLACEHOLDER.findall(template) if name not in PLACEHOLDERS})


def letter_text(template: str, values: Mapping[str, str]) -> str:
    """Return the template with its placeholders replaced. A line with nothing but empty placeholders is left out, with
    the blank line after it. Values are inserted as they are: braces in them are not placeholders."""
    lines = list[str]()
    for line in template.strip().splitlines():
        filled = _PLACEHOLDER.sub(lambda match: values.get(match[1], match[0]), line)
        if _ONLY_PLACEHOLDERS.fullmatch(line) and not filled.strip():
            continue
        lines.append(filled)
    return re.sub(r"\n{3,}", "\n\n", "\n".join(lines)).strip() + "\n"
