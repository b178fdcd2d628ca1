"""Keep track of hundreds of millions of seen keys, in eight bytes per key; a Python set needs about a hundred."""

import numpy as np
from numpy.typing import NDArray

from index.hashing import Hashes

_MAX_RUN_KEYS = 1 << 25
"""Maximum number of keys in a merged run. A merge needs as much additional memory as the merged runs occupy."""


class SeenKeys:
    """Set of seen keys in sorted runs, each more than twice as long as the next until `max_run_keys` is reached. The
    number of runs grows with the logarithm of the number of keys, plus one run per `max_run_keys` keys."""

    def __init__(self, max_run_keys: int = _MAX_RUN_KEYS) -> None:
        self._max_run_keys = max_run_keys
        self._runs: list[Hashes] = []

    def __len__(self) -> int:
        return sum(map(len, self._runs))

    def add(self, keys: Hashes) -> NDArray[np.bool_]:
        """Add keys and return a mask of the new keys: neither added earlier nor repeated within `keys`."""
        sorted_keys, firsts = np.unique(keys, return_index=True)
        is_known = np.zeros(len(sorted_keys), np.bool_)
        for run in self._runs:
            places = np.searchsorted(run, sorted_keys)
            places[places == len(run)] = 0
            is_known |= run[places] == sorted_keys
        is_new = np.zeros(len(keys), np.bool_)
        is_new[firsts[~is_known]] = True
        self._append(sorted_keys[~is_known])
        return is_new

    def _append(self, run: Hashes) -> None:
        if not len(run):
            return
        self._runs.append(run)
        while len(self._runs) > 1:
            last, previous = self._runs[-1], self._runs[-2]
            if len(previous) > 2 * len(last) or len(previous) + len(last) > self._max_run_keys:
                return
            del self._runs[-2:]
            merged_run = np.concatenate([previous, last])
            del previous, last
            merged_run.sort(kind="stable")  # fast, because both parts are already sorted
            self._runs.append(merged_run)
