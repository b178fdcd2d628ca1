"""Which segments an update writes again together with what it brings."""

from collections.abc import Sequence
from typing import NamedTuple

__all__ = ["Size", "rewritten"]

_RATIO = 2.0
"""A segment not larger than so many times what is being written joins it: then their number grows with the logarithm of
the papers, and every paper is written again a number of times that does too."""
_HIDDEN = 0.3
"""Share of a segment's papers; one with more hidden is written again, as they cost every search."""


class Size(NamedTuple):
    papers: int
    hidden: int

    @property
    def live(self) -> int:
        return self.papers - self.hidden


def rewritten(sizes: Sequence[Size], coming: int, most: int) -> list[int]:
    """Places of segments, the oldest first. `sizes` are in the order of age, `coming` the papers of the update, `most`
    the papers of a segment."""
    chosen = [place for place, size in enumerate(sizes) if not size.live or size.hidden > _HIDDEN * size.papers]
    writing = coming + sum(sizes[place].live for place in chosen)
    for place in reversed(range(len(sizes))):
        size = sizes[place]
        if place in chosen:
            continue
        if size.live > _RATIO * writing or writing + size.live > most:
            break
        chosen.append(place)
        writing += size.live
    return sorted(chosen)
