"""Formatting of the text in a Word document, from defaults, styles and direct formatting.

Runs in the sandboxed process."""

import re
from typing import NamedTuple

from lxml import etree

from assayer.text.raised_text import Script
from workers.sandbox.office_package import attribute, children, get_local_name
from workers.sandbox.office_text import BODY, Look, is_instruction_style, is_title_style

TITLE_LEVEL = -1
_MAX_STYLE_CHAIN = 20
"""Maximum length of a chain of styles, each based on the next."""
_HEADING = re.compile(r"heading\s?([1-9])")
_CONTENTS = re.compile(r"toc\s?(?:[1-9]|heading)")
_LISTS = ("bibliography", "endnote bibliography")
_OVERLAID = -100
"""Letter spacing, in twentieths of a point, at or below which letters overlap."""
_RAISED = 400
"""Distance from the baseline, in half-points, beyond which text counts as off the page."""
_SHIFTED = 4
"""Distance from the baseline, in half-points, from which letters are a superscript or subscript."""
_SCRIPTS: dict[str, Script] = {"superscript": "^", "subscript": "_", "baseline": ""}
_FLAT = 40
"""Exact line height, in twentieths of a point, at or below which text counts as invisible."""
_LEFT, _RIGHT = -15_000, 20_000
"""Positions, in twentieths of a point, beyond which text is off the page. A page measures 12,000 by 17,000."""
_OFF = ("0", "false", "off", "none")
_WHITE_THEMES = ("background1", "light1", "bg1", "lt1")
_HIGHLIGHTS = {
    "black": "000000", "blue": "0000ff", "cyan": "00ffff", "green": "00ff00", "magenta": "ff00ff", "red": "ff0000",
    "yellow": "ffff00", "white": "ffffff", "darkBlue": "000080", "darkCyan": "008080", "darkGreen": "008000",
    "darkMagenta": "800080", "darkRed": "800000", "darkYellow": "808000", "darkGray": "808080", "lightGray": "c0c0c0",
}  # fmt: skip


class ParagraphStyle(NamedTuple):
    look: Look
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
        self._styles = {attribute(style, "styleId"): style for style in children(styles, "style")}
        self._default = next(
            (
                attribute(style, "styleId")
                for style in self._styles.values()
                if attribute(style, "type") == "paragraph" and attribute(style, "default") in ("1", "true", "on")
            ),
            None,
        )
        defaults = next(children(styles, "docDefaults"), None)
        of_runs = next(children(defaults, "rPrDefault"), None)
        self._look = look_of(next(children(of_runs, "rPr"), None))
        self._styles_by_id: dict[str | None, ParagraphStyle] = {}

    def paragraph(self, properties: etree._Element | None) -> ParagraphStyle:
        """Return the style that applies to a paragraph with these properties (`pPr`)."""
        name = attribute(next(children(properties, "pStyle"), None), "val") or self._default
        if name not in self._styles_by_id:
            self._styles_by_id[name] = self._read(name)
        style = self._styles_by_id[name]
        paragraph_own_look = paragraph_look(properties)
        level = _outline(properties)
        return ParagraphStyle(paragraph_own_look.over(style.look), style.level if level is None else level, *style[2:])

    def characters(self, name: str | None) -> Look:
        """Return the look defined by a character style alone."""
        return self._chain_look(name) if name in self._styles else Look()

    def is_prompt(self, name: str | None) -> bool:
        """Return whether a character style is for the prompts in empty fields, or for instructions of a form."""
        names = (attribute(next(children(style, "name"), None), "val") or "" for style in self._chain(name))
        return any(called.lower() == "placeholder text" or is_instruction_style(called) for called in names)

    def cells(self, name: str | None) -> tuple[str | None, str | None]:
        """Return the background that a table style sets for the first row and for the other rows."""
        every = first = None
        for style in self._chain(name):
            every = every or shading_of(next(children(style, "tcPr"), None))
            for part in children(style, "tblStylePr"):
                if attribute(part, "type") == "firstRow":
                    first = first or shading_of(next(children(part, "tcPr"), None))
        return first or every, every

    def _read(self, name: str | None) -> ParagraphStyle:
        level, contents, reference, instruction = None, False, False, False
        for style in self._chain(name):
            called = (attribute(next(children(style, "name"), None), "val") or "").lower()
            contents = contents or bool(_CONTENTS.fullmatch(called))
            reference = reference or called in _LISTS
            instruction = instruction or is_instruction_style(called)
            if level is None:
                heading = _HEADING.fullmatch(called)
                outline = _outline(next(children(style, "pPr"), None))
                level = TITLE_LEVEL if is_title_style(called) else int(heading[1]) if heading else outline
        look = self._chain_look(name).over(self._look)
        return ParagraphStyle(look, BODY if level is None else level, contents, reference, instruction)

    def _chain_look(self, name: str | None) -> Look:
        look = Look()
        for style in self._chain(name):
            style_look = look_of(next(children(style, "rPr"), None))
            of_paragraph = paragraph_look(next(children(style, "pPr"), None))
            look = look.over(style_look).over(of_paragraph)
        return look

    def _chain(self, name: str | None) -> list[etree._Element]:
        """Return the style, followed by the styles on which it is based."""
        chain: list[etree._Element] = []
        while name in self._styles and len(chain) < _MAX_STYLE_CHAIN:
            chain.append(self._styles[name])
            name = attribute(next(children(chain[-1], "basedOn"), None), "val")
        return chain


