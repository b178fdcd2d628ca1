"""Formatting of the text in an OpenDocument file, from its styles, their parent styles and the defaults.

Runs in the sandboxed process."""

from collections.abc import Iterator
from typing import NamedTuple

from lxml import etree

from assayer.text.raised_text import Script
from workers.sandbox.office_package import get_attribute, get_local_name
from workers.sandbox.office_text import TextLook, is_title_style

_MAX_STYLE_CHAIN = 20
_POINTS_PER_UNIT = {"pt": 1.0, "px": 0.75, "in": 72.0, "cm": 28.35, "mm": 2.835, "pc": 12.0}
_DEFAULT_POINTS = 12.0
"""Size in points to which percentages refer."""
_MIN_OPACITY_PERCENT = 10.0
"""Opacity in percent below which text counts as invisible."""


class _Style(NamedTuple):
    look: TextLook
    parent_name: str | None
    """Name of the parent style."""
    is_title: bool
    is_collapsed: bool
    """Whether rows and columns with this style are hidden."""


class OpenDocumentStyles:
    def __init__(self, *parts: etree._Element | None) -> None:
        """Read the styles from the root elements of `styles.xml` and `content.xml`. Later definitions override earlier
        ones."""
        self._styles: dict[tuple[str, str], _Style] = {}
        self._defaults: dict[str, TextLook] = {}
        for part in parts:
            for group in () if part is None else part.iterchildren("*"):
                if get_local_name(group) in ("styles", "automatic-styles"):
                    self._read(group)

    def _read(self, group: etree._Element) -> None:
        for style in group.iterchildren("*"):
            family = get_attribute(style, "family") or ""
            if get_local_name(style) == "default-style":
                self._defaults[family] = _read_look(style)
            elif get_local_name(style) == "style":
                name = get_attribute(style, "name") or ""
                display_name = get_attribute(style, "display-name") or name
                self._styles[family, name] = _Style(
                    _read_look(style),
                    get_attribute(style, "parent-style-name"),
                    is_title_style(display_name),
                    _is_collapsed(style),
                )

    def resolve_look(self, family: str, name: str | None) -> TextLook:
        """Return the formatting that a style defines, including its parent styles and the family's defaults."""
        look = TextLook()
        for style in self._list_style_chain(family, name):
            look = look.override(style.look)
        return look.override(self._defaults.get(family, TextLook()))

    def is_title(self, name: str | None) -> bool:
        return any(style.is_title for style in self._list_style_chain("paragraph", name))

    def is_collapsed(self, family: str, name: str | None) -> bool:
        return any(style.is_collapsed for style in self._list_style_chain(family, name))

    def _list_style_chain(self, family: str, name: str | None) -> Iterator[_Style]:
        for _ in range(_MAX_STYLE_CHAIN):
            style = self._styles.get((family, name or ""))
            if style is None:
                return
            yield style
            name = style.parent_name


def _is_collapsed(style: etree._Element) -> bool:
    return any(get_attribute(item, "visibility") == "collapse" for item in style.iterchildren("*"))


def _read_look(style: etree._Element) -> TextLook:
    look = TextLook()
    for properties in style.iterchildren("*"):
        match get_local_name(properties):
            case "text-properties":
                look = _read_text_look(properties).override(look)
            case "paragraph-properties" | "table-cell-properties" | "table-properties" | "graphic-properties":
                look = look.override(TextLook(background=_get_background(properties)))
    return look


def _read_text_look(properties: etree._Element) -> TextLook:
    display, colour = get_attribute(properties, "display"), get_attribute(properties, "color")
    is_automatic = get_attribute(properties, "use-window-font-color") == "true"
    opacity = _parse_number((get_attribute(properties, "opacity") or "100%").removesuffix("%"))
    return TextLook(
        hidden=None if display is None else display == "none",
        points=_parse_points(get_attribute(properties, "font-size")),
        width=_parse_number((get_attribute(properties, "text-scale") or "").removesuffix("%")),
        colour="" if is_automatic else None if colour is None else colour.lstrip("#"),
        background=_get_background(properties),
        is_unfilled=True if opacity is not None and opacity < _MIN_OPACITY_PERCENT else None,
        script=_parse_script(get_attribute(properties, "text-position")),
    )


def _parse_script(position: str | None) -> Script | None:
    """Return the script that a position such as `super 58%` or `-20% 60%` sets; None if none is set."""
    if not position:
        return None
    value = position.split()[0] if position.split() else ""
    shift = {"super": 1.0, "sub": -1.0}.get(value, _parse_number(value.removesuffix("%")) or 0.0)
    return "^" if shift > 0 else "_" if shift < 0 else ""


def _get_background(properties: etree._Element) -> str | None:
    colour = get_attribute(properties, "background-color") or get_attribute(properties, "fill-color")
    return None if colour in (None, "transparent") else str(colour).lstrip("#")


def _parse_points(size: str | None) -> float | None:
    if size is None:
        return None
    if size.endswith("%"):
        share = _parse_number(size[:-1])
        return None if share is None else _DEFAULT_POINTS * share / 100
    number = _parse_number(size[:-2])
    return None if number is None else number * _POINTS_PER_UNIT.get(size[-2:], 1.0)


def _parse_number(text: str) -> float | None:
    try:
        return float(text)
    except ValueError:
        return None
