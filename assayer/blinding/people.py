"""Find the people whom a text introduces: by a title, as people who lead, advise or apply, or as authors of the text's
own earlier work."""

import re
from collections.abc import Iterator
from itertools import chain
from typing import NamedTuple

from assayer.blinding.institution_patterns import institution_places, names_institution
from assayer.blinding.mentions import find_small_words, has_small_word, may_be_name
from assayer.blinding.names import (
    NAME,
    NO_SURNAMES,
    PARTICLES,
    PERSONAL_TITLE,
    PROSE_TITLE,
    ROLE,
    UPPER,
    has_given_name,
    is_sure_title,
    person_of,
)
from assayer.blinding.person import Person
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import split_words

_SURNAME = (
    rf"(?:(?:van der|van den|von der|de la|van|von|de|del|di|da|dos|bin|ibn|"
    rf"al) )?(?:[{UPPER}]\.[ -]?){{0,3}}(?:[DO]['’](?=[{UPPER}]))?[{UPPER}][^\W\d_]{{1,20}}"
    r"(?:[-'’](?!s\b)[^\W\d_]{1,20}){0,2}"
)
_TITLED = re.compile(
    rf"(?<![\w.])(?P<titles>(?:(?:{PERSONAL_TITLE}|{PROSE_TITLE}),? ){{1,4}})"
    rf"(?:\(?[A-Z]{{2,4}}\)? )?(?P<name>{NAME}|{_SURNAME})"
)
_OF_SEVERAL = re.compile(r"(?:Drs|Profs|Professors)\b")
_NOT_AFTER_TITLE = split_words(
    """
    of in for at and the
    Phone Email E-mail Mobile Fax Tel Address ID ORCID Abstract Keywords Department
    Technische Universit Thesis Theses Degree Programme Program Program's Student Students Candidate School Of
    """
)
_FIRST_PERSON = (
    r"(?:propose|plan|will|would|am|have|hereby|intend|want|aim|seek|apply|submit|request|study|argue|declare|confirm)"
)
_SURE = re.compile(
    rf"\b(?:[Mm]y name is|I am called|I,(?=[ ]{{1,2}}[{UPPER}][\w .'’-]{{3,40}}, {_FIRST_PERSON}\b)|"
    r"under the (?:supervision|guidance|mentorship|direction|leadership) of|"
    rf"(?:submitted|written|prepared|authored|proposed) by|(?:[Cc]orrespondence|[Cc]orresponding author)\b"
    rf"[^.\n]{{0,50}}?(?: to|:)|(?:the )?(?:principal investigator|co-?investigator|"
    rf"applicant|PI|co-?PI|supervisor|project leader|lead author|first author),?)[ ]{{1,2}}"
    rf"\(?(?:{PERSONAL_TITLE} ){{0,2}}(?P<name>{NAME})"
)
_MADE_BY = (
    r"(?:(?:(?:an? |the )?(?:\w+ ){0,2}(?:proposal|plan|project|idea|report|draft|application|note|memo|paper|"
    r"thesis|study)|"
    r"(?:\w+ )?[a-z]{2,15}(?:ed|en))\b[^.:\n]{0,100} )"
)
_BYLINES = (
    re.compile(
        r"(?:(?:^|(?<=[.!?,;:] )|(?<=and )|(?<=ere )|(?<=that ))I|\b[Tt]he undersigned|\b[Ww]e),? \(?"
        rf"(?=(?:{PERSONAL_TITLE} )?{NAME}(?:,|\)| and ))",
        re.M,
    ),
    re.compile(rf"\bI(?: a|['’])m (?=(?:{PERSONAL_TITLE} )?{NAME}[.,;])"),
    re.compile(
        rf"(?:^|[~|·—–])[ \t*_]{{0,4}}(?:(?i:by)[ \t*_]{{1,4}}(?={NAME}(?:[.,;*_(\n|]|$| \(| on | and | & | [~·—–|*]))"
        rf"|(?i:{_MADE_BY}by)[ \t*_:]{{1,4}}(?={NAME}))",
        re.M,
    ),
    re.compile(
        rf"(?:©|\([cC]\)|Copyright) ?(?:\d{{4}}(?:[-–,] ?\d{{4}})?,? )?(?:by )?(?={NAME}(?:[.,;\n]|$| \d| and ))", re.M
    ),
    re.compile(
        rf"^[ \t*_]{{0,4}}(?i:von|par|por|di|door|av|af|przez|od|oleh|от|від) (?={NAME}(?:(?:,| und| et| y| e| en| "
        rf"och| og) {NAME})*[ \t*_.]*$)",
        re.M,
    ),
    re.compile(
        rf"\b(?:prepared|submitted|written|drafted|compiled|proposed) (?:for|to|at|in|on) [^.:\n]{{0,80}}? by "
        rf"(?={NAME})"
        rf"|\b(?:proposal|application|research plan|project idea|concept note)\b[^.:\n]{{0,80}}? by (?={NAME})"
        rf"|(?<=, and )by (?={NAME})"
    ),
    re.compile(
        rf"\b(?:[Cc]all|[Pp]hone|[Ee]-?mail|[Rr]each|[Nn]otify|[Vv]isit) (?={NAME} ?(?:on |at |via |by |under |[(<:]))"
    ),
    re.compile(
        rf"\b(?:[Cc]ontact|[Ww]rite to|[Aa]sk)(?: person)?:? (?={NAME} ?(?:at |via |by |[(<:,]| and | or |[.;\n]|$))"
    ),
    re.compile(rf"^[ \t]{{0,4}}[—–~][ \t]?(?={NAME}$)", re.M),
)
"""Patterns for text before a name. They also check the name's form, so its first name need not be known."""
_IN_ITS_SCRIPT = re.compile(r" ?[(（](?P<name>[^\x00-\u2fff()（）]{2,6})[)）]")
_NAME = re.compile(rf"(?:{PERSONAL_TITLE},? ){{0,3}}(?P<name>{NAME})")
_NAME_WITH_ROLE = re.compile(
    rf"\b(?P<name>{NAME})(?P<link>, (?:an? )?| \((?:an? )?| is an? )(?:the )?"
    rf"(?:PI\b|(?i:{ROLE})|(?:(?:Managing |Executive )?(?:Director|President|Chair|Head)|CEO)\b|"
    r"(?:Department|School|Institute|University|Faculty) (?:of|for) )",
)
_NAME_BEFORE_PLACE = re.compile(
    rf"(?P<name>{NAME})(?P<link>,? \(|, |['’]s (?:lab|laboratory|group|team) (?:at|in) | (?:at|of|from) )(?:the )?$"
)
_SURE_LINKS = frozenset(
    (" (", "'s lab at ", "’s lab at ", "'s group at ", "’s group at ", "'s team at ", "’s team at ")
)
"""Links between a name and an institution which show that the name is a person's, even if it is unknown."""
_MAX_NAME_CHARS = 90
_ROLE_WITH_NAME = re.compile(rf"\b(?i:{ROLE})(?: |s?: | \()(?P<name>{NAME})")
_OWN_WORK = re.compile(
    r"\b(?:our|my|the (?:applicants?|PI|authors?|team)['’]s?|we|I)\b(?: (?:own|very))?(?: (?:previous|"
    r"previously|prior|earlier|recent|recently|preliminary|past|first|have|had|published|own|pilot)){1,4}"
    r"[^.!?\n()\[\]]{0,120}(?P<cited>[(\[][^)\]\n]{3,160}[)\]])",
    re.I,
)
_TEXTUAL = rf"{_SURNAME}(?: et al\.?|(?: and| &) {_SURNAME})?,? \((?:19|20)\d\d[a-z]?\)"
_MADE = (
    r"(?:method|model|approach|system|algorithm|framework|tool|data ?set|study|studies|work|results?|findings|"
    r"experiments?|reports?|notes?|analys[ei]s)"
)
_CITED = rf"(?P<cited>[(\[][^)\]\n]{{3,160}}[)\]]|{_TEXTUAL})"
_REPORTED = r"(?:showed|shown|demonstrated|proved|proposed|introduced|reported|argued|established|developed|presented)"
_SELF_CITED = (
    re.compile(rf"\b[Ii]n {_CITED},? (?:we|I)(?: have| had)?(?: also| first| already| previously)? {_REPORTED}\b"),
    re.compile(
        rf"\b(?:[Ww]e|I)(?: have| had)?(?: also| first| already| previously| recently)? {_REPORTED}\b"
        rf"[^.!?\n()\[\]]{{0,60}}? in {_CITED}"
    ),
    re.compile(
        rf"\b(?:[Oo]ur|[Mm]y)(?: \w{{1,20}}){{0,2}} (?:paper|article|preprint|thesis|dissertation|manuscript|book)s?"
        rf"(?: on[^.!?\n()\[\]]{{1,60}})?,? {_CITED}"
    ),
    re.compile(
        rf"\b(?:[Oo]ur|[Mm]y)(?: [a-z]{{1,20}}){{0,2}} (?:previous|prior|earlier|past|own|published)(?: "
        rf"[a-z]{{1,20}})? {_MADE},? "
        rf"{_CITED}"
    ),
    re.compile(
        rf"\b(?:extend|build on|continue|improve|generali[sz]e)s? (?:our|my)(?: [a-z]{{1,20}}){{0,2}} {_MADE},? "
        rf"{_CITED}"
    ),
    re.compile(rf"\b(?:[Oo]ur|[Mm]y)(?: [a-z]{{1,20}}){{0,2}} (?:reports?|stud(?:y|ies)|work),? {_CITED}"),
    re.compile(rf"{_CITED},? (?:where|in which) (?:we|I)(?: have| had| first)? [a-z]{{2,20}}(?:ed|t|wn|de|nd)\b"),
    re.compile(
        rf"\b(?:by|from|of|in) (?:our|my)(?: own)? (?:group|team|lab|laboratory|institute)[^.!?\n()\[\]]{{0,20}} "
        rf"{_CITED}"
    ),
)
_CITED_NAME = re.compile(
    rf"(?P<name>{_SURNAME})(?= et al\b|,? \(?(?:19|20)\d\d|,? (?:and|&) {_SURNAME},? \(?(?:19|20)\d\d|"
    rf"(?:,? [{UPPER}]\.)+)|(?<=and )(?P<second>{_SURNAME})(?=,? \(?(?:19|20)\d\d)|"
    rf"(?<=& )(?P<third>{_SURNAME})(?=,? \(?(?:19|20)\d\d)"
)
_NO_AUTHORS = split_words(
    """
    January February March April May June July August September October November December Section Table Figure
    In
    """
)
_AND = re.compile(r",? (?:(?:and|or|&|und|et|y|e|i|и|та|a|och|og|ja|en|és|ve) )?|[,;/] ?")


