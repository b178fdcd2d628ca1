"""Targets of links that identify a work: a DOI or an arXiv id that is not printed is read with the words that are
linked, as a link in Markdown."""

import re
from urllib.parse import unquote

from assayer.literature.paper_addresses import find_identifiers

_TAIL = re.compile(
    r"(?:/(?:full|abstract|abs|pdf|epdf|pdfdirect|epub|html|meta|summary|references|citations?|suppl\w*|tab-\w+)|\.pdf)*$"
)
"""Parts of a publisher's page that follow the DOI in its address."""
_RESOLVER = re.compile(r"(?:https?://)?(?:www\.|dx\.)?doi\.org/|doi:\s*", re.IGNORECASE)
_SCHEME = re.compile(r"^doi:\s*", re.IGNORECASE)
_ESCAPES = str.maketrans({"(": "%28", ")": "%29", "<": "%3C", ">": "%3E", "[": "%5B", "]": "%5D"})
_DEFINITION = re.compile(
    r"^ {0,3}\[(?P<label>[^\[\]\n^][^\[\]\n]{0,80})\]:[ \t]*<?(?P<target>[^\s<>]{4,400})>?"
    r"(?:[ \t]+[\"'(][^\n]{0,200})?[ \t]*$",
    re.MULTILINE,
)
_USE = re.compile(r"\[(?P<words>[^\[\]\n]{1,400})\]\[(?P<label>[^\[\]\n]{0,80})\]")
_ANCHOR = re.compile(
    r"<a\s(?:[^<>]{0,200}\s)?href\s?=\s?[\"'](?P<target>[^\"'<>]{4,400})[\"'](?P<rest>[^<>]{0,200})>"
    r"(?P<words>(?:[^<>\n]|</?(?:i|em|b|strong|span)>){1,400}?)</a>",
    re.IGNORECASE,
)
_TAG = re.compile(r"<[^<>]*>")
_HIDING = re.compile(r"style|hidden", re.IGNORECASE)


def link_address(target: str) -> str:
    """Return the address of the work that a link identifies by DOI or arXiv id; empty if it identifies none."""
    target = _SCHEME.sub("https://doi.org/", target.strip())
    if not _RESOLVER.match(target):
        target = _TAIL.sub("", re.split(r"[?#]", target, maxsplit=1)[0])
    works = find_identifiers(target)
    if works.arxiv:
        return f"https://arxiv.org/abs/{works.arxiv}"
    return f"https://doi.org/{unquote(works.doi).translate(_ESCAPES)}" if works.doi else ""


def inline_links(text: str) -> str:
    """Return a text in Markdown in which links to works, also those with a separate definition and those in HTML, have
    their target beside their words."""
    if "<a" in text or "<A" in text:
        text = _ANCHOR.sub(_write_anchor, text)
    addresses = {
        match["label"].casefold(): address
        for match in (_DEFINITION.finditer(text) if "]:" in text else ())
        if (address := link_address(match["target"]))
    }
    used = {(match["label"] or match["words"]).casefold() for match in _USE.finditer(text)} & addresses.keys()
    if not used:
        return text

    def written(match: re.Match[str]) -> str:
        label = (match["label"] or match["words"]).casefold()
        return f"[{match['words']}]({addresses[label]})" if label in used else match[0]

    text = _DEFINITION.sub(lambda match: "" if match["label"].casefold() in used else match[0], text)
    return _USE.sub(written, text)


def _write_anchor(match: re.Match[str]) -> str:
    address = link_address(match["target"])
    words = _TAG.sub("", match["words"])
    is_plain = address and "[" not in words and not _HIDING.search(match[0][: match.start("words") - match.start()])
    return f"[{words}]({address})" if is_plain else match[0]
