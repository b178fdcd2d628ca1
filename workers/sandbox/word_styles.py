"""Formatting of the text in a Word document, from defaults, styles and direct formatting.

Runs in the sandboxed process."""

import re
from typing import NamedTuple

from lxml import etree

from assayer.text.raised_text import Script
from workers.sandbox.office_package import find_children, get_attribute, get_local_name
from workers.sandbox.office_text import BODY, TextLook, is_instruction_style, is_title_style

TITLE_LEVEL = -1
_MAX_STYLE_CHAIN = 20
"""Maximum length of a chain of styles, each based on the next."""
_HEADING = re.compile(r"heading\s?([1-9])")
_CONTENTS_STYLE = re.compile(r"toc\s?(?:[1-9]|heading)")
_LIST_STYLES = ("bibliography", "endnote bibliography")
_MAX_OVERLAPPING_SPACING = -100
"""Letter spacing, in twentieths of a point, at or below which letters overlap."""
_MAX_BASELINE_DISTANCE = 400
"""Distance from the baseline, in half-points, beyond which text counts as off the page."""
_MIN_SCRIPT_DISTANCE = 4
"""Distance from the baseline, in half-points, from which letters are a superscript or subscript."""
_SCRIPTS: dict[str, Script] = {"superscript": "^", "subscript": "_", "baseline": ""}
_MAX_FLAT_LINE_HEIGHT = 40
"""Exact line height, in twentieths of a point, at or below which text counts as invisible."""
_LEFT_LIMIT, _RIGHT_LIMIT = -15_000, 20_000
"""Positions, in twentieths of a point, beyond which text is off the page. A page measures 12,000 by 17,000."""
_OFF_VALUES = ("0", "false", "off", "none")
_WHITE_THEMES = ("background1", "light1", "bg1", "lt1")
_HIGHLIGHTS = {
    "black": "000000", "blue": "0000ff", "cyan": "00ffff", "green": "00ff00", "magenta": "ff00ff", "red": "ff0000",
    "yellow": "ffff00", "white": "ffffff", "darkBlue": "000080", "darkCyan": "008080", "darkGreen": "008000",
    "darkMagenta": "800080", "darkRed": "800000", "darkYellow": "808000", "darkGray": "808080", "lightGray": "c0c0c0",
}  # fmt: skip


class ParagraphStyle(NamedTuple):
    look: TextLook
    level: int
    """The style's heading level; BODY if it is not a heading, TITLE_LEVEL for the document's title."""
    is_contents: bool
    """Whether the style belongs to a table of contents, which repeats the headings."""
    is_reference: bool
    """Whether the style is for entries in a reference list."""
    is_instruction: bool
    """Whether the style is for the instructions of a form."""


class WordStyles:
    def __init__(self, styles: etree._Element | None) -> None:
        self._styles = {get_attribute(style, "styleId"): style for style in find_children(styles, "style")}
        self._default = next(
            (
                get_attribute(style, "styleId")
                for style in self._styles.values()
                if get_attribute(style, "type") == "paragraph"
                and get_attribute(style, "default") in ("1", "true", "on")
            ),
            None,
        )
        defaults = next(find_children(styles, "docDefaults"), None)
        run_defaults = next(find_children(defaults, "rPrDefault"), None)
        self._look = read_run_look(next(find_children(run_defaults, "rPr"), None))
        self._styles_by_id: dict[str | None, ParagraphStyle] = {}

    def resolve_paragraph(self, properties: etree._Element | None) -> ParagraphStyle:
        """Return the style that applies to a paragraph with these properties (`pPr`)."""
        name = get_attribute(next(find_children(properties, "pStyle"), None), "val") or self._default
        if name not in self._styles_by_id:
            self._styles_by_id[name] = self._read(name)
        style = self._styles_by_id[name]
        own_look = read_paragraph_look(properties)
        level = _read_outline_level(properties)
        return ParagraphStyle(own_look.override(style.look), style.level if level is None else level, *style[2:])

    def resolve_characters(self, name: str | None) -> TextLook:
        """Return the look defined by a character style alone."""
        return self._resolve_look(name) if name in self._styles else TextLook()

    def is_prompt(self, name: str | None) -> bool:
        """Return whether a character style is for the prompts in empty fields, or for instructions of a form."""
        names = (
            get_attribute(next(find_children(style, "name"), None), "val") or ""
            for style in self._list_style_chain(name)
        )
        return any(style_name.lower() == "placeholder text" or is_instruction_style(style_name) for style_name in names)

    def find_cell_backgrounds(self, name: str | None) -> tuple[str | None, str | None]:
        """Return the background that a table style sets for the first row and for the other rows."""
        background = first_row_background = None
        for style in self._list_style_chain(name):
            background = background or read_shading(next(find_children(style, "tcPr"), None))
            for part in find_children(style, "tblStylePr"):
                if get_attribute(part, "type") == "firstRow":
                    first_row_background = first_row_background or read_shading(next(find_children(part, "tcPr"), None))
        return first_row_background or background, background

    def _read(self, name: str | None) -> ParagraphStyle:
        level, is_contents, is_reference, is_instruction = None, False, False, False
        for style in self._list_style_chain(name):
            style_name = (get_attribute(next(find_children(style, "name"), None), "val") or "").lower()
            is_contents = is_contents or bool(_CONTENTS_STYLE.fullmatch(style_name))
            is_reference = is_reference or style_name in _LIST_STYLES
            is_instruction = is_instruction or is_instruction_style(style_name)
            if level is None:
                heading = _HEADING.fullmatch(style_name)
                outline = _read_outline_level(next(find_children(style, "pPr"), None))
                level = TITLE_LEVEL if is_title_style(style_name) else int(heading[1]) if heading else outline
        look = self._resolve_look(name).override(self._look)
        return ParagraphStyle(look, BODY if level is None else level, is_contents, is_reference, is_instruction)

    def _resolve_look(self, name: str | None) -> TextLook:
        look = TextLook()
        for style in self._list_style_chain(name):
            style_look = read_run_look(next(find_children(style, "rPr"), None))
            style_paragraph_look = read_paragraph_look(next(find_children(style, "pPr"), None))
            look = look.override(style_look).override(style_paragraph_look)
        return look

    def _list_style_chain(self, name: str | None) -> list[etree._Element]:
        """Return the style, followed by the styles on which it is based."""
        chain: list[etree._Element] = []
        while name in self._styles and len(chain) < _MAX_STYLE_CHAIN:
            chain.append(self._styles[name])
            name = get_attribute(next(find_children(chain[-1], "basedOn"), None), "val")
        return chain