class NamedPerson(NamedTuple):
    span: MaskSpan
    person: Person


def parse_named_person(match: "re.Match[str]", group: str | int = "name") -> NamedPerson | None:
    words = match[group].split(" ")
    while words and words[-1] in _NOT_AFTER_TITLE:
        words.pop()
    person = person_of(" ".join(words))
    surname = words[-1] if words and PARTICLES.issuperset(words[:-1]) else ""
    if person is None and len(surname) > 1 and surname not in NO_SURNAMES:
        person = Person("", " ".join(words))
    if person is None:
        return None
    start = match.start(group)
    return NamedPerson(MaskSpan(start, start + len(" ".join(words)), "name"), person)


def find_introduced_people(text: str) -> Iterator[NamedPerson]:
    """Yield the people whom the text introduces, in no particular order. Spans include titles, and `Li Wei (李伟)`
    yields both forms of the name."""
    small = find_small_words(text)
    in_bylines = (
        item
        for pattern in _BYLINES
        for before in pattern.finditer(text)
        for item in people_from(text, before.end(), small)
    )
    for item in chain(
        _find_titled_people(text, small),
        _people_by_action(text, small),
        in_bylines,
        _people_beside_role_or_place(text, small),
    ):
        yield item
        if (written := _IN_ITS_SCRIPT.match(text, item.span.end)) and (other := person_of(written["name"])):
            yield NamedPerson(MaskSpan(*written.span("name"), "name"), other)
    for pattern in (_OWN_WORK, *_SELF_CITED):
        for match in pattern.finditer(text):
            yield from _find_cited_people(text, *match.span("cited"))


