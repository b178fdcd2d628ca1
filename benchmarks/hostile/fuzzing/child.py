"""Child process that reads hostile texts and is killed if it hangs."""

import importlib
import logging
import traceback
from collections.abc import Callable, Mapping
from multiprocessing.connection import Connection
from typing import NamedTuple

from hypothesis import HealthCheck, Phase, given, seed, settings

from benchmarks.hostile.fuzzing.hostile_texts import MOST_CHARACTERS, hostile_texts


class Order(NamedTuple):
    """Order to run some cases with one reader."""

    reader: str
    seed: int
    cases: int
    max_characters: int = MOST_CHARACTERS


class ReadingStarted(NamedTuple):
    """Message sent before a text is read; if no outcome follows, the text made the reader hang."""

    text: str


class Outcome(NamedTuple):
    crash: str | None
    """Error and where it was raised; None if the text was read or properly refused."""


class Readers(NamedTuple):
    """Location of the readers, so that the child process can import them."""

    module: str
    """Module with READERS, a mapping by name, and REFUSALS, the errors that refuse a text."""

    def load(self) -> tuple[Mapping[str, Callable[[str], object]], tuple[type[Exception], ...]]:
        module = importlib.import_module(self.module)
        return module.READERS, module.REFUSALS


def run_child(readers_location: Readers, pipe: Connection) -> None:
    """Carry out orders until None is received; send None after each order."""
    logging.disable(logging.CRITICAL)
    readers, refusals = readers_location.load()
    pipe.send(None)
    while (order := pipe.recv()) is not None:
        _run_cases(order, readers[order.reader], refusals, pipe)
        pipe.send(None)


def _run_cases(
    order: Order, read: Callable[[str], object], refusals: tuple[type[Exception], ...], pipe: Connection
) -> None:
    @seed(order.seed)
    @settings(
        max_examples=order.cases, deadline=None, database=None, phases=(Phase.generate,),
        suppress_health_check=list(HealthCheck),
    )  # fmt: skip
    @given(hostile_texts(order.max_characters))
    def run_case(text: str) -> None:
        pipe.send(ReadingStarted(text))
        pipe.send(Outcome(_find_crash(read, text, refusals)))

    run_case()


def _find_crash(read: Callable[[str], object], text: str, refusals: tuple[type[Exception], ...]) -> str | None:
    try:
        read(text)
    except refusals:
        return None
    except Exception as error:  # noqa: BLE001 - the purpose is to find any error
        last_frame = traceback.extract_tb(error.__traceback__)[-1]
        file_name = last_frame.filename.rpartition("/")[2]
        return f"{type(error).__name__} in {last_frame.name}, line {last_frame.lineno} of {file_name}"
    return None
