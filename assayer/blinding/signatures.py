"""Find signature lines in the middle or at the end of a text: a name with a role or an institution under it."""

import re
from collections.abc import Iterator

from assayer.blinding.block_lines import KINDS, BlockLine, LineSort, classify_line, is_address
from assayer.blinding.institution_patterns import names_institution
from assayer.blinding.mentions import find_small_words, has_small_word
from assayer.blinding.names import ROLE, UPPER, has_given_name, is_list_of_people, people_in

_MAX_CHARS = 120
_MAX_WORDS = 14
_MAX_LINES_UNDER = 5
_BEGINS_WITH_ROLE = re.compile(rf"(?:an? |the )?{ROLE}(?![\w-])", re.I)
_ONLY_ROLE = re.compile(
    rf"(?i:(?:an? |the )?{ROLE})(?: (?:of|in) [\w &-]{{3,40}})?(?:,| at)?(?: [{UPPER}][\w &'’-]{{2,60}})?"
)


_REGARDS = re.compile(
    r"(?:mit (?:freundlichen|besten) grüßen|(?:bien )?cordialement|atentamente|atte\.?|"
    r"cordial(?:i saluti|mente)|in fede|"
    r"com os melhores cumprimentos|met (?:vriendelijke|hartelijke) groet(?:en)?|z poważaniem|с уважением|signed|"
    r"(?:with )?(?:kind|best|warm) regards|(?:yours )?(?:sincerely|faithfully|truly)(?: yours)?|respectfully)[,.]?",
    re.I,
)


def signatures(text: str) -> Iterator[BlockLine]:
    """Yield whole signature lines. `Jane Roe` counts only with `PhD student` or `University of X` under it; `PhD
    student, MIT` counts on its own."""
    small = find_small_words(text)
    above: BlockLine | None = None
    under = 0
    place = 0
    for raw in text.split("\n"):
        start, end = place, min(place + len(raw) + 1, len(text))
        place += len(raw) + 1
        line = raw.strip(" \t*_")
        if not line:
            continue
        sort = _sort(line, signed=above is not None or 0 < under < _MAX_LINES_UNDER)
        if above is not None and _REGARDS.fullmatch(above.text) and _is_line_of_names(line, small):
            yield from (above._replace(text=""), BlockLine(start, end, "name", line))
            above, under = None, 1
            continue
        if sort is None:
            above = (
                BlockLine(start, end, "name", line)
                if _is_line_of_names(line, small) or _REGARDS.fullmatch(line)
                else None
            )
            under = 0
            continue
        if above is not None:
            yield above
        yield BlockLine(start, end, KINDS[sort], line)
        above, under = None, under + 1


def _sort(line: str, signed: bool) -> LineSort | None:
    """Return the kind of a signature line; None for other lines. `signed` is true if the line stands below a name or
    another signature line."""
    if len(line) > _MAX_CHARS or len(line.split()) > _MAX_WORDS or line[-1] in ".?!:;" or line[0] in "#|>-•":
        return None
    sort = classify_line(line)
    if sort in ("place", "role") and _BEGINS_WITH_ROLE.match(line) and names_institution(line):
        return "role"
    if not signed:
        return None
    if sort == "unclear":
        return "address" if is_address(line) else None
    return None if sort == "role" and _ONLY_ROLE.fullmatch(line) is None else sort


def _is_line_of_names(line: str, small: frozenset[str]) -> bool:
    if len(line) > _MAX_CHARS or line[0] in "#|>-•" or not is_list_of_people(line, confirmed=True):
        return False
    return all(has_given_name(person) or not has_small_word(person, small) for person in people_in(line))
