"""Count the citation marks in a text, which refer to entries of its reference list."""

import re

_MARK = re.compile(
    r"\[\^?\d{1,3}(?: ?[-–,;] ?\d{1,3}){0,40}\](?!\(|:)"
    r"|\((?:[^()\n]{0,200}?[^\W\d_][\w'’.&-]*,? ?)(?:1[89]|20)\d\d[a-z]?(?:[;,][^()\n]{0,200})?\)"
    r"|[^\W\d_][\w'’-]{1,40}(?: et al\.?| (?:and|&) [^\W\d_][\w'’-]{1,40})? \((?:1[89]|20)\d\d[a-z]?\)"
    r"|[\[(]@[\w:.-]{2,60}[^\])\n]{0,200}[\])]|\\(?:cite|citep|citet|parencite|autocite|textcite)\*?(?:\[[^\]]*\]){0,2}\{"
)
"""Pattern for citation marks: `[3, 5–7]`, `(Lee et al., 2019)`, `Lee and Chen (2019)`, `[@lee19]`, `\\citep{lee19}`."""
_ZERO = re.compile(r"\[\s*0\s*[,\]]")


def count_citation_marks(text: str) -> int:
    """Return the number of citation marks; intervals such as `[0, 1]` are not counted."""
    return sum(1 for match in _MARK.finditer(text) if not _ZERO.match(match[0]))
