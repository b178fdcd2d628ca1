"""Names of authors in an entry of a reference list."""

import re
from collections.abc import Iterator

from assayer.reference_lists.entry_shape import AND_OTHERS, ORGANISATION, SURNAME, UPPER

_INITIALS = re.compile(
    rf"{UPPER}\w?\.?(?:[ -]{{0,2}}{UPPER}\.?){{0,4}}|{UPPER}\.{UPPER}[a-z]\.?|{UPPER}\. ?-?[a-z]\.?"
    rf"|{UPPER}\.-[a-z]{{2,8}}|{UPPER}\.(?:[a-z]{{1,3}}\.){{1,3}}[a-z]?"
)
CONJUNCTION = r"(?:and|und|et|y|och|og|ve|и|та|oraz|&)"
"""Word or sign before the last of several names."""
_AND = re.compile(
    rf"\s*(?:[,，、]\s*(?:{CONJUNCTION}|e|en)\s+|\s{CONJUNCTION}\s+|[;；]\s*(?:(?:and|&)\s+)?|\s/\s|[,，、]\s*)"
)
POINTED = rf"(?:(?!St\.){UPPER}\w?\.(?:[ -]{{0,2}}{UPPER}\w?\.){{0,3}}|{UPPER}{{1,3}}(?=[\s,;:&]))"
"""Initials of given names: `A. B.`, `AB`."""
OTHERS = re.compile(
    rf",?\s*\b(?:{AND_OTHERS}(?:\s?others\b\.?)?|(?:and|&) (?:others|Coauthors)\b|等)|[,，、]?\s*(?:ほか|他)$"
    r"|[,，]?\s*\(?\b[Ee]ds?\b\.?\)?|\(Hrsg\.\)|…|\.\.\."
)
_SUFFIX = re.compile(r",? (?:Jr|Sr|II|III|2nd|3rd)\b\.?(?=,| and | & |\.?\s*$)")
"""Suffix of a name, which would be read as a name of its own: `Hill, Jr., Ann`."""
_ONE_NAME = re.compile(SURNAME)
_UNSPACED = re.compile(r"[\u3040-\u9fff\uac00-\ud7ff]")
PARTICLE = re.compile(
    r"van|von|vom|der|den|dem|de|del|della|di|da|das|dos|do|du|des|las?|les?|los|el|al|ibn|bin|ben|te[rn]?|zur?|af|av|y|"
    r"e|i|und|et|and|[dl]'|['’]t|st"
)


def authors_in(text: str) -> tuple[str, ...]:
    """Return the names as printed, or an empty tuple if the text does not look like a list of names."""
    text = _SUFFIX.sub("", OTHERS.sub("", text)).strip(" .,;:，。")
    if not text or len(text) > 4_000 or re.search(r"\d{3}|\d\D*$", text):
        return ()
    if ORGANISATION.search(text) and len(text) <= 160 and not re.search(r"[;&:]|\w{3}\. ", text):
        parts = re.split(r", (?:and )?", text)
        if len(parts) > 1 and all(map(_reads_like_person, parts[1:])):
            return tuple(parts)
        return tuple(part.strip() for part in text.split(", and ") if part.strip())
    parts = [part.strip(" .,") for part in _AND.split(text) if part.strip(" .,")]
    names = list(_parse_inverted_names(parts) if _is_inverted(parts) else _join_initials(parts))
    return tuple(names) if all(map(_reads_like_name, names)) else ()


def _reads_like_name(name: str) -> bool:
    """Return whether a name has at most six words, of which only particles are in lower case, and is no more than
    a sentence in a script without spaces."""
    words = name.split()
    if len(words) > 6 or (_UNSPACED.search(name) and ". " in name):
        return False
    return not any(len(word) > 1 and word[0].islower() and not PARTICLE.fullmatch(word.rstrip(",")) for word in words)


def _reads_like_person(name: str) -> bool:
    """Return whether a name beside that of an organisation is a person's, in full."""
    words = name.split()
    return 2 <= len(words) <= 4 and all(word[0].isupper() for word in words) and not ORGANISATION.search(name)


def _is_inverted(parts: list[str]) -> bool:
    """Return whether the first name is inverted, with the given name in full: `Lee, Ann, and Bo Chen`."""
    if len(parts) < 2 or (not parts[0].isascii() and _UNSPACED.search(parts[0])):
        return False
    if _INITIALS.fullmatch(parts[1]) or not _ONE_NAME.fullmatch(parts[0]):
        return False
    words = len(re.sub(r"^(?:[a-z'’]+ )+", "", parts[0]).split())
    given = parts[1].split()
    if words == 1:
        return len(given) <= 3 and (len(given) == 1 or _INITIALS.fullmatch(given[-1]) is not None or len(parts) == 2)
    return len(given) == 1 and len(parts) == 2 and len(parts[0].split()) <= 3


def _parse_inverted_names(parts: list[str]) -> Iterator[str]:
    """Yield the names of a list in which the first name is inverted; the others are inverted too if all parts are
    single words."""
    yield f"{parts[0]}, {parts[1]}"
    rest = parts[2:]
    if rest and len(rest) % 2 == 0 and all(" " not in family for family in rest[::2]):
        yield from (f"{family}, {given}" for family, given in zip(rest[::2], rest[1::2], strict=True))
    else:
        yield from rest


def _join_initials(parts: list[str]) -> Iterator[str]:
    """Yield the names, each surname such as `Lee` joined with the initials that follow it."""
    name = ""
    for part in parts:
        if name and _INITIALS.fullmatch(part) and len(part.replace(".", "").replace(" ", "")) <= 5:
            yield f"{name}, {part}"
            name = ""
            continue
        if name:
            yield name
        name = part
    if name:
        yield name
