"""Rendezvous hashing: all who know the processes agree, few shards move, copies differ."""

from collections import Counter

from hypothesis import given
from hypothesis import strategies as st

from index.shards.rendezvous import list_shards_of_process, order_by_rendezvous

_NAMES = st.lists(st.text("abcdef0123456789", min_size=1, max_size=8), min_size=1, max_size=12, unique=True)
_SHARDS = 64


@given(names=_NAMES, seed=st.randoms(use_true_random=False))
def test_shard_order_does_not_depend_on_order_of_process_names(names: list[str], seed: object) -> None:
    shuffled_names = sorted(names, key=lambda _: seed.random())  # type: ignore[attr-defined]
    assert all(order_by_rendezvous(number, names) == order_by_rendezvous(number, shuffled_names) for number in range(8))


@given(names=_NAMES, copies=st.integers(1, 4))
def test_each_shard_is_assigned_to_requested_number_of_processes_or_all(names: list[str], copies: int) -> None:
    holder_counts = Counter(shard for name in names for shard in list_shards_of_process(name, 16, names, copies))
    assert holder_counts == dict.fromkeys(range(16), min(copies, len(names)))


@given(names=_NAMES, copies=st.integers(1, 3), new_name=st.text("xyz", min_size=1, max_size=4))
def test_new_process_takes_shards_without_moving_others(names: list[str], copies: int, new_name: str) -> None:
    for shard in range(16):
        before = order_by_rendezvous(shard, names)
        after = order_by_rendezvous(shard, [*names, new_name])
        assert [item for item in after if item != new_name] == before
        assert set(after[:copies]) - set(before[:copies]) <= {new_name}


def test_shards_of_departed_process_are_spread_over_all_others() -> None:
    names = [f"process-{number}" for number in range(8)]
    departed, remaining = names[3], [*names[:3], *names[4:]]
    heirs = Counter(
        order_by_rendezvous(shard, remaining)[0] for shard in list_shards_of_process(departed, 1000, names, 1)
    )
    assert set(heirs) == set(remaining)
    assert sum(heirs.values()) < 1000 / 8 * 1.5


def test_shards_are_spread_evenly_where_there_are_many() -> None:
    names = [f"process-{number}" for number in range(4)]
    shard_counts = [len(list_shards_of_process(name, 2000, names, 2)) for name in names]
    assert max(shard_counts) < 1.1 * min(shard_counts)
    assert len(list_shards_of_process(names[0], _SHARDS, names, 4)) == _SHARDS
