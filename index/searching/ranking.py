"""From what vectors and words say of a query to one order.

Pure, and by numbers of papers and passages alone: the merged opinions of shards are ranked as those of one reader.
"""

from typing import NamedTuple

from index.searching.fusion import fuse
from index.segments.dense import Nearest
from index.segments.words import Scored

__all__ = ["Found", "Opinion", "best", "depth_of"]

_DEPTH = 50
"""Least number of candidates of each ranking before they are fused."""


class Found(NamedTuple):
    """Two rankings for one query, each best first."""

    by_meaning: Nearest
    by_words: Scored
    """By BM25 scores."""


class Opinion(NamedTuple):
    papers: Found
    passages: Found | None
    """None where there are none, or none were asked for."""
    depth: int
    """Candidates of each ranking."""
    cosines: dict[int, float]
    """Of all that the rankings name."""


def depth_of(limit: int) -> int:
    """How many candidates of each ranking decide on so many answers."""
    return max(_DEPTH, 2 * limit)


def best(opinion: Opinion, limit: int) -> list[tuple[int, float]]:
    """Numbers and cosines, best first; equal scores by cosine, then by number."""
    found = [one.by_words for one in (opinion.papers, opinion.passages) if one is not None]
    scores = fuse(opinion.cosines, found)
    ordered = sorted(scores, key=lambda one: (-scores[one], -opinion.cosines[one], one))
    return [(one, opinion.cosines[one]) for one in ordered[:limit]]
