"""A cache of what was made of a text, bounded by bytes: a number of entries bounds nothing where texts differ in length
by a thousand times."""

from collections import OrderedDict
from collections.abc import Callable
from functools import update_wrapper
from threading import Lock
from typing import Generic, TypeVar

__all__ = ["ByteBoundCache", "byte_bound_cache"]

Made = TypeVar("Made")


class ByteBoundCache(Generic[Made]):
    """Calls a function of one text and keeps what it gives, the least recently asked for going first. What is larger
    than the bound by itself is not kept. May be called in several threads; two that ask for the same at once may both
    make it."""

    def __init__(self, make: Callable[[str], Made], size: Callable[[str, Made], int], most_bytes: int) -> None:
        """`size` in bytes of a text and what was made of it."""
        self._make, self._size, self._most = make, size, most_bytes
        self._kept: OrderedDict[str, tuple[Made, int]] = OrderedDict()
        self._lock = Lock()
        self.bytes = 0

    def __len__(self) -> int:
        return len(self._kept)

    def __call__(self, text: str) -> Made:
        with self._lock:
            if (found := self._kept.get(text)) is not None:
                self._kept.move_to_end(text)
                return found[0]
        made = self._make(text)
        size = self._size(text, made)
        if size <= self._most:
            with self._lock:
                self._keep(text, made, size)
        return made

    def cache_clear(self) -> None:
        with self._lock:
            self._kept.clear()
            self.bytes = 0

    def _keep(self, text: str, made: Made, size: int) -> None:
        if text in self._kept:
            return
        self._kept[text] = made, size
        self.bytes += size
        while self.bytes > self._most:
            _, (_, gone) = self._kept.popitem(last=False)
            self.bytes -= gone


def byte_bound_cache(
    most_bytes: int, size: Callable[[str, Made], int]
) -> Callable[[Callable[[str], Made]], ByteBoundCache[Made]]:
    """A decorator."""

    def decorate(make: Callable[[str], Made]) -> ByteBoundCache[Made]:
        cache = ByteBoundCache(make, size, most_bytes)
        update_wrapper(cache, make)
        return cache

    return decorate
