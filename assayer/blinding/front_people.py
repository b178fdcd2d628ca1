"""Find people named outside sentences: in front matter, after a label, and before an ORCID iD, a task or a
biography."""

import itertools
import re
from collections.abc import Iterator, Sequence

from assayer.blinding.identifiers import CONTACT
from assayer.blinding.institution_patterns import names_institution
from assayer.blinding.mentions import find_small_words, has_only_words, has_small_word, person_of_word
from assayer.blinding.names import (
    CAPITALS_FIRST,
    DEGREE,
    MARKS,
    NAME,
    PARTICLES,
    PERSONAL_TITLE,
    RUN_OF_NAMES,
    has_given_name,
    is_given_name,
    people_in,
    people_of_one_form,
    person_of,
)
from assayer.blinding.people import NamedPerson, parse_named_person, people_from
from assayer.blinding.person import Person
from assayer.blinding.spans import MaskSpan
from assayer.blinding.word_lists import english_words

_NAME = re.compile(rf"(?<![\w@/.-])(?P<name>{NAME})")
_BEFORE_DIGIT = re.compile(r"(?<=[^\W\d_])(?=[\d¹²³⁴-⁹])")
_AFTER_DIGIT = re.compile(r"(?<=[\d¹²³⁴-⁹])(?=and\b)")
_MIN_MARKED, _LETTER_MARKS = 3, frozenset("abcdefgh")
_MARKED = re.compile(
    rf"[ ,]{{0,2}}(?:{DEGREE}(?:,? {DEGREE}){{0,2}})?{MARKS}|,? {DEGREE}"
    r"|,? (?:Senior )?(?:Member|Fellow), IEEE| ID\b"
)
_CONTACT_AFTER = re.compile(
    rf"(?: ?{MARKS}(?![\d-]))?[ :,|(<–-]{{0,4}}"
    r"(?:(?:ORCID|e-?mail)(?: iD)?:? ?)?(?P<contact>\S{0,60})",
    re.I,
)
_ADDRESS_BEFORE = re.compile(r"[\w.+-]{1,64}@[\w-]{1,63}(?:\.[\w-]{1,63}){1,4} ?\((?=[^\W\d_])")
_BETWEEN = re.compile(r"(?:[\d\s,;&*†‡§∗^¹²³⁴-⁹ᵃ-ᶻ]|\b(?:and|ID|Member|Fellow|Senior|IEEE|Prof\.?|Dr\.?)){1,40}")
_TITLE_BEFORE = re.compile(rf"(?:{PERSONAL_TITLE} )$")
_MAX_TITLE_CHARS = 30
_TASKS = (
    r"(?:Conceptuali[sz]ation|Data curation|Formal analysis|Funding acquisition|Investigation|Methodology|"
    r"Project administration|Resources|Software|Supervision|Validation|Visuali[sz]ation|Writing)"
)
_TASK_AFTER = re.compile(rf":? ?[(:–—-] ?{_TASKS}\b", re.I)
_POST = r"(?:an? |the )?(?:\w+ ){0,2}(?:professor|lecturer|researcher|student|scientist|fellow)"
_BIOGRAPHY_AFTER = re.compile(
    r"(?:,? \([^)\n]{0,60}\))? (?:(?:received|earned|obtained|holds|completed) (?:the|an?|his|her|their) [^.\n]{0,40}?"
    r"(?:degree|Ph\.? ?D|[BM]\. ?[A-Z]|diploma|doctorate)|was born (?:in|on)|"
    rf"(?:is|has been|was) (?:currently )?(?i:{_POST}))"
    r"|,? (?:\(?(?:née?|nacid[oa]|nascid[oa]|nat[oa] (?:a|il|nel)|geb\.|geboren|född|født|syntynyt|ur\.|"
    r"urodzon[ya]|narozen[aá]?|"
    r"doğumlu|született|родил(?:ся|ась)|г\.р\.|\* ?\d))"
)
_ET_AL = re.compile(r"([^\W\d_a-z][\w'’-]{2,30}) et al\b")
_BULLET = re.compile(r"(?:^|(?<=; ))- |\*\*\w{1,30}\*\*: ")
_PARTS = re.compile(r"[:|–—]")
_DOCTOR = re.compile(r",? (?:Ph\.? ?D|M\.? ?D|MPH|DPhil|Dr\.-Ing)\b(?! (?:student|candidate|thesis|program))")
_LABEL = re.compile(
    r"\b(?:(?:co-?)?supervis[eo]rs?|authors?|(?:full )?name|advis[eo]rs?|submitted by|cite this \w+|cite as|"
    r"how to cite|"
    r"researcher|(?:phd |doctoral |graduate )?(?:student|candidate)|applicant|promot[eo]r|ACM Reference Format)"
    r"(?: ?[:–-]|\*{0,2}:\*{0,2}|:? \*\*)[ \n]?(?=[^\W\d_])|^by (?=[^\W\d_])",
    re.I | re.M,
)
_UP_TO_DATE = re.compile(r"[^\n(]{4,300}?(?= ?\(?(?:19|20)\d\d|[.]? *$|\n)", re.M)
_CARD_AFTER = re.compile(r" ?[|·] ?(?=[^\n]{0,200}(?:@|\+\d|\bUniversit|\bInstitut))")
_NUMBER_AFTER = re.compile(r" ?\((?:ID|no\.?|student (?:id|number))?[:# ]{0,2}\d{5,10}\)", re.I)
"""Pattern for a student number after a name."""
_AT_PLACE = re.compile(r", (?P<place>[^,\n]{5,70})(?=[,\n]|$)")


