"""The fair queue: owners take turns, everybody's own items stay in order, and `ahead` tells the truth."""

from collections import Counter
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from workers.concurrency.fair_queue import FairQueue


@dataclass(frozen=True)
class Item:
    owner: str
    number: int


def everybody(queue: FairQueue[Item]) -> list[Item]:
    served = []
    while (item := queue.pop()) is not None:
        served.append(item)
    return served


OWNERS = st.lists(st.sampled_from("abcde"), max_size=60)


@given(OWNERS)
def test_pop_goes_round_and_keeps_each_owners_order(owners: list[str]) -> None:
    queue: FairQueue[Item] = FairQueue()
    items = [Item(owner, number) for number, owner in enumerate(owners)]
    for item in items:
        queue.push(item)

    served = everybody(queue)

    assert sorted(served, key=lambda item: item.number) == items
    turns: Counter[str] = Counter()
    left = Counter(owners)
    for item in served:
        # Nobody is served again while somebody who waits has had fewer turns.
        assert all(turns[other] >= turns[item.owner] for other in left if left[other])
        turns[item.owner] += 1
        left[item.owner] -= 1
    for owner in set(owners):
        own = [item.number for item in served if item.owner == owner]
        assert own == sorted(own)


@given(OWNERS, st.sampled_from("abcdef"))
def test_ahead_is_the_number_of_items_served_before_a_new_one(owners: list[str], newcomer: str) -> None:
    queue: FairQueue[Item] = FairQueue()
    for number, owner in enumerate(owners):
        queue.push(Item(owner, number))
    ahead = queue.ahead(newcomer)
    new = Item(newcomer, len(owners))
    queue.push(new)

    place = everybody(queue).index(new)

    # Within a round the order is that of arrival: the same owners may stand before or after.
    assert place <= ahead <= place + len(set(owners))


@given(OWNERS, st.data())
def test_discard_takes_out_that_item_alone(owners: list[str], data: st.DataObject) -> None:
    queue: FairQueue[Item] = FairQueue()
    items = [Item(owner, number) for number, owner in enumerate(owners)]
    for item in items:
        queue.push(item)
    gone = set(data.draw(st.lists(st.sampled_from(items)))) if items else set()

    for item in [*gone, *gone, Item("stranger", 0)]:
        queue.discard(item)

    assert len(queue) == len(items) - len(gone)
    assert set(queue) == set(items) - gone
    assert all((item in queue) == (item not in gone) for item in items)
    assert len(everybody(queue)) == len(items) - len(gone)
    assert queue.ahead("anybody") == 0


def test_push_first_goes_before_the_owners_own_items_and_nobody_elses() -> None:
    queue: FairQueue[Item] = FairQueue()
    for item in (Item("a", 1), Item("b", 2), Item("b", 3)):
        queue.push(item)

    queue.push(Item("b", 4), first=True)

    assert [item.number for item in everybody(queue)] == [1, 4, 2, 3]
