r"""Abbreviations of the LaTeX packages acronym, acro and glossaries as text: the first `\ac{cnn}` becomes
`convolutional neural network (CNN)`, later ones `CNN`.

Runs in the sandboxed process."""

import re
from collections.abc import Mapping
from typing import NamedTuple

from workers.sandbox.tex_groups import find_group_end, read_groups, read_option, skip_spaces

_DEFINITION = re.compile(
    r"\\(?P<name>acrodef|newacro|acro|newacronym|newabbreviation|newglossaryentry|longnewglossaryentry|DeclareAcronym"
    r"|acroplural|acrodefplural|newacroplural)\*?(?![a-zA-Z])"
)
_FIELD = re.compile(r"(?P<name>[a-zA-Z-]{2,30})\s*=\s*")
_BARE = re.compile(r"[^,{}]{0,400}")
_USE = re.compile(
    r"\\(?P<name>(?:[Ii]?)ac(?:p|f|fp|s|sp|l|lp|used)?|(?:[Ii])ac|Ac(?:p|f|s|l)?|gls(?:pl|link|disp|desc|first|text|name|symbol)?"
    r"|Gls(?:pl)?|GLS(?:pl)?|acr(?:short|long|full)(?:pl)?|glsxtr(?:short|long|full)(?:pl)?|glsentry(?:short|long|name|text|full)(?:pl)?"
    r"|Acr(?:short|long|full)(?:pl)?|acresetall|glsresetall|acreset|glsreset|glsunset|glsaddall|glsadd|acuse)\*?(?![a-zA-Z])"
)
_NOT_FIRST = ("acs", "acsp", "acl", "aclp")
"""Macros after which the next use is still the first."""
_MAX_USES = 100_000


class Acronym(NamedTuple):
    short: str
    long: str
    """Empty if the entry is a term without a long form."""
    shorts: str = ""
    longs: str = ""
    """Plural forms; empty if they end in `s`."""


Acronyms = dict[str, Acronym]
"""Abbreviations by key, in the order of their definitions."""


def take_acronyms(source: str, known: Acronyms, *, printed: bool) -> str:
    r"""Return a source without the definitions of abbreviations, and add these to `known`. The entries of a list of
    abbreviations that is `printed`, `\acro{CNN}{…}`, become items of a list."""
    pieces: list[str] = []
    consumed = 0
    while match := _DEFINITION.search(source, consumed):
        pieces.append(source[consumed : match.start()])
        end = _take_definition(source, match["name"], match.end(), known)
        if end is None:
            pieces.append(match[0])
        elif match["name"] == "acro" and printed:
            defined = next(reversed(known.values()))
            pieces.append(f"\\item[{{{defined.short}}}] {defined.long} ")
        consumed = end or match.end()
    return "".join([*pieces, source[consumed:]])


def _take_definition(source: str, name: str, start: int, known: Acronyms) -> int | None:
    """Add the definition whose arguments begin at `start`, and return the position after it; None if it is broken."""
    if name in ("newacronym", "newabbreviation"):
        option, start = read_option(source, start)
        groups = read_groups(source, start, 3)
        if groups:
            plurals = _parse_fields(option or "")
            key, short, long = groups.texts
            known[key.strip()] = Acronym(short, long, plurals.get("shortplural", ""), plurals.get("longplural", ""))
        return groups.end if groups else None
    if name in ("newglossaryentry", "longnewglossaryentry", "DeclareAcronym"):
        groups = read_groups(source, start, 3 if name.startswith("long") else 2)
        if groups:
            fields = _parse_fields(groups.texts[1])
            short = fields.get("short") or fields.get("text") or fields.get("name") or groups.texts[0]
            shorts = fields.get("short-plural-form") or fields.get("plural", "")
            longs = fields.get("long-plural-form") or ""
            known[groups.texts[0].strip()] = Acronym(short, fields.get("long", ""), shorts, longs)
        return groups.end if groups else None
    first = read_groups(source, start, 1)
    if first is None:
        return None
    option, start = read_option(source, first.end)
    second = read_groups(source, start, 1)
    if second is None:
        return None
    key, long = first.texts[0].strip(), second.texts[0]
    if name.endswith("plural"):
        if key in known:
            known[key] = known[key]._replace(shorts=option or "", longs=long)
    else:
        known.pop(key, None)
        known[key] = Acronym(option or key, long)
    return second.end


def _parse_fields(text: str) -> dict[str, str]:
    """Return the fields in `name = {value}, name = value`."""
    fields: dict[str, str] = {}
    position = 0
    while match := _FIELD.search(text, position):
        if text.startswith("{", match.end()):
            end = find_group_end(text, match.end()) or len(text)
            value = text[match.end() + 1 : end - 1]
        else:
            bare = _BARE.match(text, match.end())
            end = bare.end() if bare else match.end()
            value = text[match.end() : end].strip()
        fields.setdefault(match["name"], value)
        position = max(end, match.end())
    return fields


def expand_acronyms(source: str, known: Mapping[str, Acronym]) -> str:
    """Return a source with the abbreviations written out as they are printed."""
    pieces: list[str] = []
    consumed = 0
    used: set[str] = set()
    for number, match in enumerate(_USE.finditer(source)):
        if match.start() < consumed or number > _MAX_USES:
            continue
        name = match["name"]
        if name in ("acresetall", "glsresetall", "glsaddall"):
            used.clear()
            pieces.append(source[consumed : match.start()])
            consumed = skip_spaces(source, match.end())
            continue
        _, start = read_option(source, match.end())
        groups = read_groups(source, start, 2 if name in ("glslink", "glsdisp") else 1)
        if groups is None:
            continue
        key = groups.texts[0].strip()
        _, end = read_option(source, groups.end) if name.startswith("gl") else (None, groups.end)
        pieces += [
            source[consumed : match.start()],
            groups.texts[1] if len(groups.texts) > 1 else _format(name, key, known, used),
        ]
        consumed = end
    return "".join([*pieces, source[consumed:]])


def _format(name: str, key: str, known: Mapping[str, Acronym], used: set[str]) -> str:
    """Return what a macro prints for an abbreviation."""
    form = name.lower()
    if form in ("acreset", "glsreset"):
        used.discard(key)
        return ""
    if form in ("glsunset", "glsadd", "acuse", "acused", "glsdesc"):
        used.add(key)
        return ""
    item = known.get(key)
    if item is None:
        return key
    is_plural = form.endswith(("pl", "acp", "acfp", "acsp", "aclp"))
    short = (item.shorts or f"{item.short}s") if is_plural else item.short
    long = (item.longs or f"{item.long}s") if is_plural and item.long else item.long
    if not long or "short" in form or form in ("acs", "acsp") or form.endswith(("text", "name", "symbol")):
        shown = short
    elif "long" in form or form in ("acl", "aclp"):
        shown = long
    elif "full" in form or form in ("acf", "acfp") or form == "glsfirst" or key not in used:
        shown = f"{long} ({short})"
    else:
        shown = short
    if not form.startswith(("glsentry", "acrshort", "acrlong", "glsxtr")) and form not in (
        "acs",
        "acsp",
        "acl",
        "aclp",
    ):
        used.add(key)
    if form.startswith("iac"):
        shown = f"{'an' if shown[:1].lower() in 'aeiou' else 'a'} {shown}"
    if name.startswith("GLS"):
        return shown.upper()
    return shown[:1].upper() + shown[1:] if name[0].isupper() else shown
