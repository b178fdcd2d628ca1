"""Lines that say what they hold: `Principal investigator: …`, `Host institution: …`, `Grant no.: …`."""

import re
from collections.abc import Iterator
from typing import Literal, NamedTuple

from assayer.blinding.identifiers import CONTACT
from assayer.blinding.institution_patterns import names_institution
from assayer.blinding.names import PERSONAL_TITLE, ROLE, UPPER, has_given_name, people_in
from assayer.models.blinding import MaskedKind

__all__ = ["LabelledLine", "labelled_lines"]

_Trust = Literal["always", "if it fits"]


class LabelledLine(NamedTuple):
    start: int
    end: int
    """Past the line's end mark."""
    kind: MaskedKind
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
    r"(?:PI|name|full name|contact|student|candidate|researcher|collaborator|coordinator|mentor|team|presenter|"
    r"responsible|by)"
)
_PLACES = (
    r"(?:(?:host|home|lead|applicant'?s?|partner|participating|research|beneficiary) (?:institution|"
    r"organi[sz]ation|university|institute)|"
    r"institution|affiliation|organi[sz]ation|university|department|institute|laboratory|lab|employer|address|"
    r"faculty|einrichtung)"
)
_ROLES = r"(?:(?:current |academic )?(?:position|rank|title)|career stage|seniority|role|job title)"
_REACHED = (
    r"(?:e-?mail(?: address)?|orcid(?: id)?|phone|telephone|tel|fax|home ?page|linkedin|google scholar|"
    r"contact details)"
)
_PAID = (
    r"(?:funding(?: (?:source|body|agency|statement|information|acknowledge?ment))?|funder|sponsor|"
    r"financial support|grant|award|"
    r"(?:grant|award|funding|contract|project) (?:agreement )?(?:nos?\.?|nr\.?|numbers?|id|reference|ref\.?))"
)
_CJK = r"(?:项目负责人|负责人|申请人|姓名|作者|单位|依托单位|研究代表者|申請人)"
_LINE = re.compile(
    r"^[ \t]{0,8}(?:[-*•>|][ \t]{1,3}|\d{1,2}[.)][ \t])?(?:\*\*|__)?"
    rf"(?:(?P<people>{_PEOPLE}|{_CJK})|(?P<perhaps>{_PERHAPS_PEOPLE})|(?P<places>{_PLACES})|(?P<roles>{_ROLES})|"
    rf"(?P<reached>{_REACHED})|(?P<paid>{_PAID}))"
    r"(?:\(?e?s\)?)?(?:[ \t]\([^)\n]{0,40}\))?(?:\*\*|__)?[ \t]{0,3}[:：|](?:\*\*|"
    r"__)?[ \t]{0,3}(?P<value>\S[^\n]{0,400})$",
    re.I | re.M,
)
_ROLE = re.compile(rf"\b{ROLE}\b", re.I)
_TITLED = re.compile(rf"\b{PERSONAL_TITLE} [{UPPER}]")
_CODE = re.compile(r"\d{3}")
_MOST_WORDS = {"people": 60, "perhaps": 20, "places": 25, "roles": 12, "reached": 12, "paid": 60}


def labelled_lines(text: str) -> Iterator[LabelledLine]:
    """Whole lines, label included."""
    for match in _LINE.finditer(text):
        group = match.lastgroup if match.lastgroup != "value" else None
        group = next(name for name in _MOST_WORDS if match[name])
        value = match["value"].strip(" *_|\t")
        kind = _kind(group, value)
        if kind is not None and len(value.split()) <= _MOST_WORDS[group]:
            end = match.end() + (match.end() < len(text))
            yield LabelledLine(match.start(), end, kind, value)


def _kind(group: str, value: str) -> MaskedKind | None:
    """None when the value is not of the kind that the label may announce: `Position: relative, not absolute`."""
    starts_small = value[:1].islower()
    match group:
        case "people":
            return None if starts_small and len(value.split()) > 3 else "name"
        case "perhaps":
            return "name" if _names_somebody(value) else None
        case "places":
            short = len(value.split()) <= 6 and not starts_small and value[-1:] not in ".?!"
            return "affiliation" if names_institution(value) or short else None
        case "roles":
            return "role" if _ROLE.search(value) else None
        case "reached":
            return "contact" if CONTACT.search(value) is None else "email"
        case _:
            paid = not starts_small and (
                _CODE.search(value) or re.search(rf"^[{UPPER}]{{2}}|[Ff]oundation|[Cc]ouncil", value)
            )
            return "funding" if paid else None


def _names_somebody(value: str) -> bool:
    if _TITLED.search(value) or CONTACT.search(value):
        return True
    return any(map(has_given_name, people_in(value.split("(", maxsplit=1)[0])))
