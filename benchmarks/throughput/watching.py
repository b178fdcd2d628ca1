"""Samples the memory and CPU time of other processes during a measurement."""

import threading
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from statistics import linear_regression
from time import monotonic
from types import TracebackType
from typing import NamedTuple, Self

import psutil

_SAMPLE_SECONDS = 2.0
_START_UP = 0.25
"""Share of samples skipped at the start, while caches fill and pools grow."""


class Sample(NamedTuple):
    seconds: float
    """Seconds since the watch began."""
    bytes: int
    """Proportional set size of all processes, in which shared memory counts once."""


@dataclass
class Watch:
    """Watches processes between enter and exit. Processes that start or end in between count for as long as they were
    seen."""

    processes: Callable[[], Sequence[psutil.Process]]
    samples: list[Sample] = field(default_factory=list)
    cpu_seconds: float = 0.0
    _first: dict[int, float] = field(default_factory=dict)
    _last: dict[int, float] = field(default_factory=dict)
    _done: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> Self:
        self._began = monotonic()
        self._first = {process.pid: _read_cpu_seconds(process) for process in self.processes()}
        self._sampler = threading.Thread(target=self._sample, daemon=True)
        self._sampler.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._done.set()
        self._sampler.join()
        self._take_sample()
        self.cpu_seconds = sum(last - self._first.get(pid, 0.0) for pid, last in self._last.items())

    def _sample(self) -> None:
        while not self._done.wait(_SAMPLE_SECONDS):
            self._take_sample()

    def _take_sample(self) -> None:
        total = 0
        for process in self.processes():
            try:
                total += process.memory_full_info().pss
                self._last[process.pid] = _read_cpu_seconds(process)
            except psutil.Error:
                continue
        self.samples.append(Sample(monotonic() - self._began, total))


def compute_growth(samples: Sequence[Sample]) -> float:
    """Return the growth in bytes per second by least squares, without the start; 0 if there are too few samples."""
    late_samples = samples[int(len(samples) * _START_UP) :]
    if len(late_samples) < 3:
        return 0.0
    return linear_regression(
        [sample.seconds for sample in late_samples], [sample.bytes for sample in late_samples]
    ).slope


def _read_cpu_seconds(process: psutil.Process) -> float:
    try:
        times = process.cpu_times()
    except psutil.Error:
        return 0.0
    return float(times.user + times.system)
