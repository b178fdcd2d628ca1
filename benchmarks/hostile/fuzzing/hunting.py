"""Runner that gives hostile texts to readers in a child process, kills it if it hangs, and counts the outcomes."""

import multiprocessing
import time
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass, field
from multiprocessing.connection import Connection
from multiprocessing.process import BaseProcess

import psutil

from benchmarks.hostile.fuzzing.child import Order, Outcome, Readers, ReadingStarted, run_child
from benchmarks.hostile.fuzzing.hostile_texts import MOST_CHARACTERS

_START_SECONDS = 600.0
_POLL_SECONDS = 0.5


@dataclass(frozen=True)
class Limits:
    processor_seconds: float = 5.0
    """Maximum processor seconds per text; a reader that takes longer counts as hanging.

    Processor time is used so that a busy machine does not cause false hangs."""
    wall_seconds: float = 120.0
    """Maximum elapsed seconds per text, also for a reader that is waiting."""
    cases: int = 20
    """Cases per reader before the next reader runs."""
    characters: int = MOST_CHARACTERS


@dataclass
class ReaderResults:
    """Results of one reader."""

    cases: int = 0
    crashes: dict[str, str] = field(default_factory=dict)
    """Shortest text for each kind of crash."""
    hangs: list[str] = field(default_factory=list)
    slowest: float = 0.0
    """Maximum elapsed seconds for one text."""

    def add(self, text: str, outcome: Outcome, seconds: float) -> None:
        self.cases += 1
        self.slowest = max(self.slowest, seconds)
        if outcome.crash is not None:
            self.crashes[outcome.crash] = min(text, self.crashes.get(outcome.crash, text), key=len)


class Hunt:
    """Runner that tests all readers in rounds, with different texts in each round."""

    def __init__(self, readers: Readers, names: Sequence[str], seed: int, limits: Limits | None = None) -> None:
        self._readers = readers
        self._limits = limits or Limits()
        self._seed = seed
        self.results = {name: ReaderResults() for name in names}

    def run(self, seconds: float) -> None:
        """Run for the specified seconds, but at least one round."""
        deadline = time.monotonic() + seconds
        orders = self._generate_orders(deadline)
        order = next(orders, None)
        while order is not None:
            with self._start_child() as (process, pipe):
                while order is not None and self._run_order(order, process, pipe):
                    order = next(orders, None)
            order = next(orders, None) if order is not None else None

    def _generate_orders(self, deadline: float) -> Iterator[Order]:
        round_number = 0
        while round_number == 0 or time.monotonic() < deadline:
            for name in self.results:
                if round_number and time.monotonic() >= deadline:
                    return
                yield Order(name, self._seed + round_number, self._limits.cases, self._limits.characters)
            round_number += 1

    def _run_order(self, order: Order, process: BaseProcess, pipe: Connection) -> bool:
        """Run an order; return False if the process hung and must be replaced."""
        results = self.results[order.reader]
        pipe.send(order)
        while (message := pipe.recv()) is not None:
            assert isinstance(message, ReadingStarted)  # noqa: S101 - the protocol of the child
            began = time.monotonic()
            outcome = self._wait_for_outcome(process, pipe, began)
            if outcome is None:
                results.cases += 1
                results.hangs.append(message.text)
                return False
            results.add(message.text, outcome, time.monotonic() - began)
        return True

    def _wait_for_outcome(self, process: BaseProcess, pipe: Connection, began: float) -> Outcome | None:
        """Return the outcome of the current text, or None if it exceeds the limits."""
        cpu_before = _read_processor_seconds(process)
        while not pipe.poll(_POLL_SECONDS):
            cpu_seconds = _read_processor_seconds(process) - cpu_before
            if cpu_seconds > self._limits.processor_seconds or time.monotonic() - began > self._limits.wall_seconds:
                return None
        try:
            return pipe.recv()  # type: ignore[no-any-return]
        except EOFError:
            return Outcome("the process died")

    @contextmanager
    def _start_child(self) -> Iterator[tuple[BaseProcess, Connection]]:
        """Start a child process that has imported the readers, and kill it at the end. Raises RuntimeError if it does
        not start."""
        context = multiprocessing.get_context("spawn")
        parent_pipe, child_pipe = context.Pipe()
        process = context.Process(target=run_child, args=(self._readers, child_pipe), daemon=True)
        process.start()
        child_pipe.close()
        try:
            if not parent_pipe.poll(_START_SECONDS):
                raise RuntimeError("The child process did not start in time.")
            parent_pipe.recv()
            yield process, parent_pipe
        finally:
            process.kill()
            process.join()
            parent_pipe.close()


def _read_processor_seconds(process: BaseProcess) -> float:
    try:
        times = psutil.Process(process.pid).cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)
