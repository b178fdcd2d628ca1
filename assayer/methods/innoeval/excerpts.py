"""The stretches of a long text that speak most about an idea, in reading order. Words count, no model is asked."""

import math
import re
from collections import Counter
from collections.abc import Iterable, Sequence, Set

__all__ = ["excerpt", "words_of"]

_STRETCH = 800
"""Characters; longer paragraphs are split between sentences."""
_WORD = re.compile(r"[^\W\d_]{3,}")
_SENTENCE_END = re.compile(r"(?<=[.!?])\s+(?=[A-Z0-9])")


def words_of(*texts: str) -> frozenset[str]:
    """Words of three letters or more, in lower case."""
    return frozenset(word for text in texts for word in _WORD.findall(text.casefold()))


def excerpt(texts: Iterable[str], about: Set[str], limit: int) -> str:
    """At most `limit` characters. Stretches of one paragraph that stand side by side stay one paragraph."""
    stretches = [
        (paragraph, stretch)
        for paragraph, text in enumerate(one for text in texts for one in _paragraphs(text))
        for stretch in _stretches(text)
    ]
    words = [words_of(stretch) for _, stretch in stretches]
    spread = Counter(word for found in words for word in found)
    rarity = {word: math.log(1 + len(stretches) / count) for word, count in spread.items()}
    weight = [sum(rarity[word] for word in found & about) / math.sqrt(8 + len(found)) for found in words]
    chosen: list[int] = []
    room = limit
    for index in sorted(range(len(stretches)), key=lambda index: (-weight[index], index)):
        length = len(stretches[index][1]) + 2
        if length <= room:
            chosen.append(index)
            room -= length
    return _joined([(index, *stretches[index]) for index in sorted(chosen)])


def _paragraphs(text: str) -> list[str]:
    blocks = re.split(r"\n\s*\n", text)
    return [" ".join(block.split()) for block in blocks if block.strip()]


def _stretches(paragraph: str) -> list[str]:
    found = [""]
    for sentence in _SENTENCE_END.split(paragraph):
        if found[-1] and len(found[-1]) + len(sentence) >= _STRETCH:
            found.append("")
        found[-1] = f"{found[-1]} {sentence}".strip()
    return found


def _joined(chosen: Sequence[tuple[int, int, str]]) -> str:
    text = ""
    last: tuple[int, int] | None = None
    for index, paragraph, stretch in chosen:
        adjacent = last == (index - 1, paragraph)
        gap = " " if adjacent else "\n\n"
        text += f"{gap}{stretch}" if text else stretch
        last = index, paragraph
    return text
