"""Formatting of the text in an OpenDocument file, from its styles, their parent styles and the defaults.

Runs in the sandboxed process."""

from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree

from assayer.text.raised_text import Script
from workers.sandbox.office_package import attribute, get_local_name
from workers.sandbox.office_text import Look, is_title_style

_MAX_STYLE_CHAIN = 20
_POINTS = {"pt": 1.0, "px": 0.75, "in": 72.0, "cm": 28.35, "mm": 2.835, "pc": 12.0}
_USUAL = 12.0
"""Size in points to which percentages refer."""
_UNSEEN = 10.0
"""Opacity in percent below which text counts as invisible."""


class _Style(NamedTuple):
    look: Look
    below: str | None
    """Name of the parent style."""
    is_title: bool
    is_collapsed: bool
    """Whether rows and columns with this style are hidden."""


class OpenDocumentStyles:
    def __init__(self, *parts: etree._Element | None) -> None:
        """Read the styles from the root elements of `styles.xml` and `content.xml`. Later definitions override earlier
        ones."""
        self._styles: dict[tuple[str, str], _Style] = {}
        self._defaults: dict[str, Look] = {}
        for part in parts:
            for group in () if part is None else part.iterchildren("*"):
                if get_local_name(group) in ("styles", "automatic-styles"):
                    self._read(group)

    def _read(self, group: etree._Element) -> None:
        for style in group.iterchildren("*"):
            family = attribute(style, "family") or ""
            if get_local_name(style) == "default-style":
                self._defaults[family] = _look(style)
            elif get_local_name(style) == "style":
                name = attribute(style, "name") or ""
                called = attribute(style, "display-name") or name
                self._styles[family, name] = _Style(
                    _look(style), attribute(style, "parent-style-name"), is_title_style(called), _is_collapsed(style)
                )

    def look(self, family: str, name: str | None) -> Look:
        """Return the formatting that a style defines, including its parent styles and the family's defaults."""
        look = Look()
        for style in self._chain(family, name):
            look = look.over(style.look)
        return look.over(self._defaults.get(family, Look()))

    def is_title(self, name: str | None) -> bool:
        return any(style.is_title for style in self._chain("paragraph", name))

    def is_collapsed(self, family: str, name: str | None) -> bool:
        return any(style.is_collapsed for style in self._chain(family, name))

    def _chain(self, family: str, name: str | None) -> Iterator[_Style]:
        for _ in range(_MAX_STYLE_CHAIN):
            style = self._styles.get((family, name or ""))
            if style is None:
                return
            yield style
            name = style.below


def _is_collapsed(style: etree._Element) -> bool:
    return any(attribute(item, "visibility") == "collapse" for item in style.iterchildren("*"))


def _look(style: etree._Element) -> Look:
    look = Look()
    for properties in style.iterchildren("*"):
        match get_local_name(properties):
            case "text-properties":
                look = _read_text_look(properties).over(look)
            case "paragraph-properties" | "table-cell-properties" | "table-properties" | "graphic-properties":
                look = look.over(Look(behind=_background(properties)))
    return look


def _read_text_look(properties: etree._Element) -> Look:
    display, colour = attribute(properties, "display"), attribute(properties, "color")
    automatic = attribute(properties, "use-window-font-color") == "true"
    opacity = _number((attribute(properties, "opacity") or "100%").removesuffix("%"))
    return Look(
        hidden=None if display is None else display == "none",
        points=_parse_points(attribute(properties, "font-size")),
        width=_number((attribute(properties, "text-scale") or "").removesuffix("%")),
        colour="" if automatic else None if colour is None else colour.lstrip("#"),
        behind=_background(properties),
        unfilled=True if opacity is not None and opacity < _UNSEEN else None,
        script=_parse_script(attribute(properties, "text-position")),
    )


def _parse_script(position: str | None) -> Script | None:
    """Return the script that a position such as `super 58%` or `-20% 60%` sets; None if none is set."""
    if not position:
        return None
    place = position.split()[0] if position.split() else ""
    shift = {"super": 1.0, "sub": -1.0}.get(place, _number(place.removesuffix("%")) or 0.0)
    return "^" if shift > 0 else "_" if shift < 0 else ""


def _background(properties: etree._Element) -> str | None:
    colour = attribute(properties, "background-color") or attribute(properties, "fill-color")
    return None if colour in (None, "transparent") else str(colour).lstrip("#")


def _parse_points(size: str | None) -> float | None:
    if size is None:
        return None
    if size.endswith("%"):
        share = _number(size[:-1])
        return None if share is None else _USUAL * share / 100
    number = _number(size[:-2])
    return None if number is None else number * _POINTS.get(size[-2:], 1.0)


def _number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