def _find_titled_people(text: str, small: frozenset[str]) -> Iterator[NamedPerson]:
    for match in _TITLED.finditer(text):
        found = parse_named_person(match)
        addressed = text.endswith("Dear ", 0, match.start())
        if found is not None and (addressed or is_sure_title(match["titles"]) or has_given_name(found.person)):
            yield NamedPerson(found.span._replace(start=match.start()), found.person)
            if between := _AND.match(text, found.span.end):
                yield from people_from(text, between.end(), small if _OF_SEVERAL.match(match[0]) else None)


def _people_by_action(text: str, small: frozenset[str]) -> Iterator[NamedPerson]:
    """Yield people who lead, advise, apply or help, according to the text."""
    for match in _SURE.finditer(text):
        found = parse_named_person(match)
        if found is not None and (
            has_given_name(found.person)
            or (match[0][0] in "MmIus" and "PI" not in match[0])
            or match[0][1:].startswith("orrespond")
        ):
            yield found


def _people_beside_role_or_place(text: str, small: frozenset[str]) -> Iterator[NamedPerson]:
    for pattern in (_NAME_WITH_ROLE, _ROLE_WITH_NAME):
        for match in pattern.finditer(text):
            found = parse_named_person(match)
            bracketed = pattern is _NAME_WITH_ROLE and match["link"].startswith(" (")
            if found is not None and _is_person(found.person, bracketed, small):
                yield found
                if pattern is _ROLE_WITH_NAME and (between := _AND.match(text, found.span.end)):
                    yield from people_from(text, between.end(), small)
    for place in institution_places(text):
        begin = max(0, place - _MAX_NAME_CHARS)
        before = _NAME_BEFORE_PLACE.search(text[begin:place])
        found = parse_named_person(before) if before else None
        if before is None or found is None:
            continue
        bracketed = before["link"] in _SURE_LINKS or text[begin + before.start() - 1 : begin + before.start()] == "("
        if _is_person(found.person, bracketed, small):
            span = found.span
            yield found._replace(span=span._replace(start=begin + span.start, end=begin + span.end))


