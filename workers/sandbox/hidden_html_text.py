"""Removes from a web page the text that a reader of the rendered page cannot see, before anything reads it."""

import re
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, replace
from typing import Literal, NamedTuple

import tinycss2.color3
from lxml import etree

from workers.sandbox.css_cascade import CssCascade

__all__ = ["HiddenHtmlText", "HtmlHiding", "remove_hidden_text"]

HtmlHiding = Literal["not displayed", "invisible", "tiny", "off the screen", "of the colour behind it", "a comment"]

_NEVER_SHOWN = frozenset({"template", "noscript", "datalist", "noembed", "noframes", "rp"})
_NO_TEXT = frozenset({"script", "style", "head", "title", "meta", "link", "svg", "math"})
"""Not shown as text of the page, but not hidden either."""
_LENGTH = re.compile(r"(-?\d*\.?\d+)(px|em|rem|pt|%|vw|vh|ex|ch|in|cm)?")
_FAR = 500.0
"""Pixels to the left or above the window."""
_UNITS = {"em": 16.0, "rem": 16.0, "pt": 4 / 3, "ex": 8.0, "ch": 8.0, "in": 96.0, "cm": 37.8, "vw": 12.0, "vh": 8.0}
"""In pixels of a common window; only tell near from far."""
_SIZES = {"xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": 16.0, "large": 18.0, "x-large": 24.0}
_TINY = 2.0
_ALIKE = 0.07
_FAINT = 0.05
_NO_CLIP = re.compile(r"rect\(\s*(0(px)?|1px)[\s,]+(0(px)?|1px)[\s,]+(0(px)?|1px)[\s,]+(0(px)?|1px)\s*\)")
_NO_PATH = re.compile(r"inset\(\s*(?:[5-9]\d|100)%|circle\(\s*0|polygon\(\s*0(px)?\s+0(px)?\s*\)")
_MOVED_AWAY = re.compile(r"scale[xy]?\(\s*0?\.?0*\s*[,)]|translate[xy]?\(\s*-\d{4,}|translate[xy]?\(\s*-?\d{3,}v[wh]")

_Colour = tuple[float, float, float]
_BLACK, _WHITE = (0.0, 0.0, 0.0), (1.0, 1.0, 1.0)


class HiddenHtmlText(NamedTuple):
    why: HtmlHiding
    text: str


@dataclass(frozen=True)
class _TextStyle:
    """How text directly inside an element looks."""

    visible: bool = True
    size: float = 16.0
    """Pixels."""
    colour: _Colour = _BLACK
    alpha: float = 1.0
    ground: _Colour | None = _WHITE
    """None: a picture, or a colour that cannot be read."""

    def hides(self) -> HtmlHiding | None:
        if not self.visible or self.alpha < _FAINT:
            return "invisible"
        if self.size < _TINY:
            return "tiny"
        if self.ground and max(abs(a - b) for a, b in zip(self.colour, self.ground, strict=True)) < _ALIKE:
            return "of the colour behind it"
        return None


class _HiddenTexts:
    """What was hidden, in order; what stands together and is hidden for one reason is one find."""

    def __init__(self) -> None:
        self.found: list[HiddenHtmlText] = []
        self._apart = True

    def add(self, why: HtmlHiding, text: str) -> None:
        words = " ".join(text.split())
        if not any(map(str.isalnum, words)):
            return
        if not self._apart and self.found[-1].why == why:
            words = f"{self.found.pop().text} {words}"
        self.found.append(HiddenHtmlText(why, words))
        self._apart = False

    def pass_visible(self, text: str) -> None:
        self._apart = self._apart or bool(text.strip())


def remove_hidden_text(tree: etree._Element) -> list[HiddenHtmlText]:
    """Changes the tree; returns the texts that were hidden in it, in order. Comments go too."""
    styles = CssCascade(tree)
    hidden = _HiddenTexts()
    doomed: list[etree._Element] = []
    stack: list[tuple[etree._Element, _TextStyle, bool]] = [(tree, _TextStyle(), False)]
    while stack:
        element, look, after = stack.pop()
        if after:
            element.tail = _without_hidden(element.tail, look, hidden)
        elif not isinstance(element.tag, str):
            if element.tag is etree.Comment:
                hidden.add("a comment", element.text or "")
            doomed.append(element)
        elif element.tag not in _NO_TEXT:
            style = styles.of(element)
            why = _hides_everything_inside(element, style)
            if why:
                hidden.add(why, " ".join(_texts(element)))
                doomed.append(element)
            else:
                look = _text_style(element, style, look)
                element.text = _without_hidden(element.text, look, hidden)
                stack += [visit for child in reversed(element) for visit in ((child, look, True), (child, look, False))]
    for element in doomed:
        _remove(element)
    return hidden.found


def _without_hidden(text: str | None, look: _TextStyle, hidden: _HiddenTexts) -> str | None:
    """The text, or nothing when it cannot be seen."""
    if not text:
        return text
    why = look.hides()
    if why is None:
        hidden.pass_visible(text)
        return text
    hidden.add(why, text)
    return None


