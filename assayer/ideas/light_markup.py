"""Texts in Org, reStructuredText and AsciiDoc, rewritten with the headings, links and notes of Markdown.

Only marks that a reader of the printed text does not see are removed: fields above the text, comments, drawers, anchors
and the options of figures."""

import re
from collections.abc import Callable, Iterator, Sequence

LIGHT_MARKUP = (".org", ".rst", ".adoc", ".asciidoc")
PLAIN_TEXT = (".txt", ".md", *LIGHT_MARKUP)
"""Suffixes of files that hold one proposal as text."""
Fields = dict[str, str]
"""Fields above the text by name, in lower case."""

_LOOKED_AT = 200
"""Lines in which the marks of a markup are looked for."""
_MAX_TITLE_CHARS, _MAX_HEADING_CHARS = 200, 100

_ORG_KEYWORD = re.compile(r"[ \t]*#\+(?P<name>[A-Za-z_]{2,30})(?:\[[^\]\n]*\])?:[ \t]*(?P<value>.*)$")
_ORG_HEADING = re.compile(
    r"(?P<stars>\*{1,6}) (?:(?:TODO|DONE|NEXT|WAITING|CANCELLED) )?(?:\[#[A-Z]\] )?(?P<title>\S.*?)"
    r"(?:[ \t]+:[\w@#%:]+:)?[ \t]*$"
)
_ORG_BLOCK = re.compile(r"[ \t]*#\+(?P<side>begin|end)_(?P<kind>\w+)", re.IGNORECASE)
_ORG_DRAWER = re.compile(r"[ \t]*:(?:PROPERTIES|LOGBOOK):[ \t]*$", re.IGNORECASE)
_ORG_DRAWER_END = re.compile(r"[ \t]*:END:[ \t]*$", re.IGNORECASE)
_ORG_COMMENT = re.compile(r"[ \t]*#(?:[ \t]|$)")
_ORG_LINK = re.compile(r"\[\[(?P<target>[^\[\]\n]{1,400})\](?:\[(?P<words>[^\[\]\n]{1,400})\])?\]")
_ORG_NOTE = re.compile(r"\[fn:(?P<mark>[\w-]{1,30})\]")
_CODE = ("src", "example")

_RST_LINE = re.compile(r"(?P<sign>[=~^\"'#*+:.`_-])(?P=sign){2,200}[ \t]*$")
_RST_DIRECTIVE = re.compile(r"(?P<indent>[ \t]*)\.\. (?P<name>[\w:-]{2,40})::[ \t]*(?P<rest>.*)$")
_RST_COMMENT = re.compile(r"\.\.(?:[ \t]+(?![\[|_])(?P<text>.*))?$")
_RST_TARGET = re.compile(r"[ \t]*\.\. _[^:\n]{1,100}:[ \t]*$")
_RST_OPTION = re.compile(r"[ \t]+:[\w-]{2,30}:(?:[ \t].*)?$")
_RST_FIELD = re.compile(r":(?P<name>[A-Za-z][\w -]{1,30}):[ \t]+(?P<value>\S.*)$")
_RST_LINK = re.compile(r"`(?P<words>[^`<>\n]{1,300}?)\s?<(?P<target>https?://[^`<>\s]{4,400})>`_{1,2}")
_RST_NOTE = re.compile(r"^\.\. \[(?P<mark>[\w#*.:-]{1,40})\][ \t]+")
_RST_MARK = re.compile(r"\[(?P<mark>[\w#*.:-]{1,40})\]_(?!\w)")
"""Footnote or citation of reStructuredText, and the mark that refers to it: `.. [Lee19] …`, `[Lee19]_`."""
_RST_UNREAD = frozenset({
    "contents", "figure", "image", "include", "literalinclude", "raw", "toctree", "only", "meta", "highlight",
    "default-role", "role",
})  # fmt: skip
"""Directives whose own line is not text."""

