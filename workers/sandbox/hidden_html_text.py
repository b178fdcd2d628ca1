"""Remove text that a web page's reader cannot see, before the page is processed further.

The rules cover the usual cases: elements that are never shown, attributes, comments, and simple styles, inline or in
the page's own style sheets. They raise no errors on any input. Hidden text that they miss is treated like visible text,
which is always fenced as data (docs/evidence/hidden-text.md lists the cases)."""

import re
from collections.abc import Mapping
from itertools import groupby
from typing import Literal, NamedTuple

from lxml import etree
from lxml.html import HtmlElement

from workers.sandbox.page_styles import PageStyles

HtmlHiding = Literal["not displayed", "invisible", "tiny", "off the screen", "in the background colour", "a comment"]

_NEVER_SHOWN_ELEMENTS = frozenset(
    ["template", "noscript", "datalist", "noframes", "rp", "video", "audio", "canvas", "iframe"]
)
_ELEMENTS_WITHOUT_TEXT = frozenset(["script", "style", "head", "title", "meta", "link", "svg", "math"])
"""Elements whose content is not shown as text on the page but does not count as hidden."""
_MIN_SIZE_PIXELS = 2.0
_MIN_OPACITY = 0.05
_OFF_SCREEN_PIXELS = 500.0
"""Distance in pixels by which text must be moved left or up to count as off-screen, because a reader cannot scroll
there."""
_MAX_COLOUR_DIFFERENCE = 18
"""Maximum difference between two colours, in levels out of 255, at which they look the same."""
_LENGTH = re.compile(r"(-?\d{0,9}\.?\d{0,9})(px|pt|r?em|%|)")
_VANISHING_STYLE = re.compile(
    r"translate(?:x|y|3d)?\(\s*-\d{4}|scale(?:x|y)?\(\s*0\s*[,)]"
    r"|rect\((?:\s*[01](?:px)?[\s,]*){4}\)|inset\(\s*(?:[5-9]\d|100)%\s*\)|(?:circle|ellipse)\(\s*0\D"
)
"""Matches transforms and clips that leave an element invisible."""
_HEX_COLOUR = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_RGB_COLOUR = re.compile(r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*(?:[,/]\s*(\d?\.?\d{1,9})\s*)?\)")
_INHERITED_VALUES = ("none", "transparent", "inherit", "initial", "unset")
_NAMED_COLOURS = {
    "white": "#fff", "black": "#000", "transparent": "#0000", "red": "#f00", "blue": "#00f", "yellow": "#ff0",
    "navy": "#000080", "gray": "#808080", "silver": "#c0c0c0", "whitesmoke": "#f5f5f5", "snow": "#fffafa",
}  # fmt: skip

Colour = tuple[float, float, float, float]
"""Red, green and blue from 0 to 255, and alpha from 0 to 1."""


class HiddenHtmlText(NamedTuple):
    why: HtmlHiding
    text: str


class _ElementStyle(NamedTuple):
    """Style properties of an element that decide whether its own text is visible."""

    is_visible: bool = True
    size: float = 16.0
    colour: Colour = (0, 0, 0, 1)
    background: Colour | None = (255, 255, 255, 1)
    """Background colour; None if it is an image, or a colour that cannot be parsed."""

    def find_reason(self) -> HtmlHiding | None:
        if not self.is_visible or self.colour[3] < _MIN_OPACITY:
            return "invisible"
        if self.size < _MIN_SIZE_PIXELS:
            return "tiny"
        if self.background and all(
            abs(a - b) < _MAX_COLOUR_DIFFERENCE for a, b in zip(self.colour[:3], self.background[:3], strict=True)
        ):
            return "in the background colour"
        return None

    def apply_style(self, element: HtmlElement, style: Mapping[str, str]) -> "_ElementStyle":
        element_style = self
        if visibility := style.get("visibility"):
            element_style = element_style._replace(is_visible=visibility not in ("hidden", "collapse"))
        size = _parse_pixels(style.get("font-size", ""), self.size)
        attribute = {"font": "color", "body": "text"}.get(str(element.tag), "style")
        colour = _parse_colour(style.get("color") or (element.get(attribute) or "").strip().lower())
        element_style = element_style._replace(size=self.size if size is None else size, colour=colour or self.colour)
        grounds = (style.get(name) for name in ("background", "background-color", "background-image"))
        for ground in (element.get("bgcolor"), *grounds):
            if ground is not None and (ground := ground.strip().lower()) not in _INHERITED_VALUES:
                element_style = element_style._replace(background=_parse_colour(ground))
        return element_style


