"""Find the initials of known people, as in `J. R. and M. K. will lead` or `JR wrote the plan`."""

import re
from collections.abc import Iterable, Iterator

from assayer.blinding.names import LOWER, UPPER
from assayer.blinding.person import Person
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import english_words, split_words

_DOTTED = re.compile(rf"(?<![\w.])(?:[{UPPER}]\.[ -]?){{1,3}}[{UPPER}]\.(?![\w-])")
_SURNAME_AFTER = re.compile(rf" ?(?P<word>[{UPPER}][{LOWER}]\w*)")
_SURNAME_BEFORE = re.compile(r"[^\W\d_]{2,},? $")
_BARE = re.compile(rf"(?<![\w.&/-])[{UPPER}]{{2,4}}(?![\w&/-])")
_TASK = (
    r"(?:conceived|designed|wrote|performed|analy[sz]ed|supervised|drafted|led|leads|collected|developed|contributed|"
    r"approved|revised|edited|conducted|carried out|ran|implemented|acquired|reviewed|provided|prepared|coordinated|"
    r"coded|built|proposed|initiated|is responsible|are responsible|will (?:lead|write|design|supervise|collect|"
    r"coordinate|be responsible|code|run|analy[sz]e|carry out|draw|prepare))\b"
)
_LIST = rf"(?:(?:,| and|, and| &) [{UPPER}]{{2,4}}(?![\w-]))*"
_TASK_AFTER = re.compile(rf"{_LIST}(?:,? (?:both |jointly |also )?{_TASK}|: ?[^\W\d_])", re.I)
_TASK_BEFORE = re.compile(
    rf"(?:(?:conceived|designed|written|performed|supervised|drafted|led|checked) by|—|–) (?:[{UPPER}]{{2,4}},? "
    rf"(?:and )?)*$"
)
_NO_INITIALS = split_words("US UK EU UN DC USA AM PM")


def find_initials(text: str, people: Iterable[Person]) -> Iterator[MaskSpan]:
    """Yield initials of the people. Initials without full stops count only if each of their occurrences in the text
    stands beside a task of a person; otherwise they are an abbreviation."""
    known = {form for person in people for form in _initials_of(person)} - _NO_INITIALS
    if not known:
        return
    for match in _DOTTED.finditer(text):
        if "".join(filter(str.isalpha, match[0])) in known and not _belongs_to_other_name(text, *match.span()):
            yield MaskSpan(*match.span(), "name")
    places: dict[str, list[tuple[int, int]]] = {}
    for match in _BARE.finditer(text):
        if match[0] in known:
            places.setdefault(match[0], []).append(match.span())
    for spans in places.values():
        if all(_has_task(text, start, end) for start, end in spans):
            yield from (MaskSpan(start, end, "name") for start, end in spans)


def _initials_of(person: Person) -> Iterator[str]:
    given = [part[0] for part in re.split(r"[ .-]+", person.given) if part[:1].isupper()]
    family = [part[0] for part in re.split(r"[ -]", person.family) if part[:1].isupper()]
    if given and family:
        yield from {
            f"{given[0]}{family[0]}",
            "".join(given + family[:1]),
            "".join(given[:1] + family),
            "".join(given + family),
        }


def _belongs_to_other_name(text: str, start: int, end: int) -> bool:
    """Return whether a surname stands before or after initials, as in `J. R. Poe` or `Poe, J. R.`."""
    after = _SURNAME_AFTER.match(text, end)
    if after is not None and after["word"].lower() not in english_words() | _OPENERS:
        return True
    before = _SURNAME_BEFORE.search(text, max(0, start - 30), start)
    return before is not None and before[0][:1].isupper() and before[0].rstrip(" ,").lower() not in _OPENERS


_OPENERS = split_words(
    "the we in it this that they he she both here then for and with our their to of by a an on at as"
)


def _has_task(text: str, start: int, end: int) -> bool:
    before = text[max(0, start - 80) : start]
    return _TASK_AFTER.match(text, end) is not None or _TASK_BEFORE.search(before) is not None
