"""The CSS cascade of a page's own style sheets, for the properties that decide whether text can be seen.

The cascade is that of CSS: importance, then inline style, specificity, order. Style sheets of other addresses are not
fetched, scripts do not run, and an animation has ended.
"""

import re
from collections.abc import Iterable, Iterator, Mapping
from typing import Any

import cssselect
import tinycss2
from lxml import etree

from workers.sandbox.css_media import is_met
from workers.sandbox.css_values import FOUR_SIDES, bounded_css

__all__ = ["CssCascade"]

_RELEVANT = frozenset(
    {
        "animation", "animation-name", "background", "background-color", "background-image", "clip", "clip-path",
        "color", "content-visibility", "display", "filter", "font", "font-size", "height", "left", "letter-spacing",
        "line-height", "margin", "margin-left", "margin-top", "mask", "mask-image", "max-height", "max-width",
        "mix-blend-mode", "opacity", "overflow", "overflow-x", "overflow-y", "position", "right", "rotate", "scale",
        "text-indent", "top", "bottom", "transform", "translate", "visibility", "width", "zoom", "inset",
        "-webkit-text-fill-color", "-webkit-text-security",
    }
)  # fmt: skip
_SAME = {
    "-webkit-mask": "mask", "-webkit-mask-image": "mask-image", "-webkit-transform": "transform",
    "-webkit-filter": "filter", "-webkit-clip-path": "clip-path", "-webkit-animation": "animation",
    "block-size": "height", "inline-size": "width", "max-block-size": "max-height", "max-inline-size": "max-width",
    "inset-block-start": "top", "inset-block-end": "bottom", "inset-inline-start": "left", "inset-inline-end": "right",
    "margin-block-start": "margin-top", "margin-inline-start": "margin-left", "margin-block": "margin-top",
    "margin-inline": "margin-left", "overflow-block": "overflow-y", "overflow-inline": "overflow-x",
}  # fmt: skip
_SIDES = ("top", "right", "bottom", "left")
_INLINE = (1, 0, 0, 0)
_MOST_DEPTH = 8
_LONGEST_SELECTOR = 1_000
_MOST_SUBSTITUTED = 2_000
"""Characters of a value with its variables put in."""
_VARIABLE = re.compile(r"var\(\s*(--[\w-]{1,100})\s*(?:,([^()]{0,200}(?:\([^()]{0,200}\)[^()]{0,200})?))?\)")

_Weight = tuple[bool, tuple[int, ...], int]
_Declaration = tuple[str, str, bool]
_NOTHING: Mapping[str, str] = {}


class CssCascade:
    def __init__(self, tree: etree._Element) -> None:
        self._found: dict[etree._Element, dict[str, tuple[_Weight, str]]] = {}
        self._ends: dict[str, list[_Declaration]] = {}
        translator = cssselect.HTMLTranslator()
        order = 0
        for selector, declarations in self._rules(tree):
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
                self._add(element, list(_declarations(tinycss2.parse_blocks_contents(bounded_css(style)))), _INLINE, 0)

    def _add(
        self, element: Any, declarations: Iterable[_Declaration], specificity: tuple[int, ...], order: int
    ) -> None:
        known = self._found.setdefault(element, {})
        for name, value, important in declarations:
            weight = (important, specificity, order)
            if name not in known or known[name][0] <= weight:
                known[name] = (weight, value)

    def of(self, element: etree._Element, variables: Mapping[str, str] = _NOTHING) -> Mapping[str, str]:
        """Property to value, in lower case; `variables` are those of the element above. Custom properties (`--x`) are
        among them."""
        found = self._found.get(element)
        if not found:
            return _NOTHING
        own = {name: value for name, (_, value) in found.items()}
        for name in f"{own.get('animation', '')} {own.get('animation-name', '')}".split():
            own |= {one: value for one, value, _ in self._ends.get(name, ())}
        return {name: _substituted(value, own, variables) if "var(" in value else value for name, value in own.items()}

    def _rules(self, tree: etree._Element) -> Iterator[tuple[str, list[_Declaration]]]:
        """Selector and relevant declarations, in order."""
        for sheet in tree.iter("style"):
            if is_met(sheet.get("media") or ""):
                yield from self._read(tinycss2.parse_stylesheet(bounded_css(sheet.text or ""), True, True), "", 0)

    def _read(self, rules: Iterable[Any], above: str, depth: int) -> Iterator[tuple[str, list[_Declaration]]]:
        if depth > _MOST_DEPTH:
            return
        for rule in rules:
            if rule.type == "qualified-rule":
                selector = _nested(tinycss2.serialize(rule.prelude).strip(), above)
                yield from self._block(rule.content, selector, depth)
            elif rule.type == "at-rule" and rule.content is not None:
                condition = tinycss2.serialize(rule.prelude)
                if rule.lower_at_keyword in ("keyframes", "-webkit-keyframes"):
                    self._ends[condition.strip().lower()] = _end(tinycss2.parse_rule_list(rule.content, True, True))
                elif _holds(rule.lower_at_keyword, condition):
                    inside = self._block if above else self._group
                    yield from inside(rule.content, above, depth + 1)

    def _group(self, content: Any, above: str, depth: int) -> Iterator[tuple[str, list[_Declaration]]]:
        yield from self._read(tinycss2.parse_rule_list(content, True, True), above, depth)

    def _block(self, content: Any, selector: str, depth: int) -> Iterator[tuple[str, list[_Declaration]]]:
        """Of a rule: its declarations, and the rules nested in it."""
        parts = tinycss2.parse_blocks_contents(content, True, True)
        if declarations := list(_declarations(parts)):
            yield selector, declarations
        yield from self._read((one for one in parts if one.type in ("qualified-rule", "at-rule")), selector, depth + 1)