def _texts(element: etree._Element) -> Iterator[str]:
    for part in element.iter():
        if part.tag not in ("script", "style", etree.Comment, etree.ProcessingInstruction):
            yield part.text or ""
        if part is not element:
            yield part.tail or ""


def _remove(element: etree._Element) -> None:
    parent = element.getparent()
    if parent is None:
        element.clear()
        return
    tail, before = element.tail or "", element.getprevious()
    element.tail = None
    if before is not None:
        before.tail = f"{before.tail or ''} {tail}"
    else:
        parent.text = f"{parent.text or ''} {tail}"
    parent.remove(element)


def _hides_everything_inside(element: etree._Element, style: Mapping[str, str]) -> HtmlHiding | None:
    """Whether nothing inside can be seen, whatever is said of it there."""
    if element.tag in _NEVER_SHOWN or style.get("display") == "none" or style.get("content-visibility") == "hidden":
        return "not displayed"
    if "display" not in style and element.get("hidden", "until-found") != "until-found":
        return "not displayed"
    if (element.get("aria-hidden") or "").strip().lower() == "true":
        return "not displayed"
    if element.tag == "dialog" and element.get("open") is None:
        return "not displayed"
    if (opacity := _number(style.get("opacity", ""))) is not None and opacity < _FAINT:
        return "invisible"
    return "off the screen" if _is_off_screen(style) or _is_clipped(style) else None


def _is_off_screen(style: Mapping[str, str]) -> bool:
    positioned = style.get("position") in ("absolute", "fixed", "relative", "sticky")
    sides = [style.get(side, "") for side in ("left", "top", "right", "bottom")] if positioned else []
    lengths = [*sides, style.get("text-indent", ""), style.get("margin-left", ""), style.get("margin-top", "")]
    if any((pixels := _pixels(length)) is not None and pixels <= -_FAR for length in lengths):
        return True
    return bool(_MOVED_AWAY.search(style.get("transform", "")))


def _is_clipped(style: Mapping[str, str]) -> bool:
    if _NO_CLIP.search(style.get("clip", "")) or _NO_PATH.search(style.get("clip-path", "")):
        return True
    hides = any(style.get(name) in ("hidden", "clip") for name in ("overflow", "overflow-x", "overflow-y"))
    sizes = (_pixels(style.get(name, "")) for name in ("width", "height", "max-width", "max-height"))
    return hides and any(size is not None and size <= 1 for size in sizes)


def _text_style(element: etree._Element, style: Mapping[str, str], above: _TextStyle) -> _TextStyle:
    look = above
    if (visibility := style.get("visibility")) in ("hidden", "collapse"):
        look = replace(look, visible=False)
    elif visibility == "visible":
        look = replace(look, visible=True)
    if size := style.get("font-size"):
        look = replace(look, size=_size(size, above.size))
    colour = _colour(style.get("-webkit-text-fill-color") or style.get("color") or _attribute(element, "color"))
    if colour:
        look = replace(look, colour=colour[0], alpha=colour[1])
    ground = style.get("background-color") or element.get("bgcolor")
    return replace(look, ground=_ground(ground, above.ground)) if ground else look


def _attribute(element: etree._Element, name: str) -> str:
    return element.get(name) or "" if element.tag == "font" else ""


def _ground(value: str, above: _Colour | None) -> _Colour | None:
    if "url(" in value or "gradient" in value or "var(" in value:
        return None
    for part in (value, *value.split()):
        if part in ("transparent", "none", "inherit", "initial", "unset"):
            return above
        if colour := _colour(part):
            # What shines through a half transparent ground is a mixture that is not worked out.
            return colour[0] if colour[1] > 0.9 else above if colour[1] < _FAINT else None
    return None


def _colour(value: str) -> tuple[_Colour, float] | None:
    parsed = tinycss2.color3.parse_color(value) if value else None
    if parsed is None or isinstance(parsed, str):
        return None
    return (parsed.red, parsed.green, parsed.blue), parsed.alpha


def _size(value: str, above: float) -> float:
    if value in _SIZES:
        return _SIZES[value]
    match = _LENGTH.fullmatch(value)
    if match is None:
        return above
    number, unit = float(match[1]), match[2] or "px"
    if unit in ("em", "%", "ex", "ch"):
        return above * number * {"em": 1.0, "%": 0.01}.get(unit, 0.5)
    return number * _UNITS.get(unit, 1.0)


def _pixels(value: str) -> float | None:
    match = _LENGTH.fullmatch(value)
    return float(match[1]) * (10.0 if match[2] == "%" else _UNITS.get(match[2] or "px", 1.0)) if match else None


def _number(value: str) -> float | None:
    match = _LENGTH.fullmatch(value)
    return float(match[1]) * (0.01 if match[2] == "%" else 1.0) if match else None
