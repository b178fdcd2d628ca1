"""Read the text of an RTF file with striprtf, which handles the format's destinations and code pages.

striprtf outputs only plain text. To preserve which text is hidden, bold, a heading or a note, private-use Unicode
characters are first inserted as marks, which striprtf passes through. Runs in the sandboxed process."""

import re
from collections.abc import Iterator
from typing import NamedTuple

from striprtf.striprtf import rtf_to_text

from assayer.reference_lists.link_targets import link_address
from assayer.text.raised_text import Script
from workers.sandbox.office_text import BODY, OfficeHiding, OfficeParagraphs
from workers.sandbox.refusal import Refused

_TOKEN = re.compile(
    r"\\(?P<word>[a-zA-Z]{1,32})(?P<number>-?\d{1,10})? ?|\\'[0-9a-fA-F]{2}|\\[^a-zA-Z]|(?P<brace>[{}])"
)
_STYLE_HEADING = re.compile(r"\{[^{}]*?\\s(\d+)\b[^{}]*?heading (\d)[^{}]*;\}", re.IGNORECASE)
_TITLE_STYLE = re.compile(r"\{[^{}]*?\\s(\d+)\b[^{}]*?[ }]Title;\}", re.IGNORECASE)
_LINK_FIELD = re.compile(r"\{\\\*\\fldinst(?:[^{}]++|\{[^{}]*+\}){0,20}\}")
_LINK_TARGET = re.compile(r"HYPERLINK\s+\"?(?P<target>[^\"\s{}\\]{1,2000})", re.IGNORECASE)
_COLOURS = re.compile(r"\{\\colortbl(?P<table>[^{}]*)\}")
_WHITE_ENTRY = re.compile(r"\\red25[0-5]\\green25[0-5]\\blue25[0-5]")
_AUTHOR = re.compile(r"\{\\author ([^{}]{1,400})\}")
_CODE_PAGE = re.compile(r"\\ansicpg\d{1,5}")
_HEAD = re.compile(r"\{\\(?:header|footer)[lrf]?(?![a-z])")
_BRACE = re.compile(r"\\.|[{}]", re.DOTALL)
_MAX_HEAD_CHARS = 20_000
"""Maximum length in characters of a header or footer in the file. Longer ones hold pictures and are not read."""
_FIRST_MARK = 0xE100
_PLAIN, _HIDDEN, _DELETED, _TINY, _WHITE_TEXT, _BOLD, _NOTE, _NOTE_END, _CELL = range(_FIRST_MARK, _FIRST_MARK + 9)
_ON_LINE, _RAISED, _LOWERED, _LINK, _LINK_END, _LEVEL = range(_FIRST_MARK + 9, _FIRST_MARK + 15)
_SCRIPTS: dict[int, Script] = {_ON_LINE: "", _RAISED: "^", _LOWERED: "_"}
_REASONS: dict[int, OfficeHiding] = {
    _HIDDEN: "marked as hidden",
    _DELETED: "deleted as a tracked change",
    _TINY: "tiny",
    _WHITE_TEXT: "in the background colour",
}
_SCRIPT_WORDS = {"super": _RAISED, "up": _RAISED, "sub": _LOWERED, "dn": _LOWERED, "nosupersub": _ON_LINE}
_TITLE_LEVEL = 15
_TINY_HALF_POINTS = 4
_MARKS = re.compile(f"([{chr(_FIRST_MARK)}-{chr(_LEVEL + _TITLE_LEVEL)}])")


class _State(NamedTuple):
    hidden: bool = False
    deleted: bool = False
    tiny: bool = False
    white: bool = False
    bold: bool = False
    in_note: bool = False
    script: int = _ON_LINE
    linked: bool = False

    def get_mark(self) -> int:
        if self.hidden or self.deleted:
            return _HIDDEN if self.hidden else _DELETED
        if self.tiny or self.white:
            return _TINY if self.tiny else _WHITE_TEXT
        return _BOLD if self.bold else _PLAIN


def read_rich_text(data: bytes, most_characters: int) -> OfficeParagraphs:
    """Read an RTF file. Raises Refused if it cannot be read."""
    source = data.decode("latin-1")
    if not source.lstrip().startswith("{\\rtf"):
        raise Refused("damaged")
    try:
        marked_text = rtf_to_text("".join(_insert_marks(source)), errors="replace")
    except (ValueError, KeyError, IndexError, LookupError, TypeError) as error:
        raise Refused("damaged") from error
    text = _read_paragraphs(marked_text, most_characters)
    author = _AUTHOR.search(source)
    text.add_properties(_convert_to_text(source, author[1]) if author else "", _read_heads(source))
    return text


def _convert_to_text(source: str, group: str) -> str:
    """Return the text in a piece of the file, in the file's code page."""
    code_page = _CODE_PAGE.search(source)
    text: str = rtf_to_text(f"{{\\rtf1\\ansi{code_page[0] if code_page else ''} {group}}}", errors="replace")
    return text


def _read_heads(source: str) -> Iterator[str]:
    """Yield the lines of headers and footers, which striprtf skips."""
    consumed = 0
    for head in _HEAD.finditer(source):
        if head.start() < consumed:
            continue
        depth, consumed = 1, head.end()
        for brace in _BRACE.finditer(source, head.end(), head.end() + _MAX_HEAD_CHARS):
            depth += 1 if brace[0] == "{" else -1 if brace[0] == "}" else 0
            if not depth:
                consumed = brace.end()
                yield from _convert_to_text(source, source[head.end() : brace.start()]).split("\n")
                break


