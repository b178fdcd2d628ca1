"""Find lines with a label: `Principal investigator: …`, `Host institution: …`, `Grant no.: …`."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence
from typing import NamedTuple

from assayer.blinding.caseless_names import CASELESS_LETTER, is_caseless
from assayer.blinding.identifiers import CONTACT
from assayer.blinding.institution_patterns import names_institution
from assayer.blinding.mentions import find_small_words, has_english_word, may_be_name, person_of_word
from assayer.blinding.names import (
    NAME,
    PARTICLES,
    PERSONAL_TITLE,
    ROLE,
    UPPER,
    has_given_name,
    people_in,
    people_of_one_form,
)
from assayer.blinding.people_labels import (
    is_guessed_label,
    is_label_of_one_person,
    is_other_label,
    is_people_label,
    is_vague_label,
)
from assayer.blinding.person import Person
from assayer.blinding.word_lists import english_words
from assayer.models import MaskedKind


class LabelledLine(NamedTuple):
    start: int
    end: int
    """Offset after the line break."""
    kind: MaskedKind
    people: tuple[Person, ...] = ()


class _Line(NamedTuple):
    match: "re.Match[str]"
    group: str
    value: str


_PEOPLE = (
    r"(?:(?:lead |co-?)?(?:principal|chief|lead|local) investigator|co-?(?:principal )?investigator|co-?PI|"
    r"(?:lead |main |co-?)applicant|"
    r"applicant|proposer|(?:proposal )?(?:submitted|prepared|written|proposed|authored) by|author|"
    r"(?:corresponding|first|senior|contributing) author|"
    r"(?:co-?|thesis |doctoral |ph\.?d\.? |academic |scientific )?(?:supervisor|advis[eo]r)|contact person|"
    r"investigator|"
    r"project (?:lead(?:er)?|coordinator|manager|director)|(?:scientific |research )?(?:team|staff) member|"
    r"key personnel|senior personnel|"
    r"principal researcher|antragsteller(?:in)?|projektleit(?:er|erin|ung)|porteur du projet|"
    r"investigador principal|responsable)"
)
_SURE_PLACES = (
    r"(?:(?:host|home|lead|applicant['’]?s?['’]?|partner|participating|beneficiary) (?:institution|"
    r"organi[sz]ation|university|institute)|employer|établissement|organisme|laboratoire|unité de recherche|"
    r"institución|universidad|facultad|departamento|instituto|instituição|universidade|faculdade|ente|ateneo|"
    r"dipartimento|università|hochschule|universität|institut|instelling|universiteit|lärosäte|universitet|yliopisto|"
    r"kurum|üniversite|bölüm|instytucja|uczelnia|jednostka|pracoviště|instituce|fakulta|intézmény|instituția|"
    r"организация|учреждение|место работы|вуз|университет|институт|кафедра|факультет|лаборатория|установа|організація|"
    r"依托单位|工作单位|承担单位|申请单位|单位|單位|学校|院系|机构|機關|所属機関|所属|소속기관|소속|주관기관|학교|기관|"
    r"الجهة|الجامعة|المؤسسة|الكلية|القسم|جهة العمل|מוסד|אוניברסיטה|פקולטה|מחלקה|دانشگاه|دانشکده|محل خدمت)"
)
_PLACES = (
    r"(?:research (?:institution|organi[sz]ation|institute)|institution|affiliation|organi[sz]ation|university|"
    r"department|institute|laboratory|lab|address|faculty|einrichtung)"
)
_STAGES = r"(?:career (?:stage|level)|seniority|academic (?:position|rank|title|level)|job title)"
_ROLES = r"(?:(?:current )?(?:position|rank)|current (?:title|role))"
_REACHED = (
    r"(?:e-?mail(?: address)?|orcid(?: id)?|phone|telephone|tel|fax|home ?page|linkedin|google scholar|"
    r"contact details|web ?site|web ?page|web|site web|sito web|webseite|blog|telefon|teléfono|téléphone|телефон|"
    r"тел\.|почта|"
    r"эл(?:ектронная|\.) почта|correo(?: electrónico)?|courriel|sähköposti|e-?posta|邮箱|电子邮件|电话|メール|"
    r"電話|이메일|전화|"
    r"联系电话|手机|传真|电子信箱|联系方式|携帯|전화번호|휴대폰|팩스|الهاتف|هاتف|טלפון|تلفن|"
    r"student (?:id|no\.?|number)|matrikelnummer|matr\.-nr\.|dni|nif|cpf|pesel|学号|工号|学籍番号|학번|табельный номер|"
    r"البريد الإلكتروني|דוא[\"״]ל|ایمیل)"
)
_ACCOUNTS = (
    r"(?:github|gitlab|twitter|x(?=[:：] ?@)|mastodon|bluesky|linkedin|skype|telegram|wechat|微信|instagram|"
    r"facebook|youtube|"
    r"researchgate|google scholar|scopus(?: author)?(?: id)?|researcher ?id|web of science(?: id)?|vk|discord|"
    r"slack|signal|"
    r"handle|user ?name|account|osf)"
)
_PAID = (
    r"(?:funding(?: (?:source|body|agency|statement|information|acknowledge?ment))?|funder|sponsor|"
    r"financial support|grant|award|"
    r"(?:grant|award|funding|contract|project) (?:agreement )?(?:nos?\.?|nr\.?|numbers?|id|reference|ref\.?))"
)


class _Label(NamedTuple):
    pattern: str
    kind: MaskedKind
    max_words: int
    """Maximum number of words in a value."""


_LABELS = {
    "people": _Label(_PEOPLE, "name", 60),
    "hosts": _Label(_SURE_PLACES, "affiliation", 25),
    "places": _Label(_PLACES, "affiliation", 25),
    "stages": _Label(_STAGES, "role", 8),
    "roles": _Label(_ROLES, "role", 12),
    "reached": _Label(_REACHED, "contact", 12),
    "accounts": _Label(_ACCOUNTS, "contact", 3),
    "paid": _Label(_PAID, "funding", 60),
}
_LINE = re.compile(
    r"^[ \t]{0,8}(?:[-*•>|][ \t]{1,3}|\d{1,2}[.)][ \t])?(?:\*\*|__)?"
    rf"(?:{'|'.join(f'(?P<{group}>{label.pattern})' for group, label in _LABELS.items())})"
    r"(?:\(?e?s\)?)?(?:[ \t]\([^)\n]{0,40}\))?(?:\*\*|__)?[ \t]{0,3}[:：|](?:\*\*|"
    r"__)?[ \t]{0,40}(?P<value>\S[^\n]{0,400})$",
    re.I | re.M,
)
_ANY_LABEL = re.compile(
    r"^[ \t]{0,8}(?:#{1,6}[ \t]{1,3}|[-*•>|][ \t]{1,3}|\d{1,2}[.)][ \t])?(?:\*\*|__|"
    r"[\[【])?(?P<label>[^\n:：|*】\]]{1,60}?)"
    r"(?:(?:\*\*|__)?[ \t]{0,40}[:：|](?:\*\*|__)?|(?:\*\*|__)(?=[ \t])|[ \t]?(?:\.{3,}|_{3,})|"
    r"[】\]][:：]?|[ \t][–—-](?=[ \t])|\t|[ ]{3}"
    rf"|"
    rf"(?<={CASELESS_LETTER})[ \u3000/]/?(?=\s?{CASELESS_LETTER})(?=[^\n:：|]*$))[ \t\u3000]{{0,40}}"
    r"(?P<value>\S[^\n]{0,400})$",
    re.M,
)
_UNKNOWN_LABEL = re.compile(
    r"^[ \t]{0,8}(?:[-*•>|][ \t]{1,3})?(?:\*\*|__)?(?P<label>[^\n:：|*.,;!?()]{3,50}?)(?:\*\*|"
    r"__)?[ \t]{0,10}[:：|](?:\*\*|__)?"
    r"[ \t]{1,10}(?P<value>[^\n:：]{5,160})$",
    re.M,
)
_TITLES = re.compile(rf"{PERSONAL_TITLE},? ")
_WORD = re.compile(r"[^\W\d_]+")
_ONLY = 0.7
"""Minimum share of letters in a value that belong to names."""
_HEAD = 800
"""Number of characters at the start of a text in which a line with an unknown label may name people."""
_LABEL_BEFORE_NAME = re.compile(
    rf"^[ \t]{{0,8}}(?P<label>[^\W\d_][^\W\d_]{{1,20}}(?: [^\W\d_]{{2,20}})?) (?P<value>{NAME}(?:,? (?:and "
    rf")?{NAME}){{0,6}})[ \t]*$",
    re.M,
)
_LABEL_ALONE = re.compile(
    r"^[ \t]{0,8}(?:#{1,6}[ \t]{1,3}|\d{1,2}[.)][ \t])?(?:\*\*|__)?(?P<label>[^\n:：|*]{1,60}?)(?:\*\*|__)?[ \t]{0,3}"
    r"(?P<colon>[:：])?(?:\*\*|__)?[ \t]*$",
    re.M,
)
_BULLET = re.compile(r"[ \t]*(?:[-*•–—]|\d{1,2}[.)]|[a-z]\))?[ \t]*")
_ROLE = re.compile(rf"(?:an? |the )?{ROLE}(?![\w-])", re.I)
_STAGE = re.compile(r"(?:early|mid|late|junior|senior|first[- ]stage|established|leading|R[1-4]\b)", re.I)
_IN_BRACKETS = re.compile(r"\s?[(（][^()（）]{0,60}[)）]")
_NEXT_LABEL = re.compile(r"[ \t\u3000]+[^\W\d_]{1,12}[:：]|\s\|\s|[ \t]{4,}")
_LABEL_WITHIN = re.compile(r"(?<=[ \t\u3000,;])(?P<label>[^\W\d_]{1,20})[:：][ \t]?(?P<value>[^:：\n]{2,100})")
_ADDRESS = re.compile(r"\s?<[^<>\n]{0,80}>|\S{1,64}@\S{1,64}")
_FIRST_ITEM = re.compile(r"\s?[;,、，；·・،؛&/]|\s(?:and|und|et|y|e|и|та|i|och|og|ja|ve|en|és)\s")
_MAX_VALUE_WORDS = 40
_MAX_LINE_BELOW = 160
_MAX_BELOW = 30
"""Maximum number of names below a label."""
_CODE = re.compile(r"\d{3}")
_FUNDER_VALUE = re.compile(rf"^[{UPPER}]{{2}}|[Ff]oundation|[Cc]ouncil")
_MAX_SMALL_WORDS = 3
_MAX_INSTITUTION_WORDS = 6
_NEAR = 300
"""Maximum number of characters between a person's line and the line that names the person's institution."""
_ACCOUNT_VALUE = re.compile(r"@[\w.@-]{2,60}|https?://\S+|www\.\S+|(?=\S*[\d_./-])[\w./-]{3,80}|[a-z][a-z\d]{4,30}")
_CONTACT_VALUE = re.compile(r"\d{3}|https?://|www\.|\w@\w|[\[( ](?:at|dot)[\]) ]", re.I)


def find_labelled_lines(text: str, block_end: int = 0) -> Iterator[LabelledLine]:
    """Yield whole labelled lines, including the label. Any value after `Institution:` is accepted in the author block,
    which ends at `block_end`, and beside a person's line. Elsewhere it must look like an institution."""
    small = find_small_words(text)
    lines_of_people = list(_find_lines_of_people(text, small))
    places = sorted(line.start for line in lines_of_people)
    lines_of_people += [
        line
        for line, sure in _find_lines_with_names_only(text, small)
        if (sure and (line.start < max(block_end, _HEAD) or len(text) - line.end < _NEAR))
        or _is_beside(places, line.start, line.end)
    ]
    yield from lines_of_people
    found = ((match, next(group for group in _LABELS if match[group])) for match in _LINE.finditer(text))
    lines = [_Line(match, group, match["value"].strip(" *_|\t")) for match, group in found]
    lines = [item for item in lines if len(item.value.split()) <= _LABELS[item.group].max_words]
    people = sorted(
        [line.start for line in lines_of_people]
        + [
            item.match.start()
            for item in lines
            if item.group == "people" and _matches_label("people", item.value, False)
        ]
    )
    for item in lines:
        start, end = item.match.span()
        if _matches_label(item.group, item.value, start < block_end or _is_beside(people, start, end)):
            is_email = item.group == "reached" and CONTACT.search(item.value)
            kind = "email" if is_email else _LABELS[item.group].kind
            in_value = people_in(cut_value(item.value)) if kind == "name" else ()
            yield LabelledLine(start, end + (end < len(text)), kind, tuple(in_value))


