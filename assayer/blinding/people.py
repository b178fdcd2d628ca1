"""Persons whom the text names in passing, and everywhere else once they are known."""

import re
from collections.abc import Iterable, Iterator, Sequence
from typing import NamedTuple

from assayer.blinding.names import NAME, NO_SURNAMES, PERSONAL_TITLE, ROLE, UPPER, Person, has_given_name, person_of
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import eponyms, given_names, words_of

__all__ = ["NamedPerson", "introduced_people", "mentions", "roles"]

_SURNAME = (
    rf"(?:(?:van der|van den|von der|de la|van|von|de|del|di|da|dos|bin|ibn|"
    rf"al) )?(?:[{UPPER}]\.[ -]?){{0,3}}[{UPPER}][^\W\d_]{{1,20}}(?:[-'’](?!s\b)[^\W\d_]{{1,20}}){{0,2}}"
)
_TITLED = re.compile(rf"(?<![\w.])(?:{PERSONAL_TITLE} ){{1,3}}(?:\(?[A-Z]{{2,4}}\)? )?(?P<name>{NAME}|{_SURNAME})")
_NOT_AFTER_TITLE = words_of(
    """
    of in for at and the Thesis Theses Degree Programme Program Program's Student Students Candidate School Of
    """
)
_SURE = re.compile(
    rf"\b(?:[Mm]y name is|I am called|I, (?=[{UPPER}][\w .'-]{{3,40}}, )|under the (?:supervision|guidance|"
    rf"mentorship|direction|leadership) of|"
    rf"(?:submitted|written|prepared|authored|proposed) by|(?:the )?(?:principal investigator|co-?investigator|"
    rf"applicant|PI|co-?PI|supervisor|project leader|lead author|first author),?|"
    rf"[Oo]ur (?:collaborators?|colleagues?),?)[ ]{{1,2}}\(?(?:{PERSONAL_TITLE} ){{0,2}}(?P<name>{NAME})"
)
_LIKELY = re.compile(
    r"\b(?:led|headed|supervised|co-?supervised|advised|mentored|directed|coordinated|conducted|carried out|"
    r"co-?led|managed|guided|chaired|overseen|developed|designed|run|performed) "
    r"(?:jointly )?by |\b(?:[Cc]ollaborat\w{1,6}|[Tt]ogether|[Jj]ointly|[Dd]iscussions|[Aa]dvice|[Ss]upport|"
    r"[Hh]elp|[Mm]entorship|[Gg]uidance|[Ss]upervision|[Tt]hank|[Tt]hanks to|[Gg]rateful to|[Tt]eam of|"
    r"[Gg]roup of|[Ll]ab(?:oratory)? of) (?:with |from |by |of )?"
)
_LEADS = re.compile(r"\b(?:led|headed|co-?led|chaired|advised|mentored) (?:jointly )?by ")
"""Only people do so."""
_NAME = re.compile(rf"(?:{PERSONAL_TITLE} ){{0,2}}(?P<name>{NAME})")
_NAME_WITH_ROLE = re.compile(
    rf"\b(?P<name>{NAME})(?:,| \(|, an?| is an?| \(an?) (?:the )?(?:PI\b|{ROLE}|(?:Department|School|Institute|"
    rf"University|Faculty) (?:of|for) )",
)
_ROLE_WITH_NAME = re.compile(rf"\b(?i:{ROLE}) (?P<name>{NAME})")
_OWN_WORK = re.compile(
    r"\b(?:our|my|the (?:applicants?|PI|authors?|team)['’]s?|we|I)\b(?: (?:own|very))?(?: (?:previous|"
    r"previously|prior|earlier|recent|recently|preliminary|past|first|have|had|published|own|pilot)){1,4}"
    r"[^.!?\n()\[\]]{0,120}(?P<cited>[(\[][^)\]\n]{3,160}[)\]])",
    re.I,
)
_CITED_NAME = re.compile(
    rf"(?P<name>{_SURNAME})(?= et al\b|,? (?:19|20)\d\d|,? (?:and|&) {_SURNAME},? (?:19|20)\d\d|"
    rf"(?:,? [{UPPER}]\.)+)|(?<=and )(?P<second>{_SURNAME})(?=,? (?:19|20)\d\d)|"
    rf"(?<=& )(?P<third>{_SURNAME})(?=,? (?:19|20)\d\d)"
)
_WORD = re.compile(rf"[{UPPER}][^\W\d_]{{1,24}}(?:[-'’](?!s\b)[^\W\d_]{{1,24}}){{0,3}}")
_BEFORE = re.compile(r"[^\s()\[\],;:]{1,30}[ ]")
_INITIALS_OR_TITLE = re.compile(rf"^(?:(?:[{UPPER}]\.-?)+|{PERSONAL_TITLE})$")
_PARTICLES = words_of("van von der den de la del di da dos bin ibn al")
_LONGEST_GIVEN = 60
_SHORTEST_SURNAME = 3
_INITIALS_AFTER = re.compile(rf",? (?:[{UPPER}]\.[ -]?){{1,3}}(?![\w])|, (?P<given>[{UPPER}][^\W\d_]{{1,20}})")
_CITED_AFTER = re.compile(
    rf"(?:['’]s? (?:group|lab|team|work|research|stud|paper|result|earlier|previous|prior|own|expertise|"
    rf"experience|career|laborator|method|idea|proposal|track))|"
    rf" et al\b|,? \(?(?:19|20)\d\d|,? (?:and|&) [{UPPER}][^\W\d_]{{1,20}},? \(?(?:19|20)\d\d|"
    r" (?:will|has|have|is an?|was|leads|led|brings|received|holds|joined|group\b|lab\b|team\b)"
)
_TERM_AFTER = re.compile(
    r"[- –](?:[a-z]+[- ])?(?:equilibri\w+|distribution\w*|process\w*|theorem\w*|models?|filters?|inequalit\w+|"
    r"kernels?|tests?|networks?|algorithms?|methods?|"
    r"transforms?|criteri\w+|numbers?|equations?|laws?|sampl\w+|optimi[sz]\w+|loss\w*|function\w*|spaces?|"
    r"matri\w+|divergence|distance|"
    r"coefficient\w*|correlation\w*|indices|index|regression|estimat\w+|prior\w*|conjecture|paradox|effect|"
    r"score\w*|scale\w*|rule\w*|"
    r"dynamics|field\w*|machine\w*|games?|bound\w*|complex\w*|curve\w*|constant|temperature|disease|syndrome|"
    r"dataset|corpus|benchmark|"
    r"decomposition|factor\w*|chains?|tree\w*|graph\w*|code\w*|approximation|measure\w*|metric\w*|"
    r"hypothes\w+)\b|[-–](?=[A-Z])"
)
_FIRST_PERSON_ROLE = re.compile(
    rf"\b(?:I am|I'm|I’m|I work as|[Aa]s(?= an? [\w -]{{3,50}}, (?:I|we|my|our)\b)|we are|[Tt]he (?:applicant|"
    rf"PI|candidate|principal investigator|author|proposer) is|(?:led|supervised|mentored|headed) by) "
    rf"(?P<role>(?:(?i:an?|the) )?(?i:{ROLE}))(?!\w)"
)
_ROLE_HERE = re.compile(rf"(?:(?<=\[name\])|(?<=\w)),? (?:\(|, )?(?P<role>(?:an? |the )?{ROLE})", re.I)
_ROLE_AFTER_NAME = re.compile(rf"(?:,| \(| is| as)? ?(?P<role>(?:an? |the )?{ROLE})", re.I)
_ROLE_BEFORE_NAME = re.compile(rf"(?P<role>{ROLE}),? ?(?:\(?(?:PI|Dr\.?|Prof\.?)\)? )?$", re.I)
_ROLE_AT = re.compile(
    rf"\b(?P<role>(?i:an?|the) (?i:{ROLE}))(?= (?:at|in|from|"
    rf"of) (?:the )?(?:[{UPPER}][\w.&'-]+ ){{0,6}}(?:University|Institute|Department|College|School|[A-Z]{{2,5}}\b))"
)


