"""Sections that are about people and not about the idea: acknowledgements, biographies, the team, own funding."""

import re
from bisect import bisect_left
from collections.abc import Iterator, Sequence

from assayer.blinding.identifiers import CONTACT
from assayer.blinding.institution_patterns import names_institution
from assayer.blinding.names import NAME, PERSONAL_TITLE, ROLE, UPPER, has_given_name, person_of
from assayer.blinding.spans import MaskSpan
from assayer.models.blinding import MaskedKind
from assayer.text.headings import Heading

__all__ = ["identifying_sections", "references_start"]

_THANKS = (
    r"(?:acknowledge?ments?|thanks|danksagung|remerciements|agradecimientos|conflicts? of interests?|"
    r"competing interests?|declaration of interests?)"
)
_PAID = (
    r"(?:funding(?: (?:statement|sources?|information|acknowledge?ments?))?|financial support|"
    r"results from prior (?:nsf )?support|prior (?:nsf )?support|current and pending support)"
)
_LIFE = (
    r"(?:(?:short |author |investigator )?(?:biograph(?:y|ies)|biographical sketch(?:es)?|bio(?:s|"
    r"sketch(?:es)?)?)|(?:short )?(?:curriculum vitae|cv)s?|"
    r"about the (?:authors?|team|applicants?|investigators?)|author (?:contributions?|information)|"
    r"credit authorship contribution statement|"
    r"authors?(?: and affiliations)?|affiliations?|contact(?: details| information)?)"
)
_PERHAPS = (
    r"(?:(?:the |our |research |project |core )?team(?: members?| and expertise| qualifications?| description|"
    r" composition)?|"
    r"(?:key|senior|project) personnel|personnel|(?:principal )?investigators?(?: and qualifications?|"
    r" qualifications?)?|"
    r"qualifications?(?: of the (?:applicants?|team|investigators?|pi))?|(?:applicant'?s? |"
    r"pi'?s? )?(?:track record|profile|background)|"
    r"(?:applicants?|own) publications?|list of own publications|(?:host|research) (?:institution|environment)|"
    r"collaborators?|partners|consortium|"
    r"facilities(?:,? equipment,? and (?:other )?resources)?)"
)
_TITLE = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t]{1,3})?(?:(?:\d{1,2}(?:\.\d{1,2}){0,3}[.)]?|[IVX]{1,5}[.)]|"
    r"[A-H][.)])[ \t]{1,3})?(?P<bold>\*\*|__)?"
    rf"(?:(?P<thanks>{_THANKS})|(?P<paid>{_PAID})|(?P<life>{_LIFE})|(?P<perhaps>{_PERHAPS}))"
    r"[ \t]{0,2}(?:\*\*|__)?[ \t]{0,2}(?P<mark>[:.–—-])?(?:\*\*|__)?[ \t]{0,3}(?P<rest>[^\n]*)$",
    re.I | re.M,
)
_REFERENCES = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t])?(?:\d{1,2}[.)]?[ \t])?(?:\*\*|__)?(?:references|bibliography|literature cited|"
    r"works cited)(?:\*\*|__)?:?[ \t]*$",
    re.I | re.M,
)
_KINDS: dict[str, MaskedKind] = {
    "thanks": "acknowledgement",
    "paid": "funding",
    "life": "biography",
    "perhaps": "biography",
}
_LONGEST: dict[str, int] = {"thanks": 2_500, "paid": 3_000, "life": 8_000, "perhaps": 8_000}
"""Characters; longer ones end where a paragraph does, as the heading that follows was not recognised."""
_TITLED = re.compile(rf"\b{PERSONAL_TITLE} [{UPPER}]")
_ROLE = re.compile(rf"\b{ROLE}\b", re.I)
_NAME = re.compile(NAME)
_HEADING_LIKE = re.compile(
    r"^[ \t]{0,3}(?:#{1,6}[ \t]|\*\*[^*\n]{2,80}\*\*:?[ \t]*$|\d{1,2}(?:\.\d{1,2}){0,2}[.)]?[ \t]+[A-Z])", re.M
)


def references_start(text: str) -> int:
    """Where the list of references begins; the text's length without one."""
    return max((found.start() for found in _REFERENCES.finditer(text)), default=len(text))


def identifying_sections(text: str, headings: Sequence[Heading]) -> Iterator[MaskSpan]:
    """With their headings. Sections that may as well be about the work are taken only where they name people."""
    starts = sorted(
        {heading.start for heading in headings if heading.level <= 11}
        | {m.start() for m in _HEADING_LIKE.finditer(text)}
        | {m.start() for m in _REFERENCES.finditer(text)}
    )
    place = 0
    for match in _TITLE.finditer(text):
        if match.start() < place:
            continue
        group = next(name for name in _KINDS if match[name])
        rest = match["rest"].strip(" *_")
        if rest and not _runs_in(match, group, rest):
            continue
        end = _paragraph_end(text, match.end()) if rest else _section_end(text, match, starts, _LONGEST[group])
        if end <= match.start() or (group == "perhaps" and not _names_people(text[match.end() : end])):
            continue
        place = end
        yield MaskSpan(match.start(), end, _KINDS[group], cut=True)


def _runs_in(match: "re.Match[str]", group: str, rest: str) -> bool:
    """Whether the section's text begins on the line of its title: `Acknowledgements. We thank …`."""
    if group == "thanks":
        return bool(match["mark"] or match["bold"]) and len(rest.split()) > 2
    return group == "life" and match["mark"] == ":" and _names_people(rest)


def _paragraph_end(text: str, start: int) -> int:
    blank = text.find("\n\n", start)
    return len(text) if blank < 0 else blank


def _section_end(text: str, match: "re.Match[str]", starts: Sequence[int], longest: int) -> int:
    place = bisect_left(starts, match.end())
    following = starts[place] if place < len(starts) else len(text)
    another = next(
        (m.start() for m in _TITLE.finditer(text, match.end(), match.end() + longest) if not m["rest"].strip()),
        len(text),
    )
    end = min(following, another)
    if end - match.end() <= longest:
        return end
    border = text.rfind("\n\n", match.end() + 2, match.end() + longest)
    return border if border > 0 else match.end()


def _names_people(text: str) -> bool:
    if _TITLED.search(text) or CONTACT.search(text):
        return True
    people = sum(1 for match in _NAME.finditer(text) if (one := person_of(match[0])) and has_given_name(one))
    return people > 1 or (people == 1 and bool(_ROLE.search(text) or names_institution(text)))