def _is_beside(places: Sequence[int], start: int, end: int) -> bool:
    """Return whether one of the offsets, which are in order, lies near a line."""
    after = bisect_left(places, start - _NEAR)
    return after < len(places) and places[after] <= end + _NEAR


def _find_lines_of_people(text: str, small: frozenset[str]) -> Iterator[LabelledLine]:
    """Yield the lines with a label of people and names after it, and the lines of names below such a label."""
    for match in _ANY_LABEL.finditer(text):
        if is_people_label(match["label"]) and (people := _people_after(match["label"], match["value"], small)):
            yield _line_of_people(text, match.span(), people)
    for match in _LABEL_BEFORE_NAME.finditer(text):
        is_label = is_people_label(match["label"]) and not is_vague_label(match["label"])
        if is_label and (people := people_of_value(match["value"], small)):
            yield _line_of_people(text, match.span(), people)
    for match in _LABEL_ALONE.finditer(text):
        if is_people_label(match["label"]):
            below = list(_lines_below(text, match.end(), small))
            if below and match["colon"]:
                yield LabelledLine(match.start(), match.end() + 1, "name")
            yield from below


def _line_of_people(text: str, span: tuple[int, int], people: Sequence[Person]) -> LabelledLine:
    start, end = span
    return LabelledLine(start, end + (end < len(text)), "name", tuple(people))


