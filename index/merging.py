"""Answers of shards in one: a key is a shard and a unit in it, as one number, so that what is merged looks like the
answer of one reader.

Cosines compare across shards, so what is nearest is exact. BM25 scores count with each shard's own statistics; papers
are spread over shards by the hashes of their ids, so these differ no more than samples of one corpus do.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from index.dense import Nearest
from index.words import Scored

__all__ = ["Keys", "key_of", "keyed", "merged_nearest", "merged_words", "shards_of", "units_of"]

Keys = NDArray[np.int64]
_UNIT_BITS = 40


def keyed(shard: int, units: Keys) -> Keys:
    return units | (shard << _UNIT_BITS)


def shards_of(keys: Keys) -> Keys:
    return keys >> _UNIT_BITS


def key_of(shard: int, unit: int) -> int:
    return unit | shard << _UNIT_BITS


def units_of(keys: Keys) -> Keys:
    return keys & ((1 << _UNIT_BITS) - 1)


def merged_nearest(each: Sequence[Nearest], limit: int) -> Nearest:
    """The best of one query, from one answer a shard; equal ones by shard and unit."""
    keys = np.concatenate([keyed(shard, one.rows) for shard, one in enumerate(each)])
    similarities = np.concatenate([one.similarities for one in each])
    order = np.lexsort((keys, -similarities))[:limit]
    return Nearest(keys[order], similarities[order])


def merged_words(each: Sequence[Scored], limit: int) -> Scored:
    """As `merged_nearest`, by BM25 scores."""
    keys = np.concatenate([keyed(shard, one.places) for shard, one in enumerate(each)])
    scores = np.concatenate([one.scores for one in each])
    order = np.lexsort((keys, -scores))[:limit]
    return Scored(keys[order], scores[order])
