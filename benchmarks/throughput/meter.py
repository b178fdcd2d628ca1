"""Measures the cost of work in this process and the processes it started: wall time, CPU time, peak memory."""

import multiprocessing
import threading
import time
from dataclasses import dataclass, field
from types import TracebackType

import psutil

_SAMPLE_SECONDS = 0.25


@dataclass
class Meter:
    """Measures between enter and exit. CPU seconds include all threads of this process and of those that
    `multiprocessing` started; processes that have ended by the exit are not counted."""

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_rss_bytes: int = 0
    _done: threading.Event = field(default_factory=threading.Event)

    def __enter__(self) -> "Meter":
        self._started = (time.monotonic(), _cpu())
        self._sampler = threading.Thread(target=self._sample, daemon=True)
        self._sampler.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        wall, cpu = self._started
        self.wall_seconds = time.monotonic() - wall
        self.cpu_seconds = _cpu() - cpu
        self._done.set()
        self._sampler.join()

    def _sample(self) -> None:
        processes = _processes()
        while True:
            self.peak_rss_bytes = max(self.peak_rss_bytes, sum(process.memory_info().rss for process in processes))
            if self._done.wait(_SAMPLE_SECONDS):
                return


def _processes() -> list[psutil.Process]:
    return [psutil.Process(), *(psutil.Process(active_child.pid) for active_child in multiprocessing.active_children())]


def _cpu() -> float:
    return sum(sum(process.cpu_times()[:2]) for process in _processes())