def _find_lines_with_names_only(text: str, small: frozenset[str]) -> Iterator[tuple[LabelledLine, bool]]:
    """Yield the lines with an unknown label, possibly in another language, whose value consists only of names, and
    whether a name or the label's language makes that sure."""
    for match in _UNKNOWN_LABEL.finditer(text):
        label, value = match["label"], match["value"].strip(" *_")
        if len(value) > _MAX_LINE_BELOW or is_people_label(label) or is_other_label(label.split()[-1]):
            continue
        people = people_of_value(value, small)
        bare = _TITLES.sub("", cut_value(value))
        letters = sum(len(word) for person in people for word in _WORD.findall(person.full))
        only = people and letters >= _ONLY * sum(map(len, _WORD.findall(bare)))
        foreign = not english_words().issuperset(_WORD.findall(label.lower()))
        if only:
            line = _line_of_people(text, match.span(), people)
            yield line, (any(map(has_given_name, people)) or foreign) and not is_other_label(label)


def _lines_below(text: str, place: int, small: frozenset[str]) -> Iterator[LabelledLine]:
    """Yield the lines that consist of names, from an offset to the first other line. Single blank lines may stand
    between them."""
    blank = 0
    for _ in range(_MAX_BELOW):
        start = place + 1
        if start >= len(text):
            return
        end = text.find("\n", start)
        end = len(text) if end < 0 else end
        line = text[start:end]
        place = end
        blank = 0 if line.strip() else blank + 1
        people = people_of_value(_BULLET.sub("", line, count=1).strip(" *_"), small)
        if blank > 1 or (not blank and (not people or len(line) > _MAX_LINE_BELOW or line.lstrip()[0] in "#|")):
            return
        if people:
            yield _line_of_people(text, (start, end), people)