def people_beside_marks(text: str) -> Iterator[NamedPerson]:
    """Yield the people named after a label, or before an ORCID iD, an email address, a task or a biography."""
    small = find_small_words(text)
    for pattern in (_LABEL, _ADDRESS_BEFORE):
        for before in pattern.finditer(text):
            yield from people_from(text, before.end(), small)
            if listed := _UP_TO_DATE.match(text, before.end()):
                span = MaskSpan(listed.start(), listed.end(), "name")
                yield from (NamedPerson(span, person) for person in people_of_one_form(listed[0]))
    for match in CAPITALS_FIRST.finditer(text):
        person = person_of(match["name"])
        if person and match["given"].lower() not in small | english_words():
            yield NamedPerson(MaskSpan(*match.span("name"), "name"), person)
    for match in _NAME.finditer(text):
        patterns = (_TASK_AFTER, _BIOGRAPHY_AFTER, _DOCTOR, _NUMBER_AFTER, _CARD_AFTER)
        if _has_contact_after(text, match.end()) or any(item.match(text, match.end()) for item in patterns):
            item = parse_named_person(match)
            if item is not None and (has_given_name(item.person) or not has_small_word(item.person, small)):
                yield item


def _has_contact_after(text: str, end: int) -> bool:
    found = _CONTACT_AFTER.match(text, end)
    return found is not None and CONTACT.search(found["contact"]) is not None


def people_of_front(text: str, small: frozenset[str]) -> list[Person]:
    """Return the people named in text that is known to be front matter. If its first name is unknown, a name counts
    only if a footnote mark, a degree, a membership or an institution follows, or if it stands beside a name that
    counts."""
    text = RUN_OF_NAMES.sub(_separate_names, _AFTER_DIGIT.sub(" ", _BEFORE_DIGIT.sub(" ", text)))
    found: list[tuple[NamedPerson, bool]] = []
    for match in _NAME.finditer(text):
        item = parse_named_person(match)
        if item is None or names_institution(item.person.full):
            continue
        likely = not has_small_word(item.person, small)
        titled = _TITLE_BEFORE.search(text, max(0, match.start() - _MAX_TITLE_CHARS), match.start())
        marked = titled or _MARKED.match(text, item.span.end)
        place = _AT_PLACE.match(text, item.span.end)
        at_place = place is not None and names_institution(place["place"])
        at_place = at_place or (not text[: match.start()].strip(" *_#") and names_institution(text[item.span.end :]))
        known = has_given_name(item.person) and not has_only_words(item.person, small)
        sure = known or (likely and (marked is not None or at_place))
        if sure or likely:
            found.append((item, sure))
    kept = [sure for _, sure in found]
    for order in (range(1, len(found)), range(len(found) - 2, -1, -1)):
        for number in order:
            other = number + (1 if order.step < 0 else -1)
            left, right = sorted((number, other))
            between = text[found[left][0].span.end : found[right][0].span.start]
            kept[number] = kept[number] or (kept[other] and _BETWEEN.fullmatch(between) is not None)
    people = [item.person for (item, _), keep in zip(found, kept, strict=True) if keep]
    return people + _strip_letter_marks(people)


def _strip_letter_marks(people: list[Person]) -> list[Person]:
    """Return the people without the letters of footnotes that a PDF joins to their names (`Ann Leea, Bo Crowb`); empty
    if the last letters cannot be such marks. They may be marks by chance (`Ann Costa, Bo Webb`), so the names as
    printed count too."""
    marks = [person.family[-1:] for person in people]
    if len(people) < _MIN_MARKED or marks[0] != "a" or len(set(marks)) < 2 or not set(marks) <= _LETTER_MARKS:
        return []
    return [person._replace(family=person.family[:-1]) for person in people]


def _separate_names(run: "re.Match[str]") -> str:
    """Insert a comma before each known first name that begins another name in a run of names."""
    words = run[0].split()
    separated, length = words[0], 1
    for before, word in itertools.pairwise(words):
        begins = length > 1 and is_given_name(word) and not is_given_name(before) and before[-1] != "."
        separated += f", {word}" if begins else f" {word}"
        length = 1 if begins else length + 1
    return separated


def people_in_fields(fields: Sequence[str], text: str) -> list[Person]:
    """Return the people in document fields that name the authors, such as `author` above a Markdown text. A field such
    as `Neural Plans` is not a name if most of its words also occur in lower case in the text."""
    small = find_small_words(text)

    def is_name(person: Person) -> bool:
        words = [word.lower() for word in re.findall(r"\w+", person.full) if word not in PARTICLES]
        return has_given_name(person) or 2 * sum(word in small for word in words) <= len(words)

    found: list[Person] = []
    for field in fields:
        found += [*people_of_front(field, frozenset()), *(Person("", name) for name in _ET_AL.findall(field))]
        bare = _BULLET.sub("", field)
        found += [person for part in (bare, *_PARTS.split(bare)) for person in people_in(part.strip())]
        found += person_of_word(bare, small)
    return [person for person in dict.fromkeys(found) if is_name(person)]