_ADOC_TITLE = re.compile(r"= (?P<title>[^\s=].*?)(?: =)?$")
_ADOC_ATTRIBUTE = re.compile(r":(?P<name>!?[\w-]{1,40}!?):(?:[ \t]+(?P<value>.*))?$")
_ADOC_AUTHOR = re.compile(r"[^\W\d_][\w .,'’-]{2,80}(?: <[^<>\s]{3,100}>)?(?:; [^\n]{3,200})?$")
_ADOC_REVISION = re.compile(r"v?\d[\w.]*(?:,.*)?$")
_ADOC_HEADING = re.compile(r"(?P<signs>={2,6}) (?P<title>\S.*?)(?: =+)?$")
_ADOC_COMMENT = re.compile(r"//(?!/)")
_ADOC_BLOCK = re.compile(r"(?P<sign>[-=*_.+/])(?P=sign){3,}$")
_ADOC_MARK = re.compile(r"\[(?:\[[\w:.-]{1,60}\]|#[\w:.-]{1,60}|[a-z][\w .,\"=#%:-]{0,80})\]$")
_ADOC_MACRO = re.compile(r"(?:include|image|toc|video|audio)::\S{0,400}\[[^\]\n]*\]$|:?toc::?$")
_ADOC_LINK = re.compile(
    r"(?:link:)?(?P<target>https?://[^\s\[\]]{4,400})\[(?P<words>[^\[\]\n]{1,300}?)(?:,[^\[\]\n]*|\^)?\]"
)
_ADOC_NOTE = re.compile(r"footnote:(?:[\w-]{0,30})\[(?P<text>[^\[\]]{1,1000})\]")


def read_org(text: str) -> tuple[Fields, str] | None:
    """Return the fields and the text of a file in Org; None if it is not in Org."""
    lines = text.split("\n")
    seen = lines[:_LOOKED_AT]
    is_org = any(_ORG_KEYWORD.match(line) or _ORG_DRAWER.match(line) or "-*- mode: org" in line for line in seen)
    if not is_org and not _is_outline(lines):
        return None
    fields: Fields = {}
    written: list[str] = []
    in_drawer = in_code = False
    for line in lines:
        if in_drawer or (_ORG_DRAWER.match(line) and not in_code):
            in_drawer = not _ORG_DRAWER_END.match(line)
        elif block := _ORG_BLOCK.match(line):
            if block["kind"].lower() in _CODE:
                in_code = block["side"].lower() == "begin"
                written.append("```")
        elif in_code:
            written.append(line)
        elif (keyword := _ORG_KEYWORD.match(line)) is not None:
            name, value = keyword["name"].lower(), keyword["value"].strip()
            fields[name] = f"{fields[name]} {value}" if name in fields and value else fields.get(name, value)
        elif heading := _ORG_HEADING.match(line):
            written += ["", f"{'#' * len(heading['stars'])} {heading['title']}", ""]
        elif not _ORG_COMMENT.match(line):
            written.append(_write_org_inline(line))
    return {name: value for name, value in fields.items() if value}, "\n".join(written)


def _is_outline(lines: Sequence[str]) -> bool:
    """Return whether lines with stars are headings of two levels with text below them, and not a list in a wiki."""
    headings = [heading for line in lines if (heading := _ORG_HEADING.match(line))]
    are_titles = all(len(item["title"]) <= _MAX_HEADING_CHARS and item["title"][-1] not in ".,;:" for item in headings)
    has_text = sum(bool(line.strip()) for line in lines) >= 2 * len(headings)
    is_markdown = any(line.startswith(("# ", "## ", "== ")) for line in lines)
    return are_titles and has_text and not is_markdown and {"*", "**"} <= {item["stars"] for item in headings}


def _write_org_inline(line: str) -> str:
    line = _ORG_LINK.sub(lambda link: f"[{link['words']}]({link['target']})" if link["words"] else link["target"], line)
    note = _ORG_NOTE.match(line)
    if note and line[note.end() : note.end() + 1].isspace():
        line = f"[^{note['mark']}]: {line[note.end() :].lstrip()}"
    return _ORG_NOTE.sub(r"[^\g<mark>]", line)


def read_rst(text: str) -> tuple[Fields, str] | None:
    """Return the fields and the text of a file in reStructuredText; None if it is not in it."""
    lines = [line.rstrip() for line in text.split("\n")]
    headings = dict(_rst_headings(lines))
    adornments = [sign for sign, _ in headings.values()]
    is_rst = any(sign[0] not in "=-" or len(sign) > 1 for sign in adornments)
    if not headings or not (is_rst or any(map(_RST_DIRECTIVE.match, lines[:_LOOKED_AT]))):
        return None
    order = list(dict.fromkeys(adornments))
    fields: Fields = {}
    written: list[str] = []
    unread_until = -1
    in_fields = True
    for place, line in enumerate(lines):
        if place <= unread_until:
            continue
        if place in headings:
            sign, title_place = headings[place]
            written += ["", f"{'#' * min(order.index(sign) + 1, 6)} {lines[title_place].strip()}", ""]
            unread_until = title_place + 1
            continue
        field = _RST_FIELD.match(line) if in_fields else None
        in_fields = in_fields and (field is not None or not line or len(written) <= 3)
        if field and field["name"].lower() != "abstract":
            fields[field["name"].lower()] = field["value"].strip()
        elif directive := _RST_DIRECTIVE.match(line):
            is_read = directive["name"].rpartition(":")[2] not in _RST_UNREAD
            written += [directive["rest"]] if is_read else []
        elif _RST_COMMENT.match(line) or _RST_TARGET.match(line):
            unread_until = _end_of_block(lines, place)
        elif not _RST_OPTION.match(line):
            written.append(_write_rst_inline(line))
    return fields, "\n".join(written)


