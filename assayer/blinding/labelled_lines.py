"""Find lines with a label: `Principal investigator: …`, `Host institution: …`, `Grant no.: …`."""

import re
from bisect import bisect_left
from collections.abc import Iterator
from typing import NamedTuple

from assayer.blinding.identifiers import CONTACT
from assayer.blinding.institution_patterns import names_institution
from assayer.blinding.mentions import SMALL_WORD, may_be_name
from assayer.blinding.names import (
    ROLE,
    UPPER,
    has_given_name,
    has_titled_person,
    is_list_of_people,
    people_in,
    people_of_one_form,
)
from assayer.models import MaskedKind


class LabelledLine(NamedTuple):
    start: int
    end: int
    """Offset after the line break."""
    kind: MaskedKind
    value: str


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
_PERHAPS_PEOPLE = (
    r"(?:PI|(?:co-?)?PI name|names?|full name|contact|student|candidate|researcher|collaborator|coordinator|mentor|"
    r"presenter|(?:group|team)(?: \d{1,3}| members?| name)?|members?|participants?|instructor|lecturer|teacher|"
    r"professor|(?:suggested |excluded )?reviewers?(?: suggested)?|responsible|by)"
)
_SURE_PLACES = (
    r"(?:(?:host|home|lead|applicant['’]?s?['’]?|partner|participating|beneficiary) (?:institution|"
    r"organi[sz]ation|university|institute)|employer)"
)
_PLACES = (
    r"(?:research (?:institution|organi[sz]ation|institute)|institution|affiliation|organi[sz]ation|university|"
    r"department|institute|laboratory|lab|address|faculty|einrichtung)"
)
_STAGES = r"(?:career (?:stage|level)|seniority|academic (?:position|rank|title|level)|job title)"
_ROLES = r"(?:(?:current )?(?:position|rank)|current (?:title|role))"
_REACHED = (
    r"(?:e-?mail(?: address)?|orcid(?: id)?|phone|telephone|tel|fax|home ?page|linkedin|google scholar|"
    r"contact details)"
)
_PAID = (
    r"(?:funding(?: (?:source|body|agency|statement|information|acknowledge?ment))?|funder|sponsor|"
    r"financial support|grant|award|"
    r"(?:grant|award|funding|contract|project) (?:agreement )?(?:nos?\.?|nr\.?|numbers?|id|reference|ref\.?))"
)
_CJK = (
    r"(?:项目负责人|负责人|申请人|姓名|作者|单位|依托单位|研究代表者|申請人|氏名|所属|著者|"
    r"연구책임자|책임연구자|신청자|성명|소속|저자)"
)


class _Label(NamedTuple):
    pattern: str
    kind: MaskedKind
    max_words: int
    """Maximum number of words in a value."""


_LABELS = {
    "people": _Label(f"{_PEOPLE}|{_CJK}", "name", 60),
    "perhaps": _Label(_PERHAPS_PEOPLE, "name", 20),
    "hosts": _Label(_SURE_PLACES, "affiliation", 25),
    "places": _Label(_PLACES, "affiliation", 25),
    "stages": _Label(_STAGES, "role", 8),
    "roles": _Label(_ROLES, "role", 12),
    "reached": _Label(_REACHED, "contact", 12),
    "paid": _Label(_PAID, "funding", 60),
}
_LINE = re.compile(
    r"^[ \t]{0,8}(?:[-*•>|][ \t]{1,3}|\d{1,2}[.)][ \t])?(?:\*\*|__)?"
    rf"(?:{'|'.join(f'(?P<{group}>{label.pattern})' for group, label in _LABELS.items())})"
    r"(?:\(?e?s\)?)?(?:[ \t]\([^)\n]{0,40}\))?(?:\*\*|__)?[ \t]{0,3}[:：|](?:\*\*|"
    r"__)?[ \t]{0,3}(?P<value>\S[^\n]{0,400})$",
    re.I | re.M,
)
_ROLE = re.compile(rf"(?:an? |the )?{ROLE}(?![\w-])", re.I)
_STAGE = re.compile(r"(?:early|mid|late|junior|senior|first[- ]stage|established|leading|R[1-4]\b)", re.I)
_IN_BRACKETS = re.compile(r"\s?\([^()]{0,60}\)")
_CODE = re.compile(r"\d{3}")
_FUNDER_VALUE = re.compile(rf"^[{UPPER}]{{2}}|[Ff]oundation|[Cc]ouncil")
_MAX_SMALL_WORDS = 3
_MAX_INSTITUTION_WORDS = 6
_NEAR = 300
"""Maximum number of characters between a person's line and the line that names the person's institution."""
_CONTACT_VALUE = re.compile(r"\d{3}|https?://|www\.|\w@\w|[\[( ](?:at|dot)[\]) ]", re.I)


def find_labelled_lines(text: str, block_end: int = 0) -> Iterator[LabelledLine]:
    """Yield whole labelled lines, including the label. Any value after `Institution:` is accepted in the author block,
    which ends at `block_end`, and beside a person's line. Elsewhere it must look like an institution."""
    small = frozenset(SMALL_WORD.findall(text))
    found = ((match, next(group for group in _LABELS if match[group])) for match in _LINE.finditer(text))
    lines = [_Line(match, group, match["value"].strip(" *_|\t")) for match, group in found]
    lines = [line for line in lines if len(line.value.split()) <= _LABELS[line.group].max_words]
    people = [
        line.match.start()
        for line in lines
        if _LABELS[line.group].kind == "name" and _matches_label(line.group, line.value, small, beside_people=False)
    ]
    for line in lines:
        start, end = line.match.span()
        after = bisect_left(people, start - _NEAR)
        beside = start < block_end or (after < len(people) and people[after] <= end + _NEAR)
        if _matches_label(line.group, line.value, small, beside):
            is_email = line.group == "reached" and CONTACT.search(line.value)
            kind = "email" if is_email else _LABELS[line.group].kind
            yield LabelledLine(start, end + (end < len(text)), kind, line.value)


def _matches_label(group: str, value: str, small: frozenset[str], beside_people: bool) -> bool:
    """Return whether the value is of the kind that its label implies, unlike in `Position: relative, not absolute`."""
    starts_small = value[:1].islower()
    match group:
        case "people":
            return not starts_small or len(value.split()) <= _MAX_SMALL_WORDS
        case "perhaps":
            return _names_person(value) or _lists_people(value, small)
        case "hosts" | "places":
            short = len(value.split()) <= _MAX_INSTITUTION_WORDS and not starts_small and value[-1:] not in ".?!"
            return names_institution(value) or (short and (beside_people or group == "hosts"))
        case "stages" | "roles":
            staged = group == "stages" and (_ROLE.search(value) or _STAGE.match(value))
            return bool(staged or _ROLE.match(value))
        case "reached":
            return _CONTACT_VALUE.search(value) is not None
        case _:
            return not starts_small and (_CODE.search(value) or _FUNDER_VALUE.search(value)) is not None


def _lists_people(value: str, small: frozenset[str]) -> bool:
    """Return whether a value consists only of names, and none of their words occur in lower case in the text."""
    bare = _IN_BRACKETS.sub("", value)
    people = people_in(bare)
    only_names = bare.count(",") == len(people) == 1 or people_of_one_form(bare) or is_list_of_people(bare, True)
    return bool(people and only_names) and all(may_be_name(person, small) for person in people)


def _names_person(value: str) -> bool:
    if has_titled_person(value) or CONTACT.search(value):
        return True
    return any(map(has_given_name, people_in(value.split("(", maxsplit=1)[0])))
