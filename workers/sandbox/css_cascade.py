"""The CSS cascade of a page's own style sheets, for the properties that decide whether text can be seen.

The cascade is that of CSS: importance, then inline style, specificity, order. Style sheets of other addresses are not
fetched, scripts do not run, and conditions on the window (`@media (max-width: …)`) count as not met.
"""

from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import cssselect
import tinycss2
from lxml import etree

__all__ = ["CssCascade"]

_RELEVANT = frozenset(
    {
        "background", "background-color", "clip", "clip-path", "color", "content-visibility", "display", "font",
        "font-size", "height", "left", "max-height", "max-width", "opacity", "overflow", "overflow-x", "overflow-y",
        "position", "right", "text-indent", "top", "bottom", "transform", "visibility", "width", "margin-left",
        "margin-top", "-webkit-text-fill-color",
    }
)  # fmt: skip
_SCREEN = frozenset({"", "all", "screen", "only screen"})
_INLINE = (1, 0, 0, 0)
_MOST_DEPTH = 8

_Weight = tuple[bool, tuple[int, ...], int]
_NOTHING: Mapping[str, str] = {}


class CssCascade:
    def __init__(self, tree: etree._Element) -> None:
        self._found: dict[etree._Element, dict[str, tuple[_Weight, str]]] = {}
        translator = cssselect.HTMLTranslator()
        order = 0
        for selector, declarations in _rules(tree):
            order += 1
            try:
                ones = [one for one in cssselect.parse(selector) if one.pseudo_element is None]
                paths = [(one.specificity(), translator.selector_to_xpath(one)) for one in ones]
                matches = [(specificity, tree.xpath(path)) for specificity, path in paths]
            except (cssselect.SelectorError, etree.XPathError):
                continue
            for specificity, elements in matches:
                for element in elements if isinstance(elements, list) else ():
                    self._add(element, declarations, (0, *specificity), order)
        for element in tree.iter():
            if style := element.get("style"):
                self._add(element, list(_declarations(tinycss2.parse_blocks_contents(style))), _INLINE, 0)

    def _add(
        self, element: Any, declarations: list[tuple[str, str, bool]], specificity: tuple[int, ...], order: int
    ) -> None:
        known = self._found.setdefault(element, {})
        for name, value, important in declarations:
            weight = (important, specificity, order)
            if name not in known or known[name][0] <= weight:
                known[name] = (weight, value)

    def of(self, element: etree._Element) -> Mapping[str, str]:
        """Property to value, in lower case."""
        found = self._found.get(element)
        return {name: value for name, (_, value) in found.items()} if found else _NOTHING


def _rules(tree: etree._Element) -> Iterator[tuple[str, list[tuple[str, str, bool]]]]:
    """Selector and relevant declarations, in order."""
    for sheet in tree.iter("style"):
        if _applies(sheet.get("media") or ""):
            yield from _read(tinycss2.parse_stylesheet(sheet.text or "", True, True), 0)


def _read(rules: Iterable[Any], depth: int) -> Iterator[tuple[str, list[tuple[str, str, bool]]]]:
    for rule in rules:
        if rule.type == "qualified-rule":
            declarations = list(_declarations(tinycss2.parse_blocks_contents(rule.content)))
            if declarations:
                yield tinycss2.serialize(rule.prelude).strip(), declarations
        elif rule.type == "at-rule" and rule.content is not None and depth < _MOST_DEPTH:
            conditional = rule.lower_at_keyword == "media" and _applies(tinycss2.serialize(rule.prelude))
            if conditional or rule.lower_at_keyword in ("supports", "layer"):
                yield from _read(tinycss2.parse_rule_list(rule.content, True, True), depth + 1)


def _applies(media: str) -> bool:
    return any(part.strip().lower() in _SCREEN for part in media.split(","))


def _declarations(content: Iterable[Any]) -> Iterator[tuple[str, str, bool]]:
    for part in content:
        if part.type == "declaration" and part.lower_name in _RELEVANT:
            value = tinycss2.serialize(part.value).strip().lower()
            yield from _longhand(part.lower_name, value, part.important)


def _longhand(name: str, value: str, important: bool) -> Iterator[tuple[str, str, bool]]:
    """The shorthands `font` and `background` count for the one part of them that matters."""
    if name == "font":
        size = next((part.split("/")[0] for part in value.split() if part[:1].isdigit()), "")
        yield from [("font-size", size, important)] if size else []
    elif name == "background":
        yield "background-color", value, important
    else:
        yield name, value, important
