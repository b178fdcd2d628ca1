"""Cached methods that do not keep their object alive."""

import gc
from weakref import ref

import pytest

from index.segments.weak_method import cache_method


class Squares:
    def __init__(self) -> None:
        self.squared_numbers: list[int] = []
        self.square = cache_method(self._square_number, 2)

    def _square_number(self, number: int) -> int:
        self.squared_numbers.append(number)
        return number * number


def test_cached_method_computes_only_results_that_are_not_cached() -> None:
    shelf = Squares()
    assert [shelf.square(number) for number in (2, 3, 2, 4, 3)] == [4, 9, 4, 16, 9]
    assert shelf.squared_numbers == [2, 3, 4, 3]


def test_object_with_cached_method_is_freed_without_garbage_collection() -> None:
    shelf = Squares()
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
