"""Which of several processes holds a shard, by rendezvous hashing: all who know the processes know it without asking.

Every process draws a number for every shard, from both names alone; the highest draw holds it, the next ones hold its
copies and take over in their order. A process that comes takes its share from all others, and one that goes leaves its
shards to whoever drew next: no other shard moves.
"""

import hashlib
import math
from collections.abc import Iterable, Mapping

__all__ = ["rendezvous_order", "shards_of_process"]


def rendezvous_order(shard: int, processes: Iterable[str], weights: Mapping[str, float] | None = None) -> list[str]:
    """The processes that should hold a shard, the first choice first. One of weight 2 is first twice as often as one of
    weight 1, which is that of those not named."""
    weights = weights or {}
    draws = {one: _draw(shard, one, weights.get(one, 1.0)) for one in processes}
    return sorted(draws, key=lambda one: (-draws[one], one))


def shards_of_process(
    process: str, count: int, processes: Iterable[str], copies: int, weights: Mapping[str, float] | None = None
) -> list[int]:
    """Of `count` shards, each of which so many processes hold."""
    known = list(processes)
    return [one for one in range(count) if process in rendezvous_order(one, known, weights)[:copies]]


def _draw(shard: int, process: str, weight: float) -> float:
    """-w / ln u, with u between 0 and 1: the highest is that of a process with the probability of its weight."""
    digest = hashlib.blake2b(f"{shard}/{process}".encode(), digest_size=8).digest()
    share = (int.from_bytes(digest, "big") + 0.5) / 2**64
    return -weight / math.log(share)
