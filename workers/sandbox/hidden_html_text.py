"""Removes from a web page the text that a reader of the rendered page cannot see, before anything reads it."""

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Literal, NamedTuple

from lxml import etree

from assayer.text.injections import find_orders
from workers.sandbox.css_cascade import CssCascade
from workers.sandbox.css_shapes import is_cut_away
from workers.sandbox.css_transforms import is_far, is_moved_away, shown_by_filters
from workers.sandbox.css_values import Colour, colour_of, colours_in, length_of, number_of

__all__ = ["HiddenHtmlText", "HtmlHiding", "remove_hidden_text"]

HtmlHiding = Literal[
    "not displayed", "invisible", "tiny", "off the screen", "of the colour behind it", "a comment", "behind a click"
]

_NEVER_SHOWN = frozenset(
    {"template", "noscript", "datalist", "noembed", "noframes", "rp", "video", "audio", "canvas", "iframe"}
)
"""What stands in the last four is for browsers that cannot show them."""
_NO_TEXT = frozenset({"script", "style", "head", "title", "meta", "link", "svg", "math"})
"""Not shown as text of the page, but not hidden either."""
_SIZES = {"xx-small": 9.0, "x-small": 10.0, "small": 13.0, "medium": 16.0, "large": 18.0, "x-large": 24.0}
_TINY = 2.0
_ALIKE = 0.07
_FAINT = 0.05
_SQUEEZED = -0.4
"""Of a letter's size, between letters."""
_LIGHTENS = frozenset({"screen", "lighten", "color-dodge", "plus-lighter"})
_DARKENS = frozenset({"multiply", "darken", "color-burn", "plus-darker"})

_BLACK: Colour = (0.0, 0.0, 0.0, 1.0)
_WHITE: Colour = (1.0, 1.0, 1.0, 1.0)


class HiddenHtmlText(NamedTuple):
    why: HtmlHiding
    text: str


@dataclass(frozen=True)
class _TextStyle:
    """How text directly inside an element looks."""

    visible: bool = True
    size: float = 16.0
    """Pixels, before `zoom`."""
    zoom: float = 1.0
    """Of all elements around together."""
    spacing: float = 0.0
    """Between letters, over their size."""
    colour: Colour = _BLACK
    share: float = 1.0
    """What opacity, filters and masks of all elements around leave."""
    blend: str = "normal"
    ground: Colour | None = _WHITE
    """None: a picture, or a colour that cannot be read."""
    variables: Mapping[str, str] = field(default_factory=dict)
    """Custom properties of CSS."""

    def hides(self) -> HtmlHiding | None:
        if not self.visible or self.colour[3] * self.share < _FAINT:
            return "invisible"
        if self.size * self.zoom < _TINY or self.spacing <= _SQUEEZED:
            return "tiny"
        if self.ground and (_alike(self.colour, self.ground) or self._blends_into(self.ground)):
            return "of the colour behind it"
        return None

    def _blends_into(self, ground: Colour) -> bool:
        light, dark = min(ground[:3]) > 1 - _ALIKE, max(ground[:3]) < _ALIKE
        return (light and self.blend in _LIGHTENS) or (dark and self.blend in _DARKENS)


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
            if _is_folded_away(element.getparent()) and _is_order(element.tail or ""):
                hidden.add("behind a click", element.tail or "")
                element.tail = None
            element.tail = _without_hidden(element.tail, look, hidden)
        elif not isinstance(element.tag, str):
            if element.tag is etree.Comment:
                hidden.add("a comment", element.text or "")
            doomed.append(element)
        elif element.tag not in _NO_TEXT:
            style = styles.of(element, look.variables)
            why = _hides_everything_inside(element, style)
            folded = _is_folded_away(element.getparent(), element)
            if why is None and (folded or _is_decoration(element)) and _is_order(" ".join(_texts(element))):
                why = "behind a click" if folded else "not displayed"
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
    by_attribute = element.get("hidden", "until-found") != "until-found" or "popover" in element.attrib
    if by_attribute and "display" not in style:
        return "not displayed"
    if element.tag == "dialog" and element.get("open") is None:
        return "not displayed"
    return "off the screen" if _is_off_screen(style) or is_moved_away(style) or _is_clipped(style) else None


def _is_folded_away(around: etree._Element | None, element: etree._Element | None = None) -> bool:
    """Whether a click, or a search in the page, shows what is in there. Readers do click: what is folded away counts,
    unless it gives orders."""
    if element is not None and element.get("hidden") == "until-found":
        return True
    return (
        around is not None
        and around.tag == "details"
        and around.get("open") is None
        and (element is None or element is not around.find("summary"))
    )


