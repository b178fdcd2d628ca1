"""Every function that reads external text is registered for fuzzing and reads hostile texts in linear time."""

import importlib
import signal
from contextlib import suppress

import pytest

from benchmarks.hostile.fuzzing.exempt import EXEMPT
from benchmarks.hostile.fuzzing.hostile_texts import REPEATED
from benchmarks.hostile.fuzzing.public_functions import find_text_functions, is_exempt
from benchmarks.hostile.fuzzing.readers import READERS, REFUSALS
from tests.unit.processor_time import fill_text, limited_processor_time

__all__ = ["limited_processor_time"]

CHARACTERS = 10_000
"""Characters per run; quadratic behaviour in C shows in `python -m benchmarks.hostile.fuzzing`, whose texts are forty
times as long."""
SECONDS = 1.0
"""Seconds of processor time allowed per run; linear functions take a tenth of it."""
UNITS = 10
"""Runs that the quick tier joins into one text."""


def list_readers() -> set[str]:
    return {name.partition(",")[0] for name in READERS}


def test_every_function_reading_untrusted_text_is_listed_for_fuzzing() -> None:
    missing_readers = {
        public_function
        for public_function in find_text_functions().keys() - list_readers()
        if not is_exempt(public_function)
    }
    assert not missing_readers, (
        "Add to READERS (benchmarks/hostile/fuzzing), or to EXEMPT with a reason "
        f"(benchmarks/hostile/fuzzing/exempt.py): {missing_readers}"
    )


def test_function_list_covers_every_package() -> None:
    rooms = {public_function.partition(".")[0] for public_function in find_text_functions()}
    assert rooms == {"assayer", "assayer_client", "cluster", "index", "orchestrator", "workers"}


def test_fuzzer_lists_name_only_existing_functions() -> None:
    functions = find_text_functions()
    for entry in EXEMPT:
        assert any(item == entry or item.startswith(f"{entry}.") for item in functions), entry
        assert entry not in list_readers()
    for name in list_readers():
        module, _, function = name.rpartition(".")
        assert callable(getattr(importlib.import_module(module), function))


def get_package(reader: str) -> str:
    return ".".join(reader.split(".")[:2])


@pytest.mark.parametrize("package", sorted({get_package(reader) for reader in READERS}))
def test_readers_finish_mixed_hostile_units_within_time_limit(package: str) -> None:
    """Read runs of ten units one after another, which costs a tenth of reading each unit by itself."""
    for first in range(0, len(REPEATED), UNITS):
        runs = [fill_text(unit, characters=CHARACTERS // UNITS) for unit in REPEATED[first : first + UNITS]]
        for reader in READERS:
            if get_package(reader) == package:
                _read(reader, "".join(runs))


def test_numbered_lines_that_are_not_references_are_searched_within_time_limit() -> None:
    for unit in ("1. a\n", "1. a\n2. a\n3. a\n", "1. Lee, A. 2001.\n2. Lee, A. 2001.\n3. Lee, A. 2001.\n"):
        _read("assayer.reference_lists.list_finding.find_lists", fill_text(unit))


@pytest.mark.slow
@pytest.mark.parametrize("reader", READERS)
def test_reader_finishes_each_repeated_hostile_unit_within_time_limit(reader: str) -> None:
    for unit in REPEATED:
        _read(reader, fill_text(unit, characters=CHARACTERS))


def _read(reader: str, text: str) -> None:
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    with suppress(*REFUSALS):
        READERS[reader](text)
