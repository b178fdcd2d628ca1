"""How near two sentences are, and what that nearness is taken to mean."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.ports import Embedder

__all__ = ["NEAR", "QUOTE_WORDS", "READ_FROM", "RELEVANCE", "SAME", "Row", "overlap_score", "similarity", "words"]

Row = NDArray[np.float32]
"""Shape (n,) or (n, m)."""

READ_FROM = 0.50
"""Cosine of method and paper from which a paper's sentences are looked at."""
NEAR = 0.55
"""Cosine of two sentences from which they are about the same thing."""
SAME = 0.72
"""Cosine of two sentences from which they say nearly the same."""
RELEVANCE = (0.20, 0.33, 0.45, 0.55, 0.68)
"""Cosines of idea and paper from which relevance is 1, 2, 3, 4, 5."""
OVERLAP = (0.35, 0.85)
"""Cosines that count as no and as full overlap in the scores."""
QUOTE_WORDS = 40


async def similarity(asked: Sequence[str], found: Sequence[str], embedder: Embedder) -> Row:
    """Cosines, shape (asked, found)."""
    # Both sides as queries: the comparison is symmetric, and embedders remember queries, which repeat here.
    vectors = await embedder.embed([*asked, *found], "query")
    cosines: Row = vectors[: len(asked)] @ vectors[len(asked) :].T
    return cosines


def overlap_score(cosine: float) -> float:
    low, high = OVERLAP
    return round(10 * min(1.0, max(0.0, (cosine - low) / (high - low))), 1)


def words(text: str, most: int, ellipsis: str = " …") -> str:
    words = text.split()
    return " ".join(words[:most]) + (ellipsis if len(words) > most else "")
