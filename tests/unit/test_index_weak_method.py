"""Cached methods that do not keep their object alive."""

import gc
from weakref import ref

import pytest

from index.segments.weak_method import cache_method


class Shelf:
    def __init__(self) -> None:
        self.asked: list[int] = []
        self.square = cache_method(self._square, 2)

    def _square(self, number: int) -> int:
        self.asked.append(number)
        return number * number


def test_cached_method_computes_only_results_that_are_not_cached() -> None:
    shelf = Shelf()
    assert [shelf.square(number) for number in (2, 3, 2, 4, 3)] == [4, 9, 4, 16, 9]
    assert shelf.asked == [2, 3, 4, 3]


def test_object_with_cached_method_is_freed_without_garbage_collection() -> None:
    shelf = Shelf()
    square, weak = shelf.square, ref(shelf)
    square(3)
    gc.disable()
    try:
        del shelf
        assert weak() is None
    finally:
        gc.enable()
    with pytest.raises(ReferenceError, match="no longer exists"):
        square(2)
