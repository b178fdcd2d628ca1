"""Which of several processes holds a shard, by rendezvous hashing: all who know the processes know it without asking.

Every process draws a number for every shard, from both names alone; the highest draw holds it, the next ones hold its
copies and take over in their order. A process that comes takes its share from all others, and one that goes leaves its
shards to whoever drew next: no other shard moves.
"""

import hashlib
from collections.abc import Iterable

__all__ = ["rendezvous_order", "shards_of_process"]


def rendezvous_order(shard: int, processes: Iterable[str]) -> list[str]:
    """The processes that should hold a shard, the first choice first."""
    return sorted(processes, key=lambda one: (_draw(shard, one), one), reverse=True)


def shards_of_process(process: str, count: int, processes: Iterable[str], copies: int) -> list[int]:
    """Of `count` shards, each of which so many processes hold."""
    known = list(processes)
    return [one for one in range(count) if process in rendezvous_order(one, known)[:copies]]


def _draw(shard: int, process: str) -> bytes:
    return hashlib.blake2b(f"{shard}/{process}".encode(), digest_size=8).digest()
