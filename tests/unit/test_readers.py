"""Every function that reads text from outside is known to the fuzzer, and reads hostile texts in time."""

import importlib
import inspect
import pkgutil
import signal
import typing
from collections.abc import Iterator
from contextlib import suppress
from types import FunctionType, ModuleType

import pytest

from benchmarks.fuzzing.hostile import REPEATED
from benchmarks.fuzzing.readers import NOT_FROM_OUTSIDE, PACKAGES, READERS, REFUSALS
from tests.unit.processor_time import filled, limited

__all__ = ["limited"]

CHARACTERS = 10_000
"""Of each run; what is quadratic in C shows in `python -m benchmarks.fuzzing`, whose texts are forty times as long."""
SECONDS = 1.0
"""Of the processor, for one run: what is linear takes a tenth of it."""
TEXTS = (str, bytes, typing.BinaryIO)


def modules(name: str) -> Iterator[ModuleType]:
    module = importlib.import_module(name)
    yield module
    for found in pkgutil.walk_packages(getattr(module, "__path__", ()), f"{name}."):
        yield importlib.import_module(found.name)


def public_functions_of_texts() -> Iterator[str]:
    """Those of the packages that take a text or bytes first."""
    for package in PACKAGES:
        for module in modules(package):
            for name in getattr(module, "__all__", ()):
                function = getattr(module, name)
                if isinstance(function, FunctionType) and function.__module__ == module.__name__ and takes(function):
                    yield f"{module.__name__}.{name}"


def takes(function: FunctionType) -> bool:
    first = next(iter(inspect.signature(function).parameters.values()), None)
    return first is not None and typing.get_type_hints(function).get(first.name) in TEXTS


def known() -> set[str]:
    return {name.partition(",")[0] for name in READERS}


def test_each_function_that_reads_text_from_outside_stands_in_the_list_of_the_fuzzer() -> None:
    missing = set(public_functions_of_texts()) - known() - set(NOT_FROM_OUTSIDE)
    assert not missing, (
        f"Add to READERS, or to NOT_FROM_OUTSIDE with a reason (benchmarks/fuzzing/readers.py): {missing}"
    )


def test_list_names_nothing_that_is_gone() -> None:
    assert set(NOT_FROM_OUTSIDE) <= set(public_functions_of_texts())
    assert not set(NOT_FROM_OUTSIDE) & known()
    for name in known():
        module, _, function = name.rpartition(".")
        assert callable(getattr(importlib.import_module(module), function))


@pytest.mark.parametrize("reader", READERS)
def test_reader_takes_time_that_grows_with_the_text(reader: str) -> None:
    for unit in REPEATED:
        signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
        with suppress(*REFUSALS):
            READERS[reader](filled(unit, characters=CHARACTERS))