def _write_rst_inline(line: str) -> str:
    line = _RST_LINK.sub(r"[\g<words>](\g<target>)", line)
    return _RST_MARK.sub(r"[^\g<mark>]", _RST_NOTE.sub(r"[^\g<mark>]: ", line))


def _rst_headings(lines: Sequence[str]) -> Iterator[tuple[int, tuple[str, int]]]:
    """Yield headings: the first line of each, its adornment (with a line above, twice), and the line of its title."""
    for place, line in enumerate(lines[:-1]):
        below, above = _RST_LINE.match(lines[place + 1]), _RST_LINE.match(lines[place - 1]) if place else None
        if (
            below is None
            or not line.strip()
            or _RST_LINE.match(line)
            or not len(line.strip()) <= min(_MAX_TITLE_CHARS, len(lines[place + 1].strip()) + 2)
        ):
            continue
        if above and above[0].strip() == below[0].strip():
            yield place - 1, (2 * below["sign"], place)
        elif not line[0].isspace() and (place == 0 or not lines[place - 1]):
            yield place, (below["sign"], place)


def _end_of_block(lines: Sequence[str], place: int) -> int:
    """Return the last line of the indented block that begins at a line."""
    end = place
    for following in range(place + 1, len(lines)):
        if lines[following] and not lines[following][0].isspace():
            break
        end = following if lines[following] else end
    return end


def read_asciidoc(text: str) -> tuple[Fields, str] | None:
    """Return the fields and the text of a file in AsciiDoc; None if it is not in it."""
    lines = [line.rstrip() for line in text.split("\n")]
    start = next((place for place, line in enumerate(lines[:40]) if line and not _is_above_title(line)), len(lines))
    titled = _ADOC_TITLE.match(lines[start]) if start < len(lines) else None
    has_attributes = any(map(_ADOC_ATTRIBUTE.match, lines[:start]))
    if titled is None and not (has_attributes and any(map(_ADOC_HEADING.match, lines[:_LOOKED_AT]))):
        return None
    fields: Fields = {"title": titled["title"]} if titled else {}
    end = start + (titled is not None)
    if titled and end < len(lines) and _ADOC_AUTHOR.match(lines[end]):
        fields["author"] = lines[end]
        end += 1
        if end < len(lines) and _ADOC_REVISION.match(lines[end]):
            fields["version"] = lines[end]
            end += 1
    while end < len(lines) and (attribute := _ADOC_ATTRIBUTE.match(lines[end])):
        fields |= {attribute["name"].lower(): attribute["value"]} if attribute["value"] else {}
        end += 1
    for line in lines[:start]:
        if (attribute := _ADOC_ATTRIBUTE.match(line)) and attribute["value"]:
            fields[attribute["name"].lower()] = attribute["value"]
    return fields, _adoc_body(lines[end:])


def _is_above_title(line: str) -> bool:
    return bool(_ADOC_COMMENT.match(line) or _ADOC_ATTRIBUTE.match(line) or _ADOC_MARK.match(line))


def _adoc_body(lines: Sequence[str]) -> str:
    written: list[str] = []
    notes: list[str] = []
    in_comment = False

    def note(match: re.Match[str]) -> str:
        notes.append(" ".join(match["text"].split()))
        return f"[^{len(notes)}]"

    for line in lines:
        block = _ADOC_BLOCK.match(line)
        if block and block["sign"] == "/":
            in_comment = not in_comment
        elif in_comment or _ADOC_COMMENT.match(line) or _ADOC_MARK.match(line) or _ADOC_MACRO.match(line):
            pass
        elif block:
            written.append("```" if block["sign"] in "-." else "")
        elif heading := _ADOC_HEADING.match(line):
            written += ["", f"{'#' * len(heading['signs'])} {heading['title']}", ""]
        else:
            written.append(_ADOC_NOTE.sub(note, _ADOC_LINK.sub(r"[\g<words>](\g<target>)", line)))
    return "\n".join([*written, "", *(f"[^{number}]: {words}" for number, words in enumerate(notes, 1))])


READERS: tuple[Callable[[str], tuple[Fields, str] | None], ...] = (read_org, read_rst, read_asciidoc)
