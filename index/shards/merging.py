"""Answers of shards in one: a key is a shard and a unit in it, as one number, so that what is merged looks like the
answer of one reader.

Cosines compare across shards, so what is nearest is exact. BM25 scores count with each shard's own statistics; papers
are spread over shards by the hashes of their ids, so these differ no more than samples of one corpus do.
"""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from index.searching.ranking import Found, Opinion
from index.segments.dense import Nearest
from index.segments.words import Scored

__all__ = ["key_of", "merged_nearest", "merged_opinion", "place_of"]

_UNIT_BITS = 40


def key_of(shard: int, unit: int) -> int:
    return unit | shard << _UNIT_BITS


def place_of(key: int) -> tuple[int, int]:
    """The shard and the unit in it."""
    return key >> _UNIT_BITS, key & ((1 << _UNIT_BITS) - 1)


def merged_nearest(each: Sequence[Nearest], limit: int) -> Nearest:
    """The best for one query, from one answer a shard; equal ones by shard and unit."""
    keys = _keys([one.rows for one in each])
    similarities = np.concatenate([one.similarities for one in each])
    order = np.lexsort((keys, -similarities))[:limit]
    return Nearest(keys[order], similarities[order])


def merged_opinion(each: Sequence[Opinion]) -> Opinion:
    """On one query, from one opinion a shard."""
    depth = each[0].depth
    papers = _merged([one.papers for one in each], depth)
    passages = None
    if any(one.passages for one in each):
        passages = _merged([one.passages or _NONE for one in each], depth)
    cosines = {key_of(shard, unit): cosine for shard, one in enumerate(each) for unit, cosine in one.cosines.items()}
    named = _named(papers) | (_named(passages) if passages else set())
    return Opinion(papers, passages, depth, {key: cosines[key] for key in sorted(named)})


def _named(found: Found) -> set[int]:
    return {*found.by_meaning.rows.tolist(), *found.by_words.places.tolist()}


def _merged(each: Sequence[Found], depth: int) -> Found:
    keys = _keys([one.by_words.places for one in each])
    scores = np.concatenate([one.by_words.scores for one in each])
    order = np.lexsort((keys, -scores))[:depth]
    return Found(merged_nearest([one.by_meaning for one in each], depth), Scored(keys[order], scores[order]))


def _keys(each: Sequence[NDArray[np.int64]]) -> NDArray[np.int64]:
    return np.concatenate([units | (shard << _UNIT_BITS) for shard, units in enumerate(each)])


_NOTHING = np.empty(0, np.int64), np.empty(0, np.float64)
_NONE = Found(Nearest(*_NOTHING), Scored(*_NOTHING))
"""What a shard without passages says of them."""
