"""Count the marks by which a text cites entries of its reference list."""

import re

_MARK = re.compile(
    r"(?=[\[(\]@\\])(?:"
    r"\[\d{1,3}(?: ?[-–,;] ?\d{1,3}){0,40}\](?!\(|:)|\[\^(?P<note>[\w-]{1,20})\](?!:)"
    r"|\((?:[^()\n]{0,200}?[^\W\d_][\w'’.&-]*,? ?)(?:1[89]|20)\d\d[a-z]?(?:[;,][^()\n]{0,200})?\)"
    r"|(?:(?<=[^\W\d_] )|(?<=al\. ))\((?:1[89]|20)\d\d[a-z]?\)"
    r"|[\[(](?:[^@\[\]()\n]{0,80}[\s-])?@[\w:.-]{2,60}[^\])\n]{0,200}[\])]|\]\((?:#(?:ref|cite|bib)|https://(?:doi\.org|arxiv\.org/abs)/)[^()\s]{0,200}\)"
    r"|(?<![\w.@(\[-])@[^\W\d_][\w:-]{1,50}(?:1[89]|20)\d\d[a-z]?\b"
    r"|\\(?:cite|citep|citet|parencite|autocite|textcite)\*?(?:\[[^\]]*\]){0,2}\{)"
)
"""Pattern for citation marks: `[3, 5–7]`, `[^3]`, `(Lee et al., 2019)`, `Lee and Chen (2019)`, `[see @lee19]`,
`@lee2019`, `(Lee 2019)(#ref-lee)`, `[Lee 2019](https://doi.org/…)`, `\\citep{lee19}`."""
NOTE = re.compile(r"^\[\^([\w-]{1,20})\]:", re.MULTILINE)
_ZERO = re.compile(r"\[\s*0\s*[,\]]")


def count_citation_marks(text: str) -> int:
    """Return the number of citation marks. Intervals such as `[0, 1]`, and marks of notes whose text is included, are
    not counted."""
    notes = frozenset(NOTE.findall(text))
    return sum(1 for match in _MARK.finditer(text) if not _ZERO.match(match[0]) and match["note"] not in notes)