def _people_after(label: str, value: str, small: frozenset[str]) -> list[Person]:
    """Return the people named in the value after a label, and after other labels of people on the same line."""
    first, *others = value.strip(" *_|\t").split(" | ")
    people = people_of_value(first, small)
    if is_guessed_label(label) and not all(map(has_given_name, people)):
        return []
    if not people and is_label_of_one_person(label):
        people = person_of_word(cut_value(first), small)
    pairs = [other.partition(":")[::2] for other in others]
    pairs += [(item["label"], item["value"]) for item in _LABEL_WITHIN.finditer(value)]
    return people + [person for name, rest in pairs if is_people_label(name) for person in people_of_value(rest, small)]


def cut_value(value: str) -> str:
    """Return a value without brackets and addresses, and without the next label on its line."""
    bare = _ADDRESS.sub("", _IN_BRACKETS.sub("", value))
    return _NEXT_LABEL.split(bare, maxsplit=1)[0].strip(" @*_,;")


def people_of_value(value: str, small: frozenset[str]) -> list[Person]:
    """Return the people named in a value that begins with a name. Words of a name may not occur in lower case in the
    text, unless the first name is known."""
    bare = cut_value(value)
    if len(bare.split()) > _MAX_VALUE_WORDS or bare[-1:] in "?!":
        return []
    people = people_in(bare)
    first = people_in(_FIRST_ITEM.split(bare, maxsplit=1)[0]) or people_of_one_form(bare)
    if not first and not (bare.count(",") == len(people) == 1):
        return []
    likely = [
        person for person in people if is_caseless(person) or may_be_name(person, small) or _is_long(person, small)
    ]
    return likely if likely and likely[0] == people[0] else []


def _is_long(person: Person, small: frozenset[str]) -> bool:
    """Return whether a name has at least three words, of which at most one, not the first, is a word of the text, and
    none is an English word."""
    first, *others = (word for word in re.findall(r"[^\W\d_]{2,}", person.full) if word not in PARTICLES)
    known = first.lower() in small or sum(word.lower() in small for word in others) > 1
    return len(others) > 1 and not known and not has_english_word(person)


def _matches_label(group: str, value: str, beside_people: bool) -> bool:
    """Return whether the value is of the kind that its label implies, unlike in `Position: relative, not absolute`."""
    starts_small = value[:1].islower()
    match group:
        case "people":
            return not starts_small or len(value.split()) <= _MAX_SMALL_WORDS
        case "hosts" | "places":
            short = len(value.split()) <= _MAX_INSTITUTION_WORDS and not starts_small and value[-1:] not in ".?!"
            return names_institution(value) or (short and (beside_people or group == "hosts"))
        case "stages" | "roles":
            staged = group == "stages" and (_ROLE.search(value) or _STAGE.match(value))
            return bool(staged or _ROLE.match(value))
        case "accounts":
            return _ACCOUNT_VALUE.fullmatch(value) is not None
        case "reached":
            return _CONTACT_VALUE.search(value) is not None
        case _:
            return not starts_small and (_CODE.search(value) or _FUNDER_VALUE.search(value)) is not None
