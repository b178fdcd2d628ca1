"""Ids of papers as numbers, so that hundreds of millions of them are looked up in mapped arrays."""

import hashlib
from collections.abc import Iterable
from pathlib import Path

import numpy as np
from numpy.typing import NDArray

__all__ = ["Hashes", "IdTable", "hashed", "write_ids"]

Hashes = NDArray[np.uint64]
_HASHES, _ROWS = "ids.npy", "id-rows.npy"


def hashed(ids: Iterable[str]) -> Hashes:
    """The first 64 bits of BLAKE2b: among 200 million ids two collide with a chance of one in a thousand, so whoever
    looks one up compares the id itself as well."""
    digests = b"".join(hashlib.blake2b(one.encode(), digest_size=8).digest() for one in ids)
    return np.frombuffer(digests, "<u8").astype(np.uint64)


def write_ids(hashes: Hashes, directory: Path) -> None:
    """Of the ids in the order of their rows."""
    order = np.argsort(hashes, kind="stable")
    np.save(directory / _HASHES, hashes[order])
    np.save(directory / _ROWS, order.astype(np.uint32))


class IdTable:
    """Rows by hash of the id."""

    def __init__(self, directory: Path) -> None:
        self._hashes: Hashes = np.asarray(np.load(directory / _HASHES, mmap_mode="r"))
        self._rows: NDArray[np.uint32] = np.asarray(np.load(directory / _ROWS, mmap_mode="r"))

    def __len__(self) -> int:
        return len(self._hashes)

    def candidates(self, hashes: Hashes) -> list[list[int]]:
        """For each hash the rows that have it: none, one, or after a collision several."""
        first = np.searchsorted(self._hashes, hashes, side="left").tolist()
        last = np.searchsorted(self._hashes, hashes, side="right").tolist()
        return [self._rows[start:end].tolist() for start, end in zip(first, last, strict=True)]
