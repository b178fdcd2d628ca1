"""Parser of prompts: fenced texts and labelled items, found in one pass over its lines.

External text is enclosed in `<idea ab12cd34>` and `</idea ab12cd34>`; evidence and other items begin with a line `[P1]
Title (2021)` and continue to the next label, the end of a fence or an empty line. Several fences of one kind right
after a label are several passages of its item."""

import re
from collections.abc import Iterable
from typing import NamedTuple

_CITED = re.compile(r"\[(P\d{1,5}(?:\s*[,;]\s*P\d{1,5})*)\]")
_MARK = re.compile(
    r"\n(?:[-*#]{1,4} )?(?:\[([A-Z])(\d{1,5})\][ \t]*([^\n]*)|<(/?)([a-z_]+) [0-9a-f]{6,64}>[ \t]*(?=\n|$))"
)

_SAME_AS_BEFORE = "as before"
"""Title of an item with the passages of the item before it."""


class Item(NamedTuple):
    letter: str
    number: int
    text: str
    """Text under the label, or the title in the label's line if nothing follows it."""
    further_texts: tuple[str, ...] = ()
    """Further passages of the item."""

    @property
    def label(self) -> str:
        return f"{self.letter}{self.number}"


class Prompt(NamedTuple):
    idea: str
    subject: str
    """Subject of the question: the last fenced text that is neither the idea nor labelled, otherwise the idea."""
    items: dict[str, list[Item]]
    """Items by letter, in order of appearance."""


def parse_prompt(contents: Iterable[str]) -> Prompt:
    """Parse the messages up to the first answer."""
    text = "\n" + "\n".join(contents)
    return _Parser(text).parse()


class _Parser:
    def __init__(self, text: str) -> None:
        self.text = text
        self.items: dict[tuple[str, int], Item] = {}
        self.fences: list[tuple[str, str]] = []
        self.label: tuple[str, int, str] | None = None
        self.start = 0
        self.is_fenced = False
        """Whether the text of the open item is fenced."""
        self.passage: tuple[str, int, str, int] | None = None
        """Last item with a fenced text (letter, number), the kind of its fence, and where it ended."""
        self.is_continued = False
        """Whether the open fence is a further passage of that item."""
        self.open_fences: list[tuple[str, int, int]] = []
        """Open fences: kind, where the text begins, and the number of items known at that point."""

    def parse(self) -> Prompt:
        for match in _MARK.finditer(self.text):
            letter, number, title, slash, kind = match.groups()
            if letter is not None:
                if not (self.is_fenced or self.is_continued) and not (
                    self.open_fences and self.open_fences[-1][0] == "idea"
                ):
                    self._close_item(match.start())
                    self.label, self.start = (letter, int(number), title.strip()), match.end()
            elif slash:
                self._leave_fence(kind, match.start(), match.end())
            else:
                self._enter_fence(kind, match)
        self._close_item(len(self.text))
        return self._build_prompt()

    def _enter_fence(self, kind: str, match: re.Match[str]) -> None:
        if self.label is not None and not self.text[self.start : match.start()].strip():
            self.start, self.is_fenced = match.end(), True
            return
        if self._is_continuation(kind, match.start()):
            self.start, self.is_continued = match.end(), True
            return
        self._close_item(match.start())
        self.open_fences.append((kind, match.end(), len(self.items)))

    def _is_continuation(self, kind: str, position: int) -> bool:
        if self.label is not None or self.passage is None:
            return False
        _, _, kind_before, end = self.passage
        return kind == kind_before and not self.text[end:position].strip()

    def _leave_fence(self, kind: str, position: int, end: int) -> None:
        if self.is_continued and self.passage is not None:
            letter, number, *_ = self.passage
            item = self.items[letter, number]
            self.items[letter, number] = item._replace(
                further_texts=(*item.further_texts, self.text[self.start : position].strip())
            )
            self.passage, self.is_continued = (letter, number, kind, end), False
            return
        is_fenced = self.is_fenced
        if is_fenced and self.label is not None:
            is_new = self.label[:2] not in self.items
            self.passage = (*self.label[:2], kind, end) if is_new else None
        self._close_item(position)
        if is_fenced or not self.open_fences or self.open_fences[-1][0] != kind:
            return
        _, begin, items = self.open_fences.pop()
        if len(self.items) == items:
            self.fences.append((kind, self.text[begin:position].strip()))

    def _close_item(self, position: int) -> None:
        if self.label is None:
            return
        letter, number, title = self.label
        text = self.text[self.start : position]
        if not self.is_fenced:
            text = text.split("\n\n", 1)[0]
        item = Item(letter, number, text.strip() or title)
        if title == _SAME_AS_BEFORE and (previous_item := self.items.get((letter, number - 1))):
            item = previous_item._replace(number=number)
        self.items.setdefault((letter, number), item)
        self.label, self.is_fenced = None, False

    def _build_prompt(self) -> Prompt:
        items: dict[str, list[Item]] = {}
        for item in self.items.values():
            items.setdefault(item.letter, []).append(item)
        texts = [text for kind, text in self.fences if kind == "idea"]
        other_texts = [text for kind, text in self.fences if kind != "idea" and text]
        idea = texts[0] if texts else max(other_texts, key=len, default=self.text.strip())
        if "P" not in items and (cited_items := _find_cited_items(other_texts)):
            items["P"] = cited_items
        return Prompt(idea, other_texts[-1] if texts and other_texts else idea, items)


def _find_cited_items(texts: list[str]) -> list[Item]:
    """Return papers that are only cited in the texts; the text of each is the line that cites it first."""
    items: dict[int, Item] = {}
    for text in texts:
        for line in text.splitlines():
            for match in _CITED.finditer(line):
                for label in re.findall(r"\d+", match[1]):
                    items.setdefault(int(label), Item("P", int(label), _CITED.sub("", line).strip()))
    return [items[number] for number in sorted(items)]
