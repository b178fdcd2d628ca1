"""Which of several processes holds a shard, by rendezvous hashing: all who know the processes know it without asking.

Every process draws a number for every shard, from both names alone; the highest draw holds it, the next ones hold its
copies and take over in their order. A process that comes takes its share from all others, and one that goes leaves its
shards to whoever drew next: no other shard moves.
"""

import hashlib
from collections.abc import Iterable


def rendezvous_order(shard: int, processes: Iterable[str]) -> list[str]:
    """Return the processes that should hold a shard, in order of preference."""
    return sorted(processes, key=lambda process: (_draw(shard, process), process), reverse=True)


def shards_of_process(process: str, count: int, processes: Iterable[str], copies: int) -> list[int]:
    """Return which of `count` shards the process holds, when each shard is held by `copies` processes."""
    known = list(processes)
    return [number for number in range(count) if process in rendezvous_order(number, known)[:copies]]


def _draw(shard: int, process: str) -> bytes:
    return hashlib.blake2b(f"{shard}/{process}".encode(), digest_size=8).digest()