def _holds(keyword: str, condition: str) -> bool:
    if keyword == "media":
        return is_met(condition)
    if keyword == "container":
        return is_met(condition[max(0, condition.find("(")) :])
    return keyword in ("supports", "layer", "scope")


def _nested(selector: str, above: str) -> str:
    if not above or len(above) > _LONGEST_SELECTOR:
        return selector
    within = f":is({above})"
    return selector.replace("&", within) if "&" in selector else f"{within} {selector}"


def _end(frames: Iterable[Any]) -> list[_Declaration]:
    """What an animation leaves."""
    last = [
        frame
        for frame in frames
        if frame.type == "qualified-rule" and {"to", "100%"} & set(tinycss2.serialize(frame.prelude).lower().split())
    ]
    return [one for frame in last for one in _declarations(tinycss2.parse_blocks_contents(frame.content))]


def _substituted(value: str, own: Mapping[str, str], variables: Mapping[str, str]) -> str:
    """With every `var()` in it replaced by what it stands for, or by its alternative."""

    def meaning(match: re.Match[str]) -> str:
        known = own.get(match[1], variables.get(match[1]))
        return (match[2] or "").strip() if known is None else known

    for _ in range(_MOST_DEPTH):
        if "var(" not in value or len(value) > _MOST_SUBSTITUTED:
            break
        value = _VARIABLE.sub(meaning, value)
    return value.strip()


def _declarations(content: Iterable[Any]) -> Iterator[_Declaration]:
    for part in content:
        if part.type != "declaration":
            continue
        value = tinycss2.serialize(part.value).strip().lower()
        name = _SAME.get(part.lower_name, part.lower_name)
        if name in _RELEVANT:
            yield from _longhand(name, value, part.important)
        elif name.startswith("--"):
            yield part.name.lower(), value, part.important


def _longhand(name: str, value: str, important: bool) -> Iterator[_Declaration]:
    """Shorthands count for the parts of them that matter."""
    if name == "font":
        size = next((part.split("/")[0] for part in value.split() if part[:1].isdigit() or part[:1] == "."), "")
        yield from [("font-size", size, important)] if size else []
    elif name in ("margin", "inset"):
        tokens = tinycss2.parse_component_value_list(bounded_css(value))
        parts = [tinycss2.serialize([one]) for one in tokens if one.type != "whitespace"]
        for side, place in zip(_SIDES, FOUR_SIDES.get(len(parts), ()), strict=False):
            yield f"margin-{side}" if name == "margin" else side, parts[place], important
    elif name == "background":
        yield "background-color", value, important
    elif name == "mask":
        yield "mask-image", value, important
    else:
        yield name, value, important
