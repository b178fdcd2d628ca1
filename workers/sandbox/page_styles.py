"""Determine the styles of a web page's elements, as far as simple rules allow.

Only `style` attributes and rules in `<style>` elements are used, by the element's own tag, class and id. Instead of
using a CSS parser, sheets are split at braces, semicolons and colons, which raises no errors on any text."""

import re
from collections import defaultdict
from collections.abc import Iterator

from lxml import etree

_MAX_SHEETS = 500_000
"""Maximum number of characters read from style sheets."""
_MAX_DECLARATIONS = 20_000
_COMMENT = re.compile(r"/\*.*?(?:\*/|\Z)", re.DOTALL)
_ON_SCREENS = re.compile(r"@(?:layer\b|media\s+(?:only\s+)?(?:all|screen)\s*(?:,|$))", re.IGNORECASE)
"""Matches at-rules whose contents apply to screens of any size. The contents of other at-rules are skipped."""
_COMPOUND = re.compile(r"([a-z][a-z0-9-]{0,30}|\*)?((?:[.#][\w-]{1,80}){0,8})", re.IGNORECASE)
_COMBINATOR = re.compile(r"[\s>+~]+")
_Weight = tuple[bool, int, int, int]
"""Precedence of a declaration: importance, ids, classes, order. The highest wins."""


class PageStyles:
    def __init__(self, tree: etree._Element) -> None:
        self._rules: dict[str, list[tuple[frozenset[str], _Weight, str, str]]] = defaultdict(list)
        self._order = 0
        unread = _MAX_SHEETS
        for sheet in tree.iter("style"):
            text = (sheet.text or "")[:unread]
            unread -= len(text)
            if (sheet.get("media") or "screen").strip().lower() in ("screen", "all"):
                for selectors, body in _rules(text):
                    for selector in selectors.split(","):
                        self._add(selector.strip(), body)

    def _add(self, selector: str, body: str) -> None:
        """Store a rule. If its selector also depends on other elements, store its properties with unknown values."""
        *around, last = _COMBINATOR.split(selector)
        match = _COMPOUND.fullmatch(last)
        if match is None or not last or self._order > _MAX_DECLARATIONS:
            return
        tag = (match[1] or "*").lower()
        parts = re.findall(r"[.#][\w-]+", match[2])
        needs = frozenset([*parts, tag]) - {"*"} or frozenset("*")
        ids = sum(part[0] == "#" for part in parts) + len(around)
        for name, value, important in _declarations(body):
            self._order += 1
            weight = (important, ids, len(parts), self._order)
            self._rules[min(needs)].append((needs, weight, name, "" if around else value))

    def of(self, element: etree._Element) -> dict[str, str]:
        """Return the element's properties, with names and values in lower case. A value is empty if it is unknown."""
        names = {"*", str(element.tag).lower(), f"#{element.get('id') or ''}"}
        names |= {f".{name}" for name in (element.get("class") or "").split()}
        found = [
            (weight, name, value)
            for key in names & self._rules.keys()
            for needs, weight, name, value in self._rules[key]
            if needs <= names
        ]
        found += [
            ((important, _MAX_SHEETS, 0, order), name, value)
            for order, (name, value, important) in enumerate(_declarations(element.get("style") or ""))
        ]
        return {name: value for _, name, value in sorted(found)}


def _rules(sheet: str) -> Iterator[tuple[str, str]]:
    """Yield selectors and declarations of the rules that apply to every screen, without nested rules."""
    open_blocks: list[str] = []
    pieces = re.split("([{}])", _COMMENT.sub(" ", sheet) + "}")
    for text, brace in zip(pieces[::2], pieces[1::2], strict=False):
        if brace == "{":
            open_blocks.append(text.rpartition(";")[2].strip())
        elif open_blocks:
            *groups, selectors = open_blocks[-3:]
            if len(open_blocks) <= 3 and selectors[:1] != "@" and all(map(_ON_SCREENS.match, groups)):
                yield selectors, text
            open_blocks.pop()


def _declarations(body: str) -> Iterator[tuple[str, str, bool]]:
    for part in body.split(";"):
        name, colon, value = part.partition(":")
        value, _, flag = value[:300].lower().partition("!")
        if colon:
            yield name.strip().lower(), value.strip(), flag.strip() == "important"
