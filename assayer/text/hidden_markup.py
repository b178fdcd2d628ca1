"""Find HTML elements in a text that are hidden from readers: not displayed, or displayed in white.

Only closed elements count, so a stray tag hides nothing. This is for Markdown, READMEs and abstracts; web pages with
style sheets are handled by `workers.sandbox.hidden_html_text`.
"""

import re
from collections import Counter

_TAG = re.compile(r"<(?P<close>/?)(?P<name>[a-zA-Z][a-zA-Z0-9-]*+)(?P<rest>[^<>]*+)>")
_HINT = re.compile(r"hidden|style|<template|<font", re.IGNORECASE)
_VOID = frozenset({"br", "hr", "img", "input", "link", "meta", "wbr", "source", "col", "area", "base", "embed"})
_QUOTED = re.compile(r"=\s*(?:\"[^\"]*\"|'[^']*')")
_HIDDEN = re.compile(r"(?:^|\s)hidden(?=\s|=|/|$)", re.IGNORECASE)
_ARIA = re.compile(r"\saria-hidden\s*=\s*[\"']?\s*true\b", re.IGNORECASE)
_STYLE = re.compile(r"\sstyle\s*=\s*(?:\"(?P<double>[^\"]*)\"|'(?P<single>[^']*)'|(?P<bare>\S+))", re.IGNORECASE)
_UNSEEN = re.compile(
    r"(?:^|;)\s*(?:"
    r"display\s*:\s*none"
    r"|visibility\s*:\s*(?:hidden|collapse)"
    r"|opacity\s*:\s*(?:0+(?:\.0\d*)?|\.0\d*)%?"
    r"|font-size\s*:\s*(?:(?:0+(?:\.\d*)?|\.\d+|1(?:\.\d*)?)\s*(?:px|pt)?|0*(?:\.0\d*)?\s*(?:r?em|%))"
    r"|color\s*:\s*(?:white|transparent|#f{3}(?:f{3})?|rgb\(\s*255\s*,\s*255\s*,\s*255\s*\))"
    r"|(?:left|top|text-indent)\s*:\s*-\d{3,}\s*(?:px|em|pt|%|vw|vh)?"
    r")\s*(?:!\s*important\s*)?(?=;|$)",
    re.IGNORECASE,
)
_WHITE = re.compile(r"\scolor\s*=\s*[\"']?\s*(?:white|#f{3}(?:f{3})?)\b", re.IGNORECASE)


def find_hidden_spans(text: str) -> list[tuple[int, int]]:
    """Return start and end of each outermost hidden element, tags included, in order. The running time is linear in the
    length of the text."""
    if "<" not in text or not _HINT.search(text):
        return []
    spans: list[tuple[int, int]] = []
    stack: list[tuple[str, int, bool]] = []
    open_names: Counter[str] = Counter()
    for tag in _TAG.finditer(text):
        name = tag["name"].lower()
        if not tag["close"]:
            if name not in _VOID and not tag["rest"].endswith("/"):
                stack.append((name, tag.start(), _hides(name, tag["rest"])))
                open_names[name] += 1
        elif open_names[name]:
            # Elements left open inside this one end with it.
            while True:
                opened, start, hides = stack.pop()
                open_names[opened] -= 1
                if hides:
                    spans.append((start, tag.end()))
                if opened == name:
                    break
    return _keep_outermost(spans)


def remove_tags(text: str) -> str:
    return _TAG.sub(" ", text)


def _hides(name: str, rest: str) -> bool:
    if name == "template" or _ARIA.search(rest) or _HIDDEN.search(_QUOTED.sub("=", rest)):
        return True
    style = _STYLE.search(rest)
    if style and _UNSEEN.search(style["double"] or style["single"] or style["bare"] or ""):
        return True
    return name == "font" and bool(_WHITE.search(rest))


def _keep_outermost(spans: list[tuple[int, int]]) -> list[tuple[int, int]]:
    found: list[tuple[int, int]] = []
    for start, end in sorted(spans, key=lambda span: (span[0], -span[1])):
        if not found or start >= found[-1][1]:
            found.append((start, end))
    return found
