"""Determine the styles of a web page's elements, as far as simple rules allow.

Only `style` attributes and rules in `<style>` elements are used, by the element's own tag, class and id. Instead of
using a CSS parser, sheets are split at braces, semicolons and colons, which raises no errors on any text."""

import re
from collections import defaultdict
from collections.abc import Iterator

from lxml import etree

_MAX_SHEET_CHARS = 500_000
"""Maximum number of characters read from style sheets."""
_MAX_DECLARATIONS = 20_000
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_SCREEN_RULE = re.compile(r"@(?:layer\b|media\s+(?:only\s+)?(?:all|screen)\s*(?:,|$))", re.IGNORECASE)
"""Matches at-rules whose contents apply to screens of any size. The contents of other at-rules are skipped."""
_COMPOUND_SELECTOR = re.compile(r"([a-z][a-z0-9-]{0,30}|\*)?((?:[.#][\w-]{1,80}){0,8})", re.IGNORECASE)
_COMBINATOR = re.compile(r"[\s>+~]+")
_Weight = tuple[bool, int, int, int]
"""Precedence of a declaration: importance, ids, classes, order. The highest wins."""


class PageStyles:
    def __init__(self, tree: etree._Element) -> None:
        self._rules: dict[str, list[tuple[frozenset[str], _Weight, str, str]]] = defaultdict(list)
        self._order = 0
        characters_left = _MAX_SHEET_CHARS
        for sheet in tree.iter("style"):
            text = (sheet.text or "")[:characters_left]
            characters_left -= len(text)
            if (sheet.get("media") or "screen").strip().lower() in ("screen", "all"):
                for selectors, declarations in _parse_rules(text):
                    for selector in selectors.split(","):
                        self._add_rule(selector.strip(), declarations)

    def _add_rule(self, selector: str, body: str) -> None:
        """Store a rule. If its selector also depends on other elements, store its properties with unknown values."""
        *ancestors, last_selector = _COMBINATOR.split(selector)
        match = _COMPOUND_SELECTOR.fullmatch(last_selector)
        if match is None or not last_selector or self._order > _MAX_DECLARATIONS:
            return
        tag = (match[1] or "*").lower()
        parts = re.findall(r"[.#][\w-]+", match[2])
        required_names = frozenset([*parts, tag]) - {"*"} or frozenset("*")
        ids = sum(part[0] == "#" for part in parts) + len(ancestors)
        for name, value, important in _parse_declarations(body):
            self._order += 1
            weight = (important, ids, len(parts), self._order)
            self._rules[min(required_names)].append((required_names, weight, name, "" if ancestors else value))

    def find_properties(self, element: etree._Element) -> dict[str, str]:
        """Return the element's properties, with names and values in lower case. A value is empty if it is unknown."""
        names = {"*", str(element.tag).lower(), f"#{element.get('id') or ''}"}
        names |= {f".{name}" for name in (element.get("class") or "").split()}
        weighted_properties = [
            (weight, name, value)
            for key in names & self._rules.keys()
            for required_names, weight, name, value in self._rules[key]
            if required_names <= names
        ]
        weighted_properties += [
            ((important, _MAX_SHEET_CHARS, 0, order), name, value)
            for order, (name, value, important) in enumerate(_parse_declarations(element.get("style") or ""))
        ]
        return {name: value for _, name, value in sorted(weighted_properties)}


def _parse_rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Yield selectors and declarations of the rules that apply to every screen, without nested rules."""
    open_blocks: list[str] = []
    pieces = re.split("([{}])", _COMMENT.sub(" ", sheet) + "}")
    for text, brace in zip(pieces[::2], pieces[1::2], strict=False):
        if brace == "{":
            open_blocks.append(text.rpartition(";")[2].strip())
        elif open_blocks:
            *groups, selectors = open_blocks[-3:]
            if len(open_blocks) <= 3 and selectors[:1] != "@" and all(map(_SCREEN_RULE.match, groups)):
                yield selectors, text
            open_blocks.pop()


def _parse_declarations(body: str) -> Iterator[tuple[str, str, bool]]:
    for part in body.split(";"):
        name, colon, value = part.partition(":")
        value, _, flag = value[:300].lower().partition("!")
        if colon:
            yield name.strip().lower(), value.strip(), flag.strip() == "important"
