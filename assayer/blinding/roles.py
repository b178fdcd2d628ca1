"""Find roles that reveal a person's seniority: the author's own role, or a role beside a name."""

import re
from collections.abc import Iterator, Sequence

from assayer.blinding.names import ROLE, UPPER
from assayer.blinding.spans import MaskSpan

_FIRST_PERSON_ROLE = re.compile(
    rf"\b(?:I am|I'm|I’m|I work as|[Aa]s(?= an? [\w -]{{3,50}}, (?:I|we|my|our)\b)|we are|[Tt]he (?:applicant|"
    rf"PI|candidate|principal investigator|author|proposer) is|(?:led|supervised|mentored|headed) by|"
    rf"\bI (?:joined|work|came|moved)(?: \w+){{0,4}} as) "
    rf"(?P<role>(?:(?i:an?|the) )?(?i:{ROLE}))(?!\w)"
)
_ROLE_AFTER_NAME = re.compile(rf"(?:,| \(| is| as)? ?(?P<role>(?:an? |the )?{ROLE})", re.I)
_ROLE_BEFORE_NAME = re.compile(rf"(?P<role>{ROLE}),? ?(?:\(?(?:PI|Dr\.?|Prof\.?)\)? )?$", re.I)
_ROLE_AT = re.compile(
    rf"\b(?P<role>(?i:an?|the) (?i:{ROLE}))(?= (?:at|in|from|"
    rf"of) (?:the )?(?:[{UPPER}][\w.&'-]+ ){{0,6}}(?:University|Institute|Department|College|School|[A-Z]{{2,5}}\b))"
)


def roles(text: str, names: Sequence[MaskSpan]) -> Iterator[MaskSpan]:
    """Yield the spans that state roles. `names` lists the spans that name people."""
    for pattern in (_FIRST_PERSON_ROLE, _ROLE_AT):
        for match in pattern.finditer(text):
            yield MaskSpan(*match.span("role"), "role")
    for name in names:
        if after := _ROLE_AFTER_NAME.match(text, name.end):
            yield MaskSpan(*after.span("role"), "role")
        before = text[max(0, name.start - 80) : name.start]
        if found := _ROLE_BEFORE_NAME.search(before):
            yield MaskSpan(
                name.start - len(before) + found.start("role"), name.start - len(before) + found.end("role"), "role"
            )