def _insert_marks(source: str) -> Iterator[str]:
    """Yield the pieces of the file, with a mark wherever the text's appearance changes."""
    levels = {number: int(level) for number, level in _STYLE_HEADING.findall(source)}
    levels |= dict.fromkeys(_TITLE_STYLE.findall(source), _TITLE_LEVEL)
    whites = _find_white_colours(source)
    source = _LINK_FIELD.sub(_mark_link, source)
    stack = [_State()]
    consumed = 0
    for token in _TOKEN.finditer(source):
        old_state = stack[-1]
        mark = ""
        start, end = token.start(), token.end()
        if token["brace"] == "{":
            stack.append(old_state)
        elif token["brace"] == "}":
            if len(stack) > 1:
                stack.pop()
            mark = _encode_character(_LINK_END) if old_state.linked and not stack[-1].linked else ""
            mark += _encode_character(_NOTE_END) if old_state.in_note and not stack[-1].in_note else ""
        elif token["word"] in ("cell", "nestcell"):
            yield source[consumed:start] + _encode_character(_CELL)
            consumed = start
        elif token["word"] == "footnote":
            # Removed, because striprtf skips footnotes.
            yield source[consumed:start] + _encode_character(_NOTE)
            consumed = end
            stack[-1] = old_state._replace(in_note=True, script=_ON_LINE)
        elif token["word"]:
            stack[-1] = _change_state(old_state, token["word"], token["number"], whites)
            mark = _build_level_mark(token["word"], token["number"], levels)
        yield source[consumed:end] + mark
        consumed = end
        if stack[-1].get_mark() != old_state.get_mark():
            yield _encode_character(stack[-1].get_mark())
        if stack[-1].script != old_state.script:
            yield _encode_character(stack[-1].script)
    yield source[consumed:]


def _mark_link(field: re.Match[str]) -> str:
    """Return the target of a link to a work, between marks; the field's instruction itself if it is no such link."""
    match = _LINK_TARGET.search(field[0])
    address = link_address(match["target"]) if match else ""
    return f"{_encode_character(_LINK)}{address}{_encode_character(_LINK)}" if address else field[0]


def _encode_character(code: int) -> str:
    return f"{{\\uc1\\u{code - 0x10000}?}}"


def _find_white_colours(source: str) -> set[str]:
    table = _COLOURS.search(source)
    entries = table["table"].split(";") if table else []
    return {str(number) for number, entry in enumerate(entries) if _WHITE_ENTRY.search(entry)}


def _change_state(state: _State, word: str, number: str | None, whites: set[str]) -> _State:
    changes = {
        "v": {"hidden": number != "0"},
        "deleted": {"deleted": number != "0"},
        "b": {"bold": number != "0"},
        "fldrslt": {"linked": True},
        "fs": {"tiny": number is not None and int(number) <= _TINY_HALF_POINTS},
        "cf": {"white": number in whites},
    }
    if word in _SCRIPT_WORDS:
        return state._replace(script=_ON_LINE if number == "0" else _SCRIPT_WORDS[word])
    if word == "plain":
        return _State(in_note=state.in_note, linked=state.linked)
    return state._replace(**changes.get(word, {}))


def _build_level_mark(word: str, number: str | None, levels: dict[str, int]) -> str:
    """Return the mark for the heading level that an RTF control word sets, or an empty string if it sets none."""
    if word == "pard":
        return _encode_character(_LEVEL)
    if word == "s" and number in levels:
        return _encode_character(_LEVEL + levels[number])
    if word == "outlinelevel" and number is not None and 0 <= int(number) < 9:
        return _encode_character(_LEVEL + int(number) + 1)
    return ""


def _read_paragraphs(marked_text: str, most_characters: int) -> OfficeParagraphs:
    text = OfficeParagraphs(most_characters)
    outer_text: OfficeParagraphs | None = None
    level, look, script = BODY, _PLAIN, _ON_LINE
    is_target = False
    for number, line in enumerate(marked_text.split("\n")):
        if number:
            _end_paragraph(text, level)
        for piece in _MARKS.split(line.replace("\u00ad", "")):
            code = ord(piece) if len(piece) == 1 else 0
            if code == _NOTE and outer_text is None:
                outer_text, text = text, OfficeParagraphs(text.characters_left)
            elif code == _NOTE_END and outer_text is not None:
                _end_paragraph(text, BODY)
                mark, text, outer_text, script = outer_text.add_note(text), outer_text, None, _ON_LINE
                text.add(f"[^{mark}]" if mark else "")
            elif code >= _LEVEL and code <= _LEVEL + _TITLE_LEVEL:
                level = code - _LEVEL
            elif code == _LINK:
                is_target = not is_target
            elif is_target or code == _LINK_END:
                text.set_link(piece if is_target else "")
            elif code in _SCRIPTS:
                script = code
            elif _FIRST_MARK <= code < _NOTE:
                look = code
            elif not _FIRST_MARK <= code < _LEVEL:
                _add(text, piece, look, _SCRIPTS[script])
    _end_paragraph(text, level)
    return text


def _add(text: OfficeParagraphs, piece: str, mark: int, script: Script) -> None:
    if piece.startswith("|"):  # the end of a cell
        piece = f" | {piece[1:]}" if piece[1:].strip() else ""
    text.add(piece, _REASONS.get(mark), bold=mark == _BOLD, script=script)


def _end_paragraph(text: OfficeParagraphs, level: int) -> None:
    text.end_paragraph(BODY if level == _TITLE_LEVEL else level, is_title=level == _TITLE_LEVEL)