_NO_AUTHORS = words_of(
    """
    January February March April May June July August September October November December Section Table Figure
    In
    """
)
_SMALL_WORD = re.compile(r"(?<![^\W\d_])[a-zà-ÿ]{2,20}(?![^\W\d_])")
_CAPITAL_NEXT = re.compile(rf" [{UPPER}]")
_AND = re.compile(r",? (?:and |& )?|,? ")
_CJK_NAME = re.compile(r"^[㐀-鿿]{2,4}$")
_MOST_UNSPACED = 50


class NamedPerson(NamedTuple):
    span: MaskSpan
    person: Person


def _named(match: "re.Match[str]", group: str = "name") -> NamedPerson | None:
    words = match[group].split(" ")
    while words and words[-1] in _NOT_AFTER_TITLE:
        words.pop()
    person = person_of(" ".join(words))
    if person is None and len(words) == 1 and len(words[0]) > 1 and words[0] not in NO_SURNAMES:
        person = Person("", words[0])
    if person is None:
        return None
    start = match.start(group)
    return NamedPerson(MaskSpan(start, start + len(" ".join(words)), "name"), person)


def introduced_people(text: str) -> Iterator[NamedPerson]:
    """Persons whom the text brings in by a title, as who leads, advises or applies, or by citing its own work."""
    for match in _TITLED.finditer(text):
        if (found := _named(match)) is not None:
            yield NamedPerson(found.span._replace(start=match.start()), found.person)
            if between := _AND.match(text, found.span.end):
                yield from _known_people_from(text, between.end())
    for match in _SURE.finditer(text):
        found = _named(match)
        if found is not None and (has_given_name(found.person) or (match[0][0] in "MmIus" and "PI" not in match[0])):
            yield found
    for trigger in _LIKELY.finditer(text):
        yield from _known_people_from(text, trigger.end())
    small = frozenset(_SMALL_WORD.findall(text))
    for trigger in _LEADS.finditer(text):
        yield from _known_people_from(text, trigger.end(), small)
    for pattern in (_NAME_WITH_ROLE, _ROLE_WITH_NAME):
        for match in pattern.finditer(text):
            found = _named(match)
            if found is not None and has_given_name(found.person):
                yield found
    for match in _OWN_WORK.finditer(text):
        yield from _cited_people(text, *match.span("cited"))


