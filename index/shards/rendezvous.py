"""Assign shards to processes by rendezvous hashing, which needs only the names of the processes and no communication.

A hash is computed for every pair of process and shard. The process with the highest hash holds the shard. The next ones
hold its copies, and take over in that order. A new process takes its share from all others, and a removed process's
shards go to the next process in order. No other shard moves."""

import hashlib
from collections.abc import Iterable


def order_by_rendezvous(shard: int, processes: Iterable[str]) -> list[str]:
    """Return the processes that should hold a shard, in order of preference."""
    return sorted(processes, key=lambda process: (_draw(shard, process), process), reverse=True)


def list_shards_of_process(process: str, count: int, processes: Iterable[str], copies: int) -> list[int]:
    """Return which of `count` shards the process holds if `copies` processes hold each shard."""
    process_list = list(processes)
    return [number for number in range(count) if process in order_by_rendezvous(number, process_list)[:copies]]


def _draw(shard: int, process: str) -> bytes:
    return hashlib.blake2b(f"{shard}/{process}".encode(), digest_size=8).digest()