def read_run_look(properties: etree._Element | None) -> TextLook:
    """Return the look defined by a run's properties (`rPr`)."""
    if properties is None:
        return TextLook()
    is_hidden = is_bold = None
    points = width = colour = is_unfilled = highlight = is_off_page = None
    for item in properties.iterchildren("*"):
        value = get_attribute(item, "val")
        match get_local_name(item):
            case "vanish" | "specVanish":
                is_hidden = bool(is_hidden) or value not in _OFF_VALUES
            case "b":
                is_bold = value not in _OFF_VALUES
            case "sz":
                points = _parse_half_points(value)
            case "w":
                width = _parse_number(value)
            case "spacing" if (_parse_number(value) or 0) <= _MAX_OVERLAPPING_SPACING:
                width = 0.0
            case "position" if abs(_parse_number(value) or 0) > _MAX_BASELINE_DISTANCE:
                is_off_page = True
            case "color":
                colour = _read_colour(item)
            case "highlight":
                highlight = _HIGHLIGHTS.get(value or "")
            case "textFill":
                is_unfilled, colour = _read_fill(item, colour)
    return TextLook(
        is_hidden,
        points,
        width,
        colour,
        highlight or read_shading(properties),
        is_unfilled,
        is_off_page,
        is_bold,
        _read_script(properties),
    )


def _read_script(properties: etree._Element) -> Script | None:
    """Return the script that a run's alignment or its distance from the baseline sets; None if none is set."""
    alignment = get_attribute(next(find_children(properties, "vertAlign"), None), "val")
    distance = _parse_number(get_attribute(next(find_children(properties, "position"), None), "val")) or 0.0
    if alignment in _SCRIPTS or not _MIN_SCRIPT_DISTANCE <= abs(distance) <= _MAX_BASELINE_DISTANCE:
        return _SCRIPTS.get(alignment or "")
    return "^" if distance > 0 else "_"


def read_paragraph_look(properties: etree._Element | None) -> TextLook:
    """Return the look defined by a paragraph's properties (`pPr`): its background and its position."""
    frame, indent = (next(find_children(properties, name), None) for name in ("framePr", "ind"))
    positions = [
        get_attribute(frame, "x"),
        get_attribute(frame, "y"),
        get_attribute(indent, "left"),
        get_attribute(indent, "start"),
    ]
    spacing = next(find_children(properties, "spacing"), None)
    is_flat = (
        get_attribute(spacing, "lineRule") == "exact"
        and (_parse_number(get_attribute(spacing, "line")) or 0) <= _MAX_FLAT_LINE_HEIGHT
    )
    is_off_page = any(
        not _LEFT_LIMIT < position < _RIGHT_LIMIT for position in map(_parse_number, positions) if position is not None
    )
    return TextLook(
        width=0.0 if is_flat else None, background=read_shading(properties), is_off_page=is_off_page or None
    )


def _read_fill(fill: etree._Element, colour: str | None) -> tuple[bool | None, str | None]:
    """Return whether the letters are unfilled (None if not stated), and their colour, by default `colour`."""
    for item in fill.iter("*"):
        match get_local_name(item):
            case "noFill":
                return True, colour
            case "alpha" if (_parse_number(get_attribute(item, "val")) or 0) >= 90_000:
                return True, colour
            case "srgbClr":
                colour = get_attribute(item, "val") or colour
            case "schemeClr" if get_attribute(item, "val") in _WHITE_THEMES and not len(item):
                colour = "ffffff"
    return None, colour


def _read_colour(color: etree._Element) -> str:
    if get_attribute(color, "themeColor") in _WHITE_THEMES and get_attribute(color, "themeShade") is None:
        return "ffffff"
    value = get_attribute(color, "val") or "auto"
    return "" if value == "auto" else value


def read_shading(properties: etree._Element | None) -> str | None:
    """Return the background colour, or None if the area is transparent."""
    shading = next(find_children(properties, "shd"), None)
    if shading is None:
        return None
    name = "color" if get_attribute(shading, "val") == "solid" else "fill"
    value = get_attribute(shading, name)
    return None if value in (None, "auto") else value


def _read_outline_level(properties: etree._Element | None) -> int | None:
    """Return a paragraph's heading level from its outline level; None if the outline level is not set. Outline level 9
    means body text."""
    value = _parse_number(get_attribute(next(find_children(properties, "outlineLvl"), None), "val"))
    return None if value is None else int(value) + 1 if value < 9 else BODY


def _parse_half_points(value: str | None) -> float | None:
    number = _parse_number(value)
    return None if number is None else number / 2


def _parse_number(value: str | None) -> float | None:
    try:
        return float((value or "").removesuffix("%"))
    except ValueError:
        return None
