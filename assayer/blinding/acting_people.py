"""Find people whom a sentence or a list shows at work on the proposal, in contrast to cited authors and people of the
past: `sampling is done by Jane Roe`, `Jane Roe builds the sensors`, `- Jane Roe – field work`."""

import calendar
import re
from bisect import bisect_right
from collections.abc import Container, Iterator, Sequence

from assayer.blinding.institution_patterns import names_institution
from assayer.blinding.mentions import find_small_words, is_eponym, may_be_name
from assayer.blinding.names import LETTER, LOWER, NAME, UPPER, has_given_name, is_given_name, person_of
from assayer.blinding.people import NamedPerson
from assayer.blinding.person import Person
from assayer.blinding.remaining_names import POSSIBLE_NAME, may_be_person
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import english_words, load_phrases
from assayer.text.content_words import is_grammar

STATED = (
    r"(?:shown|found|proven|written|show|find|argue|propose|describe|suggest|report|demonstrate|observe|introduce|define|prove|derive|coin|discover|"
    r"invent|note|claim|conclude|call|conjecture|formulate|popularise|popularize|pioneer|publish|warn|write|ask)"
    r"(?:s|d|ed)?"
)
"""Pattern for what cited authors do."""
_STATED_BEFORE = re.compile(rf"\b{STATED}(?: \w+){{0,2}} by $|(?<!\b[dDlL])[\"“”„«‘’'](?: by)? ?$")
_STATED_AFTER = re.compile(rf",? (?:(?:has|have|had) )?(?:also |first |once )?{STATED}\b")
_BEFORE = re.compile(
    r"\b(?:(?:is|are|be|been|being) (?:[\w-]+ ){1,5}by|"
    r"(?:led|headed|chaired|advised|mentored|supervised) (?:jointly )?by|"
    r"(?:calls?|talks?|met|meetings?|conversation|together|jointly|collaborat\w+|work\w*|discuss\w*|interview|shares?|"
    r"agreed) with|when|if|should|unless|until|ask|(?:group|team|lab(?:oratory)?) of|(?:applicant|candidate|pi),|"
    r"(?:our|my)(?: [\w-]+,?){1,3}|my (?:ph\.?d|doctorate|thesis|studies)\b[^.!?\n]{0,40} with|colleague|student) $",
    re.IGNORECASE,
)
_ROLE_STEMS = "|".join(sorted(load_phrases("role_stems.txt")))
_ROLE_BEFORE = re.compile(
    rf"(?<![^\W_])(?:{_ROLE_STEMS})[^\W\d_]{{0,8}}(?: \([^()\n]{{1,30}}\))?[,:]? $", re.IGNORECASE
)
_ROLE_AFTER = re.compile(rf"(?:,| \() ?(?:{_ROLE_STEMS})", re.IGNORECASE)
"""Patterns for the role of a member of a team before and after a name, in many languages."""
PREPOSITION_BEFORE = re.compile(r"\b(?:by|of|from|to|in|on|at|for|like|as|about|with) $")
_BEFORE_KNOWN = re.compile(
    r"\b(?:and|for|from|to|that|I(?: a|['’])m|[Ww]e,|[Tt]hank|"
    r"(?:[a-z]+ed|run|supervision|guidance|help|advice|support) by) $"
)
"""Pattern for words before a person at work. Used only if the first name is known."""
_DOES = (
    r"(?:will|would|can|could|may|shall|must|has|have|is|does|agreed|promised|joined|"
    r"[a-z]{1,15}s(?!,| and\b| or\b))(?![\w-])"
)
_MEMBER = (
    r"['’]s? (?:hunch|team|group|lab|students?|colleagues?|office|contract|permission|notes?|notebook|leave|experience|"
    r"help|salary|position|desk|family)\b"
)
_BETWEEN = (
    r"(?:\*\*|__)?(?:,? \([^()\n]{1,60}\))?(?: (?:of|from|at) (?:the|our) (?:[\w-]+ ){0,3}[\w-]+)??,?"
    r" (?:(?:who|now|also|already|then|herself|himself) )*"
)
_AFTER = re.compile(rf"{_BETWEEN}(?:and (?:I|we)\b|{_DOES}(?! (?:an?|the) (?:[A-Z]|\d)))")
_AFTER_ANY = re.compile(rf"{_MEMBER}|,? (?:with|from|to) whom (?:s?he|we|I)\b")
_ASKS_US = re.compile(r" [a-z]{2,12} (?:to )?(?:me|us)\b")
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
    rf"(?<![\w@/.-])(?P<pronoun>(?:[Ss]he|[Hh]e) \()?"
    rf"(?P<name>[{UPPER}][{LOWER}]{LETTER}{{0,20}}(?:-[{UPPER}]{LETTER}{{1,20}})?)(?!\w)"
    rf"(?P<member>{_MEMBER}"
    r"| (?:also |already )?(?:thinks|says|said|wants|hopes|suspects|doubts|prefers|insists|promised|agreed|joined|"
    r"volunteered|objects|writes|drafts|brings|signs|visits|teaches|supervises|coordinates|recruits|travels)\b)?"
)
_DOES_ALONE = re.compile(rf" (?:also |already |then )?{_DOES}")
_ACTING_SURNAME = re.compile(
    rf"(?<![\w-])([{UPPER}][{LOWER}][\w’'-]{{1,30}}) "
    rf"(?:will|(?!(?:ha|wa|it|hi|thi)s\b|{STATED}\b)[a-z]{{2,15}}s)(?![\w,-])"
)
_ACTS = re.compile(rf": |(?:{_DOES_ALONE.pattern}| [a-z]{{2,15}}ed\b)")
_CAPITALISED_BEFORE = re.compile(rf"[{UPPER}][\w.’'-]* $")
_PARAGRAPH_END = re.compile(r"\n[ \t]*\n(?:[ \t]*\n)*(?![ \t]{0,8}(?:[-*•–|]|\d{1,2}[.)]) |[^\n]{1,60} \| )")
_DATES = frozenset(name.lower() for name in (*calendar.month_name, *calendar.day_name))
_MAX_BEFORE = 60
_SIGNATURE_CHARS = 120


