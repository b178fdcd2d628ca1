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
_BARE_VALUE = re.compile(r"[^,{}]{0,400}")
_USE = re.compile(
    r"\\(?P<name>(?:[Ii]?)ac(?:p|f|fp|s|sp|l|lp|used)?|(?:[Ii])ac|Ac(?:p|f|s|l)?|gls(?:pl|link|disp|desc|first|text|name|symbol)?"
    r"|Gls(?:pl)?|GLS(?:pl)?|acr(?:short|long|full)(?:pl)?|glsxtr(?:short|long|full)(?:pl)?|glsentry(?:short|long|name|text|full)(?:pl)?"
    r"|Acr(?:short|long|full)(?:pl)?|acresetall|glsresetall|acreset|glsreset|glsunset|glsaddall|glsadd|acuse)\*?(?![a-zA-Z])"
)
_MACROS_KEEPING_FIRST_USE = ("acs", "acsp", "acl", "aclp")
"""Macros after which the next use is still the first."""
_MAX_USES = 100_000


class Acronym(NamedTuple):
    short: str
    long: str
    """Empty if the entry is a term without a long form."""
    short_plural: str = ""
    long_plural: str = ""
    """Plural forms; empty if they end in `s`."""


Acronyms = dict[str, Acronym]
"""Abbreviations by key, in the order of their definitions."""


def take_acronyms(source: str, acronyms: Acronyms, *, are_printed: bool) -> str:
    r"""Return a source without the definitions of abbreviations, and add these to `acronyms`. If they `are_printed`,
    the entries of a list of abbreviations, `\acro{CNN}{…}`, become items of a list."""
    pieces: list[str] = []
    consumed = 0
    while match := _DEFINITION.search(source, consumed):
        pieces.append(source[consumed : match.start()])
        end = _take_definition(source, match["name"], match.end(), acronyms)
        if end is None:
            pieces.append(match[0])
        elif match["name"] == "acro" and are_printed:
            acronym = next(reversed(acronyms.values()))
            pieces.append(f"\\item[{{{acronym.short}}}] {acronym.long} ")
        consumed = end or match.end()
    return "".join([*pieces, source[consumed:]])


def _take_definition(source: str, name: str, start: int, acronyms: Acronyms) -> int | None:
    """Add the definition whose arguments begin at `start`, and return the position after it; None if it is broken."""
    if name in ("newacronym", "newabbreviation"):
        option, start = read_option(source, start)
        groups = read_groups(source, start, 3)
        if groups:
            plurals = _parse_fields(option or "")
            key, short, long = groups.texts
            acronyms[key.strip()] = Acronym(short, long, plurals.get("shortplural", ""), plurals.get("longplural", ""))
        return groups.end if groups else None
    if name in ("newglossaryentry", "longnewglossaryentry", "DeclareAcronym"):
        groups = read_groups(source, start, 3 if name.startswith("long") else 2)
        if groups:
            fields = _parse_fields(groups.texts[1])
            short = fields.get("short") or fields.get("text") or fields.get("name") or groups.texts[0]
            short_plural = fields.get("short-plural-form") or fields.get("plural", "")
            long_plural = fields.get("long-plural-form") or ""
            acronyms[groups.texts[0].strip()] = Acronym(short, fields.get("long", ""), short_plural, long_plural)
        return groups.end if groups else None
    key_group = read_groups(source, start, 1)
    if key_group is None:
        return None
    option, start = read_option(source, key_group.end)
    long_group = read_groups(source, start, 1)
    if long_group is None:
        return None
    key, long = key_group.texts[0].strip(), long_group.texts[0]
    if name.endswith("plural"):
        if key in acronyms:
            acronyms[key] = acronyms[key]._replace(short_plural=option or "", long_plural=long)
    else:
        acronyms.pop(key, None)
        acronyms[key] = Acronym(option or key, long)
    return long_group.end


def _parse_fields(text: str) -> dict[str, str]:
    """Return the fields in `name = {value}, name = value`."""
    fields: dict[str, str] = {}
    position = 0
    while match := _FIELD.search(text, position):
        if text.startswith("{", match.end()):
            end = find_group_end(text, match.end()) or len(text)
            value = text[match.end() + 1 : end - 1]
        else:
            bare = _BARE_VALUE.match(text, match.end())
            end = bare.end() if bare else match.end()
            value = text[match.end() : end].strip()
        fields.setdefault(match["name"], value)
        position = max(end, match.end())
    return fields


def expand_acronyms(source: str, acronyms: Mapping[str, Acronym]) -> str:
    """Return a source with the abbreviations written out as they are printed."""
    pieces: list[str] = []
    consumed = 0
    used_keys: set[str] = set()
    for number, match in enumerate(_USE.finditer(source)):
        if match.start() < consumed or number > _MAX_USES:
            continue
        name = match["name"]
        if name in ("acresetall", "glsresetall", "glsaddall"):
            used_keys.clear()
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
            groups.texts[1] if len(groups.texts) > 1 else _format_use(name, key, acronyms, used_keys),
        ]
        consumed = end
    return "".join([*pieces, source[consumed:]])


def _format_use(name: str, key: str, acronyms: Mapping[str, Acronym], used_keys: set[str]) -> str:
    """Return what a macro prints for an abbreviation."""
    form = name.lower()
    if form in ("acreset", "glsreset"):
        used_keys.discard(key)
        return ""
    if form in ("glsunset", "glsadd", "acuse", "acused", "glsdesc"):
        used_keys.add(key)
        return ""
    acronym = acronyms.get(key)
    if acronym is None:
        return key
    is_plural = form.endswith(("pl", "acp", "acfp", "acsp", "aclp"))
    short = (acronym.short_plural or f"{acronym.short}s") if is_plural else acronym.short
    long = (acronym.long_plural or f"{acronym.long}s") if is_plural and acronym.long else acronym.long
    if not long or "short" in form or form in ("acs", "acsp") or form.endswith(("text", "name", "symbol")):
        printed_text = short
    elif "long" in form or form in ("acl", "aclp"):
        printed_text = long
    elif "full" in form or form in ("acf", "acfp") or form == "glsfirst" or key not in used_keys:
        printed_text = f"{long} ({short})"
    else:
        printed_text = short
    if not form.startswith(("glsentry", "acrshort", "acrlong", "glsxtr")) and form not in (
        "acs",
        "acsp",
        "acl",
        "aclp",
    ):
        used_keys.add(key)
    if form.startswith("iac"):
        printed_text = f"{'an' if printed_text[:1].lower() in 'aeiou' else 'a'} {printed_text}"
    if name.startswith("GLS"):
        return printed_text.upper()
    return printed_text[:1].upper() + printed_text[1:] if name[0].isupper() else printed_text