def remove_hidden_text(tree: HtmlElement) -> list[HiddenHtmlText]:
    """Remove hidden text from the tree in place; return the removed texts in order."""
    styles = PageStyles(tree)
    text_parts: list[tuple[HtmlHiding | None, str]] = []
    elements_to_remove: list[HtmlElement] = []
    stack: list[tuple[HtmlElement, _ElementStyle, bool]] = [(tree, _ElementStyle(), False)]
    while stack:
        element, element_style, is_after = stack.pop()
        if is_after:
            if _is_hidden(element.tail or "", element_style.find_reason(), text_parts):
                element.tail = None
        elif not isinstance(element.tag, str):
            if element.tag is etree.Comment:
                text_parts.append(("a comment", element.text or ""))
            elements_to_remove.append(element)
        elif element.tag not in _ELEMENTS_WITHOUT_TEXT:
            style = styles.find_properties(element)
            if reason := _find_hiding(element, style):
                etree.strip_elements(element, "script", "style", with_tail=False)
                text_parts.append((reason, " ".join(element.itertext("*"))))
                elements_to_remove.append(element)
            else:
                element_style = element_style.apply_style(element, style)
                if _is_hidden(element.text or "", element_style.find_reason(), text_parts):
                    element.text = None
                stack += [
                    visit
                    for child in reversed(element)
                    for visit in ((child, element_style, True), (child, element_style, False))
                ]
    for element in elements_to_remove:
        if element.getparent() is None:
            element.clear()
        else:
            element.drop_tree()
    joined_texts = (
        (reason, " ".join(" ".join(text for _, text in group).split()))
        for reason, group in groupby(text_parts, key=lambda part: part[0])
    )
    return [HiddenHtmlText(reason, text) for reason, text in joined_texts if reason and any(map(str.isalnum, text))]


def _is_hidden(text: str, reason: HtmlHiding | None, text_parts: list[tuple[HtmlHiding | None, str]]) -> bool:
    if text.strip():
        text_parts.append((reason, text))
    return reason is not None


def _find_hiding(element: HtmlElement, style: Mapping[str, str]) -> HtmlHiding | None:
    """Return why all of the element's content is invisible, regardless of the styles inside it; None if it is not."""
    is_off = element.get("hidden", "until-found") != "until-found" or "popover" in element.attrib
    is_off = is_off or (element.tag == "dialog" and element.get("open") is None)
    is_never_shown = element.tag in _NEVER_SHOWN_ELEMENTS or style.get("content-visibility") == "hidden"
    if is_never_shown or style.get("display", "none" if is_off else "") == "none":
        return "not displayed"
    opacity = _parse_pixels(style.get("opacity", ""), 1.0)
    if opacity is not None and opacity < _MIN_OPACITY:
        return "invisible"
    is_placed = style.get("position") in ("absolute", "fixed", "relative")
    offsets = [style.get(name, "") for name in ("text-indent", "margin-left", "margin-top")]
    offsets += [style.get(name, "") for name in ("left", "top")] if is_placed else []
    is_away = any((_parse_pixels(offset, 16.0) or 0.0) <= -_OFF_SCREEN_PIXELS for offset in offsets)
    is_gone = any(_VANISHING_STYLE.search(style.get(name, "")) for name in ("transform", "clip", "clip-path"))
    sizes = (_parse_pixels(style.get(name, ""), 16.0) for name in ("width", "height", "max-width", "max-height"))
    is_cut = style.get("overflow") in ("hidden", "clip") and any(size is not None and size <= 1 for size in sizes)
    return "off the screen" if is_away or is_gone or is_cut else None


def _parse_pixels(value: str, size: float) -> float | None:
    """Return a length in pixels, where `1em` and 100% are `size`; None if it cannot be parsed."""
    match = _LENGTH.fullmatch(value)
    if match is None or not match[1].strip("-."):
        return None
    return float(match[1]) * {"em": size, "%": size / 100, "rem": 16.0, "pt": 1.33}.get(match[2], 1.0)


def _parse_colour(value: str) -> Colour | None:
    value = _NAMED_COLOURS.get(value, value)
    if match := _HEX_COLOUR.fullmatch(value):
        digits = match[1] if len(match[1]) > 4 else "".join(2 * digit for digit in match[1])
        red, green, blue, alpha = (int((digits + "ff")[offset : offset + 2], 16) for offset in (0, 2, 4, 6))
        return red, green, blue, alpha / 255
    if match := _RGB_COLOUR.fullmatch(value):
        return float(match[1]), float(match[2]), float(match[3]), float(match[4] or 1)
    return None