def _is_person(person: Person, likely: bool, small: frozenset[str]) -> bool:
    return may_be_name(person, small) or (likely and not has_small_word(person, small))


def find_likely_people(text: str, start: int, end: int) -> Iterator[NamedPerson]:
    """Yield the people named between two offsets. Only meant for text that is about people."""
    small = find_small_words(text)
    for match in _NAME.finditer(text, start, end):
        found = parse_named_person(match)
        if found is not None and may_be_name(found.person, small) and not names_institution(found.person.full):
            yield found


def people_from(text: str, place: int, small: frozenset[str] | None = None) -> Iterator[NamedPerson]:
    """Yield the people in a list such as `Jane Roe, Li Wei and Tom Poe`, stopping at the first unknown first name. If
    `small`, the text's lower-case words, is passed, a name with an unknown first name also counts if none of its words
    is in `small`."""
    for _ in range(12):
        match = _NAME.match(text, place)
        found = _drop_next_label(match, small) if match else None
        if match is None or found is None:
            return
        if not has_given_name(found.person) and (small is None or not may_be_name(found.person, small)):
            return
        yield found
        place = found.span.end
        between = _AND.match(text, place)
        if between is None:
            return
        place = between.end()


def _drop_next_label(match: "re.Match[str]", small: frozenset[str] | None) -> NamedPerson | None:
    """Return the person without words after the name that begin a form's next label, as in `SUBMITTED BY: Jane Roe
    REGISTRATION NUMBER`."""
    found = parse_named_person(match)
    words = match["name"].split(" ")
    while small and found and len(words) > 2 and not words[0].isupper():
        last = words[-1]
        if last.lower() not in small and not (last.isupper() and len(last) > 2):
            break
        words.pop()
        start = match.start("name")
        person = person_of(" ".join(words))
        found = person and NamedPerson(MaskSpan(start, start + len(" ".join(words)), "name"), person)
    return found


def _find_cited_people(text: str, start: int, end: int) -> Iterator[NamedPerson]:
    for match in _CITED_NAME.finditer(text, start, end):
        group = next(name for name in ("name", "second", "third") if match[name])
        if (found := parse_named_person(match, group)) is not None and match[group] not in _NO_AUTHORS:
            yield found
