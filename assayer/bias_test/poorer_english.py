"""Rewrite a text in poorer English: drop articles, break agreement, change no content.

Only the prose before the reference list is changed. Headings, tables, code, quotations, emphasised text (usually
titles), links, addresses, identifiers and formulas are content and stay as they are.
"""

import re
from collections.abc import Iterator
from typing import NamedTuple

from assayer.text.headings import find_headings
from assayer.text.section_titles import opens_part

_SWAPS = {
    "is": "are",
    "are": "is",
    "has": "have",
    "have": "has",
    "was": "were",
    "were": "was",
    "does": "do",
    "this": "these",
    "these": "this",
    "uses": "use",
    "shows": "show",
    "requires": "require",
    "provides": "provide",
    "allows": "allow",
    "makes": "make",
    "remains": "remain",
    "information": "informations",
    "research": "researches",
    "evidence": "evidences",
    "knowledge": "knowledges",
    "much": "many",
    "fewer": "less",
}
_UNCHANGED_INLINE = (
    r"`[^`\n]{1,500}`"
    r"|\$[^$\n]{1,500}\$"
    r"|!?\[[^\[\]\n]{1,500}\](?:\([^()\s]{1,500}\))?"
    r"|[“„«][^”“»\n]{1,2000}[”“»]"
    r"|\"[^\"\n]{1,2000}\""
    r"|(?<![*\w])(?P<mark>\*{1,2}|_{1,2})(?=[^\s*_])[^*_\n]{1,500}(?P=mark)(?![*\w])"
    r"|<[^<>\n]{1,500}>"
    r"|(?<![^\s(\[{<])(?=[^\s]{0,60}?(?:://|www\.|[@\\/_\d]|\w\.\w))\S+"
)
"""Matches text within a line that stays unchanged: code, formulas, links, citation marks, quotations, emphasis and
tags. It also matches tokens with characters that no word contains, such as addresses, DOIs, identifiers and file
names."""
_WORD = re.compile(rf"(?P<kept>{_UNCHANGED_INLINE})|(?P<article>\b(?:a|an|the) (?=(?P<next>\w+)))|\b\w+\b")
_FENCE = re.compile(r"^\s{0,3}(?:```|~~~)")
_UNCHANGED_LINE = re.compile(r"^\s{0,3}[#|>]|^(?: {4}|\t)|^Title:")
_NOT_A_NOUN = re.compile(
    r"(?:is|are|was|were|has|have|had|does|do|did|can|will|may|must|and|or|nor|but|of|in|on|at|to|for|from|with|by|as|"
    r"than|that|which|when|if|not)",
    re.IGNORECASE,
)
"""Words before which `a` is a letter rather than an article: `vitamin a is fine`."""
_LETTERED = re.compile(
    r"\b(?:vitamin|hepatitis|influenza|type|group|class|case|phase|option|grade|plan|step|variant|model|condition|"
    r"experiment|part|section|arm|appendix|figure|table|factor|site|cohort)\s$",
    re.IGNORECASE,
)
"""Words after which `a` is a letter rather than an article: `hepatitis a virus`."""
_KEEP_EVERY_NTH_ARTICLE = 4
"""Every fourth article stays, because people do not make the same mistake everywhere."""
_KEEP_EVERY_NTH_AGREEMENT = 3


class WordEdit(NamedTuple):
    start: int
    end: int
    replacement: str


class PoorerText(NamedTuple):
    original: str
    edits: tuple[WordEdit, ...]
    """Disjoint edits, in text order."""
    changed: float
    """Share of the words that were removed or changed."""

    @property
    def text(self) -> str:
        return self.slice_edited(0, len(self.original))

    def slice_edited(self, start: int, end: int) -> str:
        """Return the original's characters from `start` to `end`, with the edits applied."""
        parts, position = list[str](), start
        for edit in self.edits:
            if start <= edit.start and edit.end <= end:
                parts += [self.original[position : edit.start], edit.replacement]
                position = edit.end
        return "".join([*parts, self.original[position:end]])


def rewrite_in_poorer_english(text: str, start: int = 0) -> PoorerText:
    """Rewrite a text in poorer English. The result is deterministic. Text before `start` stays unchanged."""
    edits: list[WordEdit] = []
    word_count = articles = agreements = 0
    for match in _find_words(text, start):
        word_count += 1
        if match["article"]:
            if _is_letter(text, match):
                continue
            articles += 1
            if articles % _KEEP_EVERY_NTH_ARTICLE:
                edits.append(WordEdit(match.start(), match.end(), ""))
        elif match[0] in _SWAPS:
            agreements += 1
            if agreements % _KEEP_EVERY_NTH_AGREEMENT:
                edits.append(WordEdit(match.start(), match.end(), _SWAPS[match[0]]))
    return PoorerText(text, tuple(edits), len(edits) / word_count if word_count else 0.0)


def _find_words(text: str, start: int) -> Iterator["re.Match[str]"]:
    """Yield the words of the prose, up to the reference list."""
    headings = find_headings(text)
    end = next((heading.start for heading in headings if opens_part(heading.title) == "references"), len(text))
    heading_ends = {heading.start: heading.end for heading in headings}
    is_fenced, position = False, 0
    for line in text[:end].split("\n"):
        fence = _FENCE.match(line) is not None
        if not (is_fenced or fence or _UNCHANGED_LINE.match(line)):
            prose_start = max(start, heading_ends.get(position, position))
            yield from (match for match in _WORD.finditer(text, prose_start, position + len(line)) if not match["kept"])
        is_fenced ^= fence
        position += len(line) + 1


def _is_letter(text: str, article: "re.Match[str]") -> bool:
    preceding_text = text[max(0, article.start() - 20) : article.start()]
    return article[0] == "a " and bool(_NOT_A_NOUN.fullmatch(article["next"]) or _LETTERED.search(preceding_text))
