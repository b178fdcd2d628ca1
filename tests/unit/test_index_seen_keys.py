"""Keys that have come before are told as a set would tell them."""

import numpy as np
from hypothesis import given
from hypothesis import strategies as st

from index.records.seen_keys import SeenKeys

KEYS = st.lists(st.one_of(st.integers(0, 30), st.integers(2**64 - 30, 2**64 - 1)), max_size=20)


@given(st.lists(KEYS, max_size=30), st.sampled_from([1, 3, 16, 1000]))
def test_key_is_new_only_the_first_time(batches: list[list[int]], longest: int) -> None:
    seen_keys, expected_keys = SeenKeys(longest), set[int]()
    for batch in batches:
        expected = []
        for key in batch:
            expected.append(key not in expected_keys)
            expected_keys.add(key)
        assert seen_keys.add(np.array(batch, np.uint64)).tolist() == expected
    assert len(seen_keys) == len(expected_keys)


def test_runs_stay_few_and_use_eight_bytes_per_key() -> None:
    seen_keys = SeenKeys(max_run_keys=1 << 14)
    random_keys = np.random.default_rng(3).integers(0, 2**63, 100_000, dtype=np.uint64)
    for batch in np.array_split(random_keys, 500):
        seen_keys.add(batch)
    runs = seen_keys._runs
    assert sum(run.nbytes for run in runs) == 8 * len(np.unique(random_keys))
    assert all(run.base is None for run in runs), "none keeps a larger array alive"
    assert len(runs) <= 100_000 / (1 << 13) + 8
