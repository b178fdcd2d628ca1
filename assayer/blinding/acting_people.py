"""Find people whom a sentence or a list shows at work on the proposal, in contrast to cited authors and people of the
past: `sampling is done by Jane Roe`, `Jane Roe builds the sensors`, `- Jane Roe – field work`."""

import re
from bisect import bisect_right
from collections.abc import Container, Iterator, Sequence

from assayer.blinding.institution_patterns import names_institution
from assayer.blinding.mentions import SMALL_WORD, is_eponym, may_be_name
from assayer.blinding.names import LETTER, LOWER, NAME, UPPER, has_given_name, is_given_name, person_of
from assayer.blinding.people import NamedPerson
from assayer.blinding.person import Person
from assayer.blinding.remaining_names import POSSIBLE_NAME, may_be_person
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import english_words

_STATED = (
    r"(?:show|find|argue|propose|describe|suggest|report|demonstrate|observe|introduce|define|prove|derive|coin|discover|"
    r"invent|note|claim|conclude|call|conjecture|formulate|popularise|popularize|pioneer|publish|warn|write|ask)(?:s|d|ed)?"
)
"""Pattern for what cited authors do."""
_STATED_BEFORE = re.compile(rf"\b{_STATED}(?: \w+){{0,2}} by $|[\"“”„«‘’'](?: by)? ?$")
_STATED_AFTER = re.compile(rf",? (?:also |first |once )?{_STATED}\b")
_IS = r"(?:is|are|be|been|being)"
_BEFORE = re.compile(
    rf"\b(?:{_IS} (?:[\w-]+ ){{1,5}}(?:by|with)|(?:calls?|talks?|met|meetings?|conversation|together|jointly|collaborat\w+|work\w*|discuss\w*|interview|shares?|agreed) with|when|if|should|unless|until|ask|"
    rf"(?:our|my)(?: [\w-]+,?){{1,3}}|colleague|student) $",
    re.IGNORECASE,
)
_PREPOSITION_BEFORE = re.compile(r"\b(?:by|of|from|to|in|on|at|for|like|as|about|with) $")
_BEFORE_KNOWN = re.compile(r"\b(?:and|for|from|to|that) $")
"""Pattern for words before a person at work. Used only if the first name is known."""
_DOES = r"(?:will|would|can|could|may|shall|must|has|have|is|does|agreed|promised|joined|[a-z]{1,15}s(?!,))(?![\w-])"
_MEMBER = (
    r"['’]s? (?:hunch|team|group|lab|students?|colleagues?|office|contract|permission|notes?|notebook|leave|experience|"
    r"help|salary|position|desk|family)\b"
)
_BETWEEN = (
    r"(?:\*\*|__)?(?:,? \([^()\n]{1,60}\))?(?: (?:of|from|at) (?:the|our) (?:[\w-]+ ){0,3}[\w-]+)??,?"
    r" (?:(?:who|now|also|already|then|herself|himself) )*"
)
_AFTER = re.compile(
    rf"{_BETWEEN}(?:and (?:I|we)\b|{_DOES}(?! (?:an?|the) (?:[A-Z]|\d)))|{_MEMBER}|,? (?:with|from|to) whom (?:s?he|we|I)\b"
)
_AFTER_WITH_US = re.compile(
    rf"{_BETWEEN}(?:[a-z]{{2,15}}ed|was|had|came|took|held|went|left|gave|ran|built|led|grew|taught|sent|made|kept|"
    r"brought|met|knew|did)\b[^.!?\n]{0,120}?\b(?:us|we|our|me|my|I)\b"
)
"""Pattern for what someone did, in a sentence about the authors."""
_AFTER_ARTICLE = re.compile(rf"\b[Tt]he ({NAME})")
_WHO_AFTER = re.compile(r"(?:\*\*|__)?,? (?:who|whose)\b")
_BULLET_BEFORE = re.compile(r"(?:^|\n)[ \t]{0,8}(?:[-*•–]|\d{1,2}[.)]) (?:\*\*|__)?$")
_ITEM_BEFORE = re.compile(r"(?:^|\n)[ \t]{0,8}(?:[-*•–] |\d{1,2}[.)] |#{1,6} )?(?:\*\*|__)?$")
_ITEM_AFTER = re.compile(r"\*\*|__|[ \t]*(?:\n|$|[–—:(,|-])")
_ALONE = re.compile(
    rf"(?<![\w@/.-])(?P<pronoun>(?:[Ss]he|[Hh]e) \()?(?P<name>[{UPPER}][{LOWER}]{LETTER}{{0,20}}(?:-[{UPPER}]{LETTER}{{1,20}})?)(?!\w)"
    rf"(?P<member>{_MEMBER}"
    r"| (?:also |already )?(?:thinks|says|said|wants|hopes|suspects|doubts|prefers|insists|promised|agreed|joined|"
    r"volunteered|objects|writes|drafts|brings|signs|visits|teaches|supervises|coordinates|recruits|travels)\b)?"
)
_DOES_ALONE = re.compile(rf" (?:also |already |then )?{_DOES}")
_CAPITALISED_BEFORE = re.compile(rf"[{UPPER}][\w.’'-]* $")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)*(?![ \t]{0,8}(?:[-*•–|]|\d{1,2}[.)]) |[^\n]{1,60} \| )")
_MAX_BEFORE = 60
_SIGNATURE_CHARS = 120


