"""A fair queue: owners take turns, and each owner's own items are served first come first served."""

from collections import OrderedDict
from collections.abc import Hashable, Iterator
from typing import Generic, Protocol, TypeVar

__all__ = ["FairQueue", "QueueItem"]


class QueueItem(Hashable, Protocol):
    @property
    def owner(self) -> str:
        """On whose behalf it waits: owners take turns."""
        ...


Item = TypeVar("Item", bound=QueueItem)


class FairQueue(Generic[Item]):
    """All operations take constant time, but for `ahead`, which grows with the owner's own items."""

    def __init__(self) -> None:
        self._owners: OrderedDict[str, OrderedDict[Item, None]] = OrderedDict()
        self._length = 0
        self._owners_with: list[int] = [0]
        """At n: owners with at least n items."""

    def __len__(self) -> int:
        return self._length

    def __contains__(self, item: Item) -> bool:
        return item in self._owners.get(item.owner, ())

    def __iter__(self) -> Iterator[Item]:
        for items in self._owners.values():
            yield from items

    def push(self, item: Item, first: bool = False) -> None:
        """`first` of its owner's own items: for one that was served already and waits again."""
        items = self._owners.setdefault(item.owner, OrderedDict())
        if item in items:
            return
        items[item] = None
        if first:
            items.move_to_end(item, last=False)
        self._length += 1
        if len(items) == len(self._owners_with):
            self._owners_with.append(0)
        self._owners_with[len(items)] += 1

    def discard(self, item: Item) -> None:
        """Does nothing for an item that is not in the queue."""
        items = self._owners.get(item.owner)
        if items is None or item not in items:
            return
        self._owners_with[len(items)] -= 1
        self._length -= 1
        del items[item]
        if not items:
            del self._owners[item.owner]

    def peek(self) -> Item | None:
        """The next item; it stays in the queue."""
        for items in self._owners.values():
            return next(iter(items))
        return None

    def pop(self) -> Item | None:
        """Takes out the next item; its owner's others wait until all other owners had their turn."""
        item = self.peek()
        if item is not None:
            self.discard(item)
            if item.owner in self._owners:
                self._owners.move_to_end(item.owner)
        return item

    def ahead(self, owner: str) -> int:
        """How many items will be served before one that the owner would add now."""
        own = len(self._owners.get(owner, ()))
        return sum(self._owners_with[1 : own + 2])