def _is_decoration(element: etree._Element) -> bool:
    """Shown, and kept from those who listen: numbers of chapters and signs, and nothing that gives orders. Sheets of
    other addresses often hide it."""
    return (element.get("aria-hidden") or "").strip().lower() == "true"


def _is_order(text: str) -> bool:
    return any(find_orders(text))


def _is_off_screen(style: Mapping[str, str]) -> bool:
    positioned = style.get("position") in ("absolute", "fixed", "relative", "sticky")
    sides = [style.get(side, "") for side in ("left", "top", "right", "bottom")] if positioned else []
    lengths = [*sides, style.get("text-indent", ""), style.get("margin-left", ""), style.get("margin-top", "")]
    return any(is_far(length_of(length)) for length in lengths)


def _is_clipped(style: Mapping[str, str]) -> bool:
    if is_cut_away(style.get("clip", ""), style.get("clip-path", "")):
        return True
    hides = any(style.get(name) in ("hidden", "clip") for name in ("overflow", "overflow-x", "overflow-y"))
    sizes = (length_of(style.get(name, "")) for name in ("width", "height", "max-width", "max-height", "line-height"))
    return hides and any(size is not None and size <= 1 and not _is_factor(style, size) for size in sizes)


def _is_factor(style: Mapping[str, str], size: float) -> bool:
    """A line height of 1 is one of the letters' size."""
    return size > 0 and number_of(style.get("line-height", "")) == size


def _text_style(element: etree._Element, style: Mapping[str, str], above: _TextStyle) -> _TextStyle:
    look = above
    if (visibility := style.get("visibility")) in ("hidden", "collapse"):
        look = replace(look, visible=False)
    elif visibility == "visible":
        look = replace(look, visible=True)
    if size := style.get("font-size"):
        look = replace(look, size=_size(size, above.size))
    if zoom := number_of(style.get("zoom", "")):
        look = replace(look, zoom=above.zoom * zoom)
    if spacing := length_of(style.get("letter-spacing", ""), font=look.size):
        look = replace(look, spacing=spacing / max(look.size, 1.0))
    said = style.get("-webkit-text-fill-color") or style.get("color") or _attribute(element)
    if said and (colour := colour_of(said, above.colour)):
        look = replace(look, colour=colour)
    if style.get("-webkit-text-security", "none") != "none":
        look = replace(look, visible=False)
    if blend := style.get("mix-blend-mode"):
        look = replace(look, blend=blend)
    if {"opacity", "filter", "mask-image"} & style.keys():
        look = replace(look, share=above.share * _share(style))
    for ground in (style.get("background-color"), style.get("background-image"), element.get("bgcolor")):
        if ground:
            look = replace(look, ground=_ground(ground, look))
    own = {name: value for name, value in style.items() if name.startswith("--")}
    return replace(look, variables={**above.variables, **own}) if own else look


def _attribute(element: etree._Element) -> str:
    """The colour of text as HTML alone may give it."""
    name = {"font": "color", "body": "text"}.get(str(element.tag))
    return element.get(name) or "" if name else ""


def _share(style: Mapping[str, str]) -> float:
    """What the element's own opacity, filters and mask leave of it."""
    opacity = number_of(style.get("opacity", ""))
    mask = colours_in(style.get("mask-image", ""), _BLACK)
    kept = max((colour[3] for colour in mask), default=1.0) if "url(" not in style.get("mask-image", "") else 1.0
    return (1.0 if opacity is None else min(1.0, opacity)) * shown_by_filters(style.get("filter", "")) * kept


def _ground(value: str, look: _TextStyle) -> Colour | None:
    """Of one colour, or of a gradient between colours that are alike."""
    if "url(" in value or "image-set(" in value:
        return None
    if value.split(maxsplit=1)[0] in ("transparent", "none", "inherit", "initial", "unset"):
        return look.ground
    colours = colours_in(value, look.colour)
    if not colours or not all(_alike(one, colours[0]) for one in colours):
        return None
    # What shines through a half transparent ground is a mixture that is not worked out.
    alpha = colours[0][3]
    return colours[0] if alpha > 0.9 else look.ground if alpha < _FAINT else None


def _alike(one: Colour, other: Colour) -> bool:
    return max(abs(a - b) for a, b in zip(one[:3], other[:3], strict=True)) < _ALIKE


def _size(value: str, above: float) -> float:
    if value in _SIZES:
        return _SIZES[value]
    found = length_of(value, percent=above / 100, font=above)
    return above if found is None else found
