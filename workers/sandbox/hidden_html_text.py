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

_NEVER_SHOWN = frozenset(["template", "noscript", "datalist", "noframes", "rp", "video", "audio", "canvas", "iframe"])
_NO_TEXT = frozenset(["script", "style", "head", "title", "meta", "link", "svg", "math"])
"""Elements whose content is not shown as text on the page but does not count as hidden."""
_MIN_SIZE = 2.0
_MIN_OPACITY = 0.05
_FAR = 500.0
"""Distance in pixels by which text must be moved left or up to count as off-screen, because a reader cannot scroll
there."""
_SIMILAR = 18
"""Maximum difference between two colours, in levels out of 255, at which they look the same."""
_LENGTH = re.compile(r"(-?\d{0,9}\.?\d{0,9})(px|pt|r?em|%|)")
_GONE = re.compile(
    r"translate(?:x|y|3d)?\(\s*-\d{4}|scale(?:x|y)?\(\s*0\s*[,)]"
    r"|rect\((?:\s*[01](?:px)?[\s,]*){4}\)|inset\(\s*(?:[5-9]\d|100)%\s*\)|(?:circle|ellipse)\(\s*0\D"
)
"""Matches transforms and clips that leave an element invisible."""
_HEX = re.compile(r"#([0-9a-f]{3,4}|[0-9a-f]{6}|[0-9a-f]{8})")
_RGB = re.compile(r"rgba?\(\s*(\d{1,3})[\s,]+(\d{1,3})[\s,]+(\d{1,3})\s*(?:[,/]\s*(\d?\.?\d{1,9})\s*)?\)")
_INHERITED = ("none", "transparent", "inherit", "initial", "unset")
_NAMED = {
    "white": "#fff", "black": "#000", "transparent": "#0000", "red": "#f00", "blue": "#00f", "yellow": "#ff0",
    "navy": "#000080", "gray": "#808080", "silver": "#c0c0c0", "whitesmoke": "#f5f5f5", "snow": "#fffafa",
}  # fmt: skip

Colour = tuple[float, float, float, float]
"""Red, green and blue from 0 to 255, and alpha from 0 to 1."""


class HiddenHtmlText(NamedTuple):
    why: HtmlHiding
    text: str


class _Look(NamedTuple):
    """Style properties of an element that decide whether its own text is visible."""

    is_visible: bool = True
    size: float = 16.0
    colour: Colour = (0, 0, 0, 1)
    ground: Colour | None = (255, 255, 255, 1)
    """Background colour; None if it is an image, or a colour that cannot be parsed."""

    def hides(self) -> HtmlHiding | None:
        if not self.is_visible or self.colour[3] < _MIN_OPACITY:
            return "invisible"
        if self.size < _MIN_SIZE:
            return "tiny"
        if self.ground and all(abs(a - b) < _SIMILAR for a, b in zip(self.colour[:3], self.ground[:3], strict=True)):
            return "in the background colour"
        return None

    def inside(self, element: HtmlElement, style: Mapping[str, str]) -> "_Look":
        look = self
        if visibility := style.get("visibility"):
            look = look._replace(is_visible=visibility not in ("hidden", "collapse"))
        size = _pixels(style.get("font-size", ""), self.size)
        attribute = {"font": "color", "body": "text"}.get(str(element.tag), "style")
        colour = _colour(style.get("color") or (element.get(attribute) or "").strip().lower())
        look = look._replace(size=self.size if size is None else size, colour=colour or self.colour)
        grounds = (style.get(name) for name in ("background", "background-color", "background-image"))
        for ground in (element.get("bgcolor"), *grounds):
            if ground is not None and (ground := ground.strip().lower()) not in _INHERITED:
                look = look._replace(ground=_colour(ground))
        return look


