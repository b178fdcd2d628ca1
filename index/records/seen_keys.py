"""Which keys have come before, of hundreds of millions: eight bytes each, where a set of Python takes a hundred."""

import numpy as np
from numpy.typing import NDArray

from index.hashing import Hashes

__all__ = ["SeenKeys"]

_LONGEST = 1 << 25
"""Keys in a run that is joined with others: joining takes as much memory again as its runs do."""


class SeenKeys:
    """Sorted runs of keys, each more than twice as long as the next until they are longest: as many as the logarithm of
    the keys, or one for each `longest` of them."""

    def __init__(self, longest: int = _LONGEST) -> None:
        self._longest = longest
        self._runs: list[Hashes] = []

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def add(self, keys: Hashes) -> NDArray[np.bool_]:
        """Which of them had not come before, neither earlier nor earlier among these."""
        ordered, firsts = np.unique(keys, return_index=True)
        known = np.zeros(len(ordered), np.bool_)
        for run in self._runs:
            places = np.searchsorted(run, ordered)
            places[places == len(run)] = 0
            known |= run[places] == ordered
        new = np.zeros(len(keys), np.bool_)
        new[firsts[~known]] = True
        self._append(ordered[~known])
        return new

    def _append(self, run: Hashes) -> None:
        if not len(run):
            return
        self._runs.append(run)
        while len(self._runs) > 1:
            last, before = self._runs[-1], self._runs[-2]
            if len(before) > 2 * len(last) or len(before) + len(last) > self._longest:
                return
            del self._runs[-2:]
            joined = np.concatenate([before, last])
            del before, last
            joined.sort(kind="stable")  # which is quick where two parts are in order
            self._runs.append(joined)
