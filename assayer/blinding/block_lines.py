"""Classify short lines near a title or signature, such as institutions, roles and addresses."""

import re
from typing import Literal, NamedTuple

from assayer.blinding.identifiers import CONTACT
from assayer.blinding.institution_patterns import names_institution
from assayer.blinding.names import ROLE_WORDS, UPPER
from assayer.models import MaskedKind

_MAX_WORDS = 30
_VERBS = re.compile(
    r"\b(?:is|are|was|were|has|have|had|will|can|we|our|this|that|which|these|propose[sd]?|stud(?:y|ies)|"
    r"investigates?|aims?|shows?|requires?|remains?|because|how|why)\b",
    re.I,
)
_ADDRESS = re.compile(rf"^[{UPPER}][\w .'’-]{{1,40}}(?:, ?[{UPPER}\d][\w .'’-]{{1,40}}){{0,5}}\.?$")
_PLACE = re.compile(
    r"\b(?:USA|U\.S\.A\.|UK|United Kingdom|United States|Germany|France|Italy|Spain|Netherlands|Belgium|"
    r"Switzerland|Austria|"
    r"Sweden|Norway|Denmark|Finland|Poland|Portugal|Greece|Turkey|Israel|Iran|India|China|P\.R\. China|Japan|"
    r"Korea|Taiwan|"
    r"Hong Kong|Singapore|Vietnam|Thailand|Indonesia|Malaysia|Australia|New Zealand|Canada|Mexico|Brazil|"
    r"Argentina|Chile|"
    r"Colombia|Peru|Nigeria|Ghana|Kenya|Ethiopia|South Africa|Egypt|Morocco|Tunisia|Saudi Arabia|Qatar|UAE|Pakistan|"
    r"Bangladesh|Russia|Ukraine|Ireland|Scotland|Czech Republic|Hungary|Romania|Serbia|Croatia|Slovenia|"
    r"Estonia)\b|\b\d{4,6}\b"
)
_MARK_LINE = re.compile(r"^[\d*†‡∗]{1,2}[ )]{0,2}(?=[A-Z])|^(?:[*†‡∗]|equal contribution|corresponding author)", re.I)

LineSort = Literal["people", "place", "reached", "role", "address", "front", "unclear"]


class BlockLine(NamedTuple):
    start: int
    end: int
    """Offset after the line break."""
    kind: MaskedKind
    text: str


KINDS: dict[LineSort, MaskedKind] = {
    "people": "name",
    "place": "affiliation",
    "reached": "email",
    "role": "role",
    "address": "affiliation",
    "front": "biography",
}


def is_address(line: str) -> bool:
    """Return whether the line has the form of an address, such as `Cambridge, MA 02139, USA`. Callers treat it as an
    address only below an institution."""
    return _ADDRESS.match(line) is not None and _PLACE.search(line) is not None


def is_prose(line: str) -> bool:
    words = len(line.split())
    if CONTACT.search(line) or (_MARK_LINE.match(line) and words <= _MAX_WORDS):
        return words > _MAX_WORDS
    spoken = len(_VERBS.findall(line))
    return words > _MAX_WORDS or (words >= 8 and spoken > 0 and line[-1:] in ".?!") or (words >= 10 and spoken > 1)


def classify_line(line: str) -> LineSort:
    if CONTACT.search(line):
        return "reached"
    if _VERBS.search(line) and not _MARK_LINE.match(line):
        return "unclear"
    if names_institution(line):
        return "place"
    if ROLE_WORDS.search(line) and len(line.split()) <= 14:
        return "role"
    return "unclear"
