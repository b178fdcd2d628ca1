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
_BARE = re.compile(rf"(?<![\w.&/-])(?:[{UPPER}]{{2,4}}|[{UPPER}]{{1,2}}-[{UPPER}]{{1,2}})(?![\w&/-])")
_GIVEN_AFTER = re.compile(
    rf"(?P<family>[{UPPER}][^\W\d_]{{1,25}}) \((?P<initials>[{UPPER}]{{2,4}}|[{UPPER}]{{1,2}}-[{UPPER}]{{1,2}})"
    r"(?=[),;])"
)
_EXPANDED = re.compile(rf"(?<![^\W_])(?P<last>[{LOWER}{UPPER}])[{LOWER}]+ \($")
_ARTICLE_BEFORE = re.compile(r"\b(?:an?|the|of|in|using) $", re.IGNORECASE)
_TASK = (
    r"(?:conceived|designed|wrote|performed|analy[sz]ed|supervised|drafted|led|leads|collected|developed|contributed|"
    r"approved|revised|edited|conducted|carried out|ran|implemented|acquired|reviewed|provided|prepared|coordinated|"
    r"coded|built|proposed|initiated|is responsible|are responsible|will (?:lead|write|design|supervise|collect|"
    r"coordinate|be responsible|code|run|analy[sz]e|carry out|draw|prepare))\b"
)
_LIST = rf"(?:(?:,| and|, and| &) [{UPPER}]{{2,4}}(?![\w-]))*"
_TASK_AFTER = re.compile(rf"{_LIST}(?:,? (?:both |jointly |also )?{_TASK}|: ?[^\W\d_])", re.I)
_TASK_BEFORE = re.compile(
    rf"(?:(?:conceived|designed|written|performed|supervised|drafted|led|checked) by|—|–|"
    rf"[(;,] ?(?:lead|leader|led by|resp\w*|PI|Co-I):?) (?:[{UPPER}]{{2,4}},? (?:and )?)*$"
)
_NO_INITIALS = split_words("US UK EU UN DC USA AM PM")


def find_initials(text: str, people: Iterable[Person]) -> Iterator[MaskSpan]:
    """Yield initials of the people. Two letters without full stops count only if the text gives them after a name, or
    if each of their occurrences stands beside a task of a person; otherwise they are an abbreviation. More letters
    count unless the text uses them as an abbreviation, as in `a support vector machine (SVM)`."""
    people = list(people)
    known = {form for person in people for form in _initials_of(person)} - _NO_INITIALS
    given = set(_find_given_initials(text, people))
    known |= given
    if not known:
        return
    for match in _DOTTED.finditer(text):
        if "".join(filter(str.isalpha, match[0])) in known and not _belongs_to_other_name(text, *match.span()):
            yield MaskSpan(*match.span(), "name")
    places: dict[str, list[tuple[int, int]]] = {}
    for match in _BARE.finditer(text):
        if match[0].replace("-", "") in known:
            places.setdefault(match[0], []).append(match.span())
    for form, spans in places.items():
        longer = len(form.replace("-", "")) > 2 and not any(_is_abbreviation(text, *span) for span in spans)
        if form in given or longer or all(_has_task(text, start, end) for start, end in spans):
            yield from (MaskSpan(start, end, "name") for start, end in spans)


def _find_given_initials(text: str, people: list[Person]) -> Iterator[str]:
    """Yield the initials that the text gives in brackets after the names of people: `Anna Roe-Poe (RP)`."""
    letters: dict[str, set[str]] = {}
    for person in people:
        parts = re.split(r"[ .-]+", person.full)
        letters.setdefault(parts[-1], set()).add("".join(part[0] for part in parts if part[:1].isupper()))
    for match in _GIVEN_AFTER.finditer(text):
        initials = match["initials"].replace("-", "")
        for whole in letters.get(match["family"], ()):
            rest = iter(whole)
            if all(letter in rest for letter in initials):
                yield match["initials"]


def _is_abbreviation(text: str, start: int, end: int) -> bool:
    """Return whether letters stand after an article, before a noun, or in brackets after the words that they stand
    for."""
    words = _EXPANDED.search(text, max(0, start - 40), start)
    expanded = words is not None and words["last"].casefold() == text[end - 1].casefold()
    return expanded or _ARTICLE_BEFORE.search(text, max(0, start - 8), start) is not None


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