def find_acting_people(text: str) -> Iterator[NamedPerson]:
    """Yield the people at work in sentences, and at the beginning of lines if there are several or a first name is
    known."""
    small = frozenset(SMALL_WORD.findall(text))
    items: list[NamedPerson] = []
    for found in _find_possible_people(text, small):
        start, end = found.span.start, found.span.end
        before = text[max(0, start - _MAX_BEFORE) : start]
        if _is_signature(text, start, end):
            yield found
        elif _ITEM_BEFORE.search(before) and _ITEM_AFTER.match(text, end):
            items.append(found)
        elif is_at_work(text, start, end, known=has_given_name(found.person)):
            yield found
    if len(items) > 1 or any(has_given_name(item.person) for item in items):
        yield from items


def find_people_near(text: str, named: Sequence[MaskSpan]) -> Iterator[NamedPerson]:
    """Yield the possible people in paragraphs, lists and tables in which others are `named`, except cited authors."""
    small = frozenset(SMALL_WORD.findall(text))
    starts = [0, *(match.end() for match in _PARAGRAPH_END.finditer(text))]
    paragraphs = {bisect_right(starts, span.start) for span in named}
    for found in _find_possible_people(text, small):
        if bisect_right(starts, found.span.start) in paragraphs and not _is_cited(text, found.span):
            yield found


def _find_possible_people(text: str, small: Container[str]) -> Iterator[NamedPerson]:
    things = {match[1] for match in _AFTER_ARTICLE.finditer(text)}
    for match in POSSIBLE_NAME.finditer(text):
        person = person_of(match[0])
        if person is None or match[0] in things or names_institution(person.full):
            continue
        if (may_be_name(person, small) and may_be_person(match, small)) or (
            _WHO_AFTER.match(text, match.end()) and _has_unknown_surname(person, small)
        ):
            yield NamedPerson(MaskSpan(*match.span(), "name"), person)


def acts_alone(text: str) -> bool:
    """Return whether a single surname or first name stands beside words that apply to members of a team: `Roe thinks`,
    `Roe's students`."""
    small = frozenset(SMALL_WORD.findall(text))
    for match in _ALONE.finditer(text):
        name, start, end = match["name"], *match.span("name")
        member = match["pronoun"] or match["member"] or (is_given_name(name) and _DOES_ALONE.match(text, end))
        alone = not _CAPITALISED_BEFORE.search(text, max(0, start - 30), start)
        if member and alone and _has_unknown_surname(Person("", name), small):
            return True
    return False


def _has_unknown_surname(person: Person, small: Container[str]) -> bool:
    surname = person.family.lower()
    return surname not in small and surname not in english_words() and not is_eponym(person.family)


def _is_signature(text: str, start: int, end: int) -> bool:
    """Return whether a name has a line of its own at the end of the text."""
    return len(text) - end < _SIGNATURE_CHARS and text[start - 1] == "\n" and text[end : end + 1] in ("", "\n")


def is_at_work(text: str, start: int, end: int, *, known: bool) -> bool:
    """Return whether a name stands beside words about what its bearer does for the proposal. `known` is true if the
    first name is known."""
    if _is_cited(text, MaskSpan(start, end, "name")):
        return False
    before = text[max(0, start - _MAX_BEFORE) : start]
    is_subject = _PREPOSITION_BEFORE.search(before) is None
    return bool(
        _BEFORE.search(before)
        or (known and _BEFORE_KNOWN.search(before))
        or (is_subject and (_AFTER.match(text, end) or _AFTER_WITH_US.match(text, end)))
    )


def _is_cited(text: str, span: MaskSpan) -> bool:
    before = text[max(0, span.start - _MAX_BEFORE) : span.start]
    stated = _STATED_AFTER.match(text, span.end) and not _BULLET_BEFORE.search(before)
    return bool(stated or _STATED_BEFORE.search(before))