def look_of(properties: etree._Element | None) -> Look:
    """Return the look defined by a run's properties (`rPr`)."""
    if properties is None:
        return Look()
    hidden = bold = None
    points = width = colour = unfilled = marked = away = None
    for item in properties.iterchildren("*"):
        value = attribute(item, "val")
        match get_local_name(item):
            case "vanish" | "specVanish":
                hidden = bool(hidden) or value not in _OFF
            case "b":
                bold = value not in _OFF
            case "sz":
                points = _parse_half_points(value)
            case "w":
                width = _number(value)
            case "spacing" if (_number(value) or 0) <= _OVERLAID:
                width = 0.0
            case "position" if abs(_number(value) or 0) > _RAISED:
                away = True
            case "color":
                colour = _colour(item)
            case "highlight":
                marked = _HIGHLIGHTS.get(value or "")
            case "textFill":
                unfilled, colour = _fill(item, colour)
    return Look(
        hidden, points, width, colour, marked or shading_of(properties), unfilled, away, bold, _script(properties)
    )


def _script(properties: etree._Element) -> Script | None:
    """Return the script that a run's alignment or its distance from the baseline sets; None if none is set."""
    alignment = attribute(next(children(properties, "vertAlign"), None), "val")
    distance = _number(attribute(next(children(properties, "position"), None), "val")) or 0.0
    if alignment in _SCRIPTS or not _SHIFTED <= abs(distance) <= _RAISED:
        return _SCRIPTS.get(alignment or "")
    return "^" if distance > 0 else "_"


def paragraph_look(properties: etree._Element | None) -> Look:
    """Return the look defined by a paragraph's properties (`pPr`): its background and its position."""
    frame, indent = (next(children(properties, name), None) for name in ("framePr", "ind"))
    places = [attribute(frame, "x"), attribute(frame, "y"), attribute(indent, "left"), attribute(indent, "start")]
    spacing = next(children(properties, "spacing"), None)
    flat = attribute(spacing, "lineRule") == "exact" and (_number(attribute(spacing, "line")) or 0) <= _FLAT
    away = any(not _LEFT < place < _RIGHT for place in map(_number, places) if place is not None)
    return Look(width=0.0 if flat else None, behind=shading_of(properties), away=away or None)


def _fill(fill: etree._Element, colour: str | None) -> tuple[bool | None, str | None]:
    """Return whether the letters are unfilled (None if not stated), and their colour, by default `colour`."""
    for item in fill.iter("*"):
        match get_local_name(item):
            case "noFill":
                return True, colour
            case "alpha" if (_number(attribute(item, "val")) or 0) >= 90_000:
                return True, colour
            case "srgbClr":
                colour = attribute(item, "val") or colour
            case "schemeClr" if attribute(item, "val") in _WHITE_THEMES and not len(item):
                colour = "ffffff"
    return None, colour


def _colour(color: etree._Element) -> str:
    if attribute(color, "themeColor") in _WHITE_THEMES and attribute(color, "themeShade") is None:
        return "ffffff"
    value = attribute(color, "val") or "auto"
    return "" if value == "auto" else value


def shading_of(properties: etree._Element | None) -> str | None:
    """Return the background colour, or None if the area is transparent."""
    shading = next(children(properties, "shd"), None)
    if shading is None:
        return None
    name = "color" if attribute(shading, "val") == "solid" else "fill"
    value = attribute(shading, name)
    return None if value in (None, "auto") else value


def _outline(properties: etree._Element | None) -> int | None:
    """Return a paragraph's heading level from its outline level; None if the outline level is not set. Outline level 9
    means body text."""
    value = _number(attribute(next(children(properties, "outlineLvl"), None), "val"))
    return None if value is None else int(value) + 1 if value < 9 else BODY


def _parse_half_points(value: str | None) -> float | None:
    number = _number(value)
    return None if number is None else number / 2


def _number(value: str | None) -> float | None:
    try:
        return float((value or "").removesuffix("%"))
    except ValueError:
        return None