def _known_people_from(text: str, place: int, small: frozenset[str] | None = None) -> Iterator[NamedPerson]:
    """`Jane Roe, Li Wei and Tom Poe`, as long as the given names are known; with the text's words in small letters, as
    long as no part of a name is among them."""
    for _ in range(12):
        match = _NAME.match(text, place)
        found = _named(match) if match else None
        if match is None or found is None:
            return
        if not has_given_name(found.person) and (small is None or _has_small_word(found.person, small)):
            return
        yield found
        place = found.span.end
        between = _AND.match(text, place)
        if between is None:
            return
        place = between.end()


def _has_small_word(person: Person, small: frozenset[str]) -> bool:
    return any(word.lower() in small for word in re.findall(r"\w+", person.full))


def _cited_people(text: str, start: int, end: int) -> Iterator[NamedPerson]:
    for match in _CITED_NAME.finditer(text, start, end):
        group = next(name for name in ("name", "second", "third") if match[name])
        if (found := _named(match, group)) is not None and match[group] not in _NO_AUTHORS:
            yield found


class _Known(NamedTuple):
    """Whom this text names, and its words in small letters: those are not names."""

    families: frozenset[str]
    givens: frozenset[str]
    small: frozenset[str]


def mentions(text: str, people: Iterable[Person]) -> Iterator[MaskSpan]:
    """Every place where one of the persons is named: whole, by surname, in a citation. A surname that is also the name
    of a method (`Nash equilibrium`) is left where it is one."""
    people = list(people)
    unspaced = [one.family for one in people if not one.given and _CJK_NAME.match(one.family)]
    for name in unspaced[:_MOST_UNSPACED]:
        yield from (MaskSpan(found.start(), found.end(), "name") for found in re.finditer(re.escape(name), text))
    known = _Known(
        families=frozenset(person.family.split(" ")[-1] for person in people if len(person.family) > 1),
        givens=frozenset(part for person in people for part in person.given.split(" ") if len(part) > 2),
        small=frozenset(_SMALL_WORD.findall(text)),
    )
    if not known.families:
        return
    for match in _WORD.finditer(text):
        word = match[0]
        if word in known.families:
            yield from _surname_at(text, match.start(), match.end(), known)
        elif word in known.givens and word.lower() not in known.small and _is_alone(text, match.end(), word):
            yield MaskSpan(match.start(), match.end(), "name")


def _is_alone(text: str, end: int, word: str) -> bool:
    """Whether a given name stands for its bearer: no method is called so, and no other surname follows."""
    return word not in eponyms() and not _TERM_AFTER.match(text, end) and not _CAPITAL_NEXT.match(text, end)


def _surname_at(text: str, start: int, end: int, known: _Known) -> Iterator[MaskSpan]:
    word = text[start:end]
    begin = _with_given_names(text, start, known)
    following = _INITIALS_AFTER.match(text, end)
    given_after = following is not None and (
        following["given"] is None or following["given"] in given_names() or following["given"] in known.givens
    )
    if begin == start and _TERM_AFTER.match(text, end):
        return
    clear = begin < start or given_after or _CITED_AFTER.match(text, end) is not None
    if not clear and (word in eponyms() or word.lower() in known.small or len(word) < _SHORTEST_SURNAME):
        return
    if given_after and following is not None and begin == start:
        end = following.end()
    yield MaskSpan(begin, end, "name")


def _with_given_names(text: str, start: int, known: _Known) -> int:
    """Where a name begins whose surname begins at `start`: at its titles, given names and initials, if it has any."""
    begin = start
    for match in reversed(list(_BEFORE.finditer(text, max(0, start - _LONGEST_GIVEN), start))):
        word = match[0].rstrip()
        given = word in known.givens or word in given_names() or word.partition("-")[0] in given_names()
        if match.end() != begin and begin != start:
            break
        if given or _INITIALS_OR_TITLE.match(word):
            begin = match.start()
        elif not word.islower() or word not in _PARTICLES:
            break
    return begin


def roles(text: str, names: Sequence[MaskSpan]) -> Iterator[MaskSpan]:
    """Seniority, where it is somebody's in this text: the writer's own, or beside a name."""
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