def remove_hidden_text(tree: HtmlElement) -> list[HiddenHtmlText]:
    """Remove hidden text from the tree in place; return the removed texts in order."""
    styles = PageStyles(tree)
    read: list[tuple[HtmlHiding | None, str]] = []
    elements_to_remove: list[HtmlElement] = []
    stack: list[tuple[HtmlElement, _Look, bool]] = [(tree, _Look(), False)]
    while stack:
        element, look, is_after = stack.pop()
        if is_after:
            if _is_hidden(element.tail or "", look.hides(), read):
                element.tail = None
        elif not isinstance(element.tag, str):
            if element.tag is etree.Comment:
                read.append(("a comment", element.text or ""))
            elements_to_remove.append(element)
        elif element.tag not in _NO_TEXT:
            style = styles.of(element)
            if reason := _hides_all(element, style):
                etree.strip_elements(element, "script", "style", with_tail=False)
                read.append((reason, " ".join(element.itertext("*"))))
                elements_to_remove.append(element)
            else:
                look = look.inside(element, style)
                if _is_hidden(element.text or "", look.hides(), read):
                    element.text = None
                stack += [visit for child in reversed(element) for visit in ((child, look, True), (child, look, False))]
    for element in elements_to_remove:
        if element.getparent() is None:
            element.clear()
        else:
            element.drop_tree()
    neighbours = (
        (reason, " ".join(" ".join(text for _, text in group).split()))
        for reason, group in groupby(read, key=lambda part: part[0])
    )
    return [HiddenHtmlText(reason, text) for reason, text in neighbours if reason and any(map(str.isalnum, text))]


def _is_hidden(text: str, reason: HtmlHiding | None, read: list[tuple[HtmlHiding | None, str]]) -> bool:
    if text.strip():
        read.append((reason, text))
    return reason is not None


def _hides_all(element: HtmlElement, style: Mapping[str, str]) -> HtmlHiding | None:
    """Return why all of the element's content is invisible, regardless of the styles inside it; None if it is not."""
    is_off = element.get("hidden", "until-found") != "until-found" or "popover" in element.attrib
    is_off = is_off or (element.tag == "dialog" and element.get("open") is None)
    is_never_shown = element.tag in _NEVER_SHOWN or style.get("content-visibility") == "hidden"
    if is_never_shown or style.get("display", "none" if is_off else "") == "none":
        return "not displayed"
    opacity = _pixels(style.get("opacity", ""), 1.0)
    if opacity is not None and opacity < _MIN_OPACITY:
        return "invisible"
    is_placed = style.get("position") in ("absolute", "fixed", "relative")
    moves = [style.get(name, "") for name in ("text-indent", "margin-left", "margin-top")]
    moves += [style.get(name, "") for name in ("left", "top")] if is_placed else []
    is_away = any((_pixels(move, 16.0) or 0.0) <= -_FAR for move in moves)
    is_gone = any(_GONE.search(style.get(name, "")) for name in ("transform", "clip", "clip-path"))
    sizes = (_pixels(style.get(name, ""), 16.0) for name in ("width", "height", "max-width", "max-height"))
    is_cut = style.get("overflow") in ("hidden", "clip") and any(size is not None and size <= 1 for size in sizes)
    return "off the screen" if is_away or is_gone or is_cut else None


def _pixels(value: str, size: float) -> float | None:
    """Return a length in pixels, where `1em` and 100% are `size`; None if it cannot be parsed."""
    match = _LENGTH.fullmatch(value)
    if match is None or not match[1].strip("-."):
        return None
    return float(match[1]) * {"em": size, "%": size / 100, "rem": 16.0, "pt": 1.33}.get(match[2], 1.0)


def _colour(value: str) -> Colour | None:
    value = _NAMED.get(value, value)
    if match := _HEX.fullmatch(value):
        digits = match[1] if len(match[1]) > 4 else "".join(2 * digit for digit in match[1])
        red, green, blue, alpha = (int((digits + "ff")[offset : offset + 2], 16) for offset in (0, 2, 4, 6))
        return red, green, blue, alpha / 255
    if match := _RGB.fullmatch(value):
        return float(match[1]), float(match[2]), float(match[3]), float(match[4] or 1)
    return None