def find_possible_people(text: str) -> list[NamedPerson]:
    """Return the words of a text that have the form of a person's full name, without names of methods, places and
    cited authors."""
    small = find_small_words(text)
    things = {match[1] for match in _AFTER_ARTICLE.finditer(text)}
    people: list[NamedPerson] = []
    for found in POSSIBLE_NAME.finditer(text):
        match: re.Match[str] | None = found
        while match and match[0].count(" ") > 1 and _is_word_or_date(match[0].partition(" ")[0].lower()):
            match = POSSIBLE_NAME.match(text, match.start() + match[0].index(" ") + 1)
        person = person_of(match[0]) if match else None
        if match is None or person is None or match[0] in things or names_institution(person.full):
            continue
        is_name = may_be_name(person, small) and may_be_person(match, small, without_places=False)
        if is_name or (_WHO_AFTER.match(text, match.end()) and _is_no_word(person.family, small)):
            people.append(NamedPerson(MaskSpan(*match.span(), "name"), person))
    return people


def find_acting_people(text: str, possible: Sequence[NamedPerson]) -> Iterator[NamedPerson]:
    """Yield the possible people whom the text shows as taking part in the proposal.

    These are people who are described as doing something for it, and people who sign the text. People whose names begin
    a line are included if there are several such lines, or if one of the first names is known."""
    acting = set(_ACTING_SURNAME.findall(text))
    items: list[NamedPerson] = []
    for named in possible:
        start, end = named.span.start, named.span.end
        before = text[max(0, start - _MAX_BEFORE) : start]
        acts = "." in named.person.given and named.person.family in acting
        if _ITEM_BEFORE.search(before) and _ITEM_AFTER.match(text, end):
            items.append(named)
        at_work = not _is_cited(text, named.span) and (acts or _is_at_work(text, named))
        if at_work or _is_signature(text, start, end) or _ASKS_US.match(text, end):
            yield named
    if len(items) > 1 or any(has_given_name(item.person) for item in items):
        yield from items


def find_people_near(text: str, possible: Sequence[NamedPerson], named: Sequence[MaskSpan]) -> Iterator[NamedPerson]:
    """Yield the possible people in a paragraph, list or table that contains a span from `named`. Cited authors are left
    out."""
    starts = [0, *(match.end() for match in _PARAGRAPH_END.finditer(text))]
    paragraphs = {bisect_right(starts, span.start) for span in named}
    for item in possible:
        if bisect_right(starts, item.span.start) in paragraphs and not _is_cited(text, item.span):
            yield item


def names_act_alone(text: str, people: Sequence[Person]) -> bool:
    """Return whether a single surname or first name stands beside words about members of a team, as in `Roe thinks` and
    `Roe's students`, or begins with the initial of a person whose first name is unknown and acts: `Jane sealed it`."""
    small = find_small_words(text)
    initials = {person.given[0] for person in people if person.given[1:2] == "."}
    for match in _ALONE.finditer(text):
        name, start, end = match["name"], *match.span("name")
        if not _is_no_word(name, small) or _CAPITALISED_BEFORE.search(text, max(0, start - _MAX_BEFORE), start):
            continue
        if match["pronoun"] or match["member"] or (is_given_name(name) and _DOES_ALONE.match(text, end)):
            return True
        if name[0] in initials and _ACTS.match(text, end) and not _STATED_AFTER.match(text, end):
            return True
    return False


def _is_word_or_date(word: str) -> bool:
    return word in english_words() or word in _DATES or is_grammar(word)


def _is_no_word(name: str, small: Container[str]) -> bool:
    return name.lower() not in small and name.lower() not in english_words() and not is_eponym(name)


def _is_signature(text: str, start: int, end: int) -> bool:
    """Return whether a name has a line of its own at the end of the text."""
    alone = text[max(0, start - 1) : start] in ("", "\n") and text[end : end + 1] in ("", "\n")
    return alone and len(text) - end < _SIGNATURE_CHARS


def _is_at_work(text: str, named: NamedPerson) -> bool:
    """Return whether a name stands beside words about what its bearer does for the proposal."""
    start, end = named.span.start, named.span.end
    before = text[max(0, start - _MAX_BEFORE) : start]
    if _ROLE_BEFORE.search(before) or _ROLE_AFTER.match(text, end):
        return True
    if _BEFORE.search(before) or (has_given_name(named.person) and _BEFORE_KNOWN.search(before)):
        return True
    is_subject = PREPOSITION_BEFORE.search(before) is None
    return _AFTER_ANY.match(text, end) is not None or bool(
        is_subject and (_AFTER.match(text, end) or _AFTER_WITH_US.match(text, end))
    )


def _is_cited(text: str, span: MaskSpan) -> bool:
    """Return whether the words beside a name say what it stated, or begin or end a quotation."""
    before = text[max(0, span.start - _MAX_BEFORE) : span.start]
    stated = _STATED_AFTER.match(text, span.end) and not _BULLET_BEFORE.search(before)
    return bool(stated or _STATED_BEFORE.search(before))
