"""Measures the cost of work in this process and the processes it started: wall time, CPU time, peak memory."""

import contextlib
import multiprocessing
import os
import threading
import time
from dataclasses import dataclass, field
from types import TracebackType

import psutil

_SAMPLE_SECONDS = 0.25


@dataclass
class Meter:
    """Measures between enter and exit. CPU seconds include all threads of this process and of those that
    `multiprocessing` started; of a process that has ended by the exit, those up to its last sample."""

    wall_seconds: float = 0.0
    cpu_seconds: float = 0.0
    peak_rss_bytes: int = 0
    _done: threading.Event = field(default_factory=threading.Event)
    _cpu_by_process: dict[int, float] = field(default_factory=dict)

    def __enter__(self) -> "Meter":
        self._take_sample()
        self._started = (time.monotonic(), sum(self._cpu_by_process.values()))
        self._sampler = threading.Thread(target=self._sample, daemon=True)
        self._sampler.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        wall, cpu = self._started
        self.wall_seconds = time.monotonic() - wall
        self._done.set()
        self._sampler.join()
        self._take_sample()
        self.cpu_seconds = sum(self._cpu_by_process.values()) - cpu

    def _sample(self) -> None:
        while not self._done.wait(_SAMPLE_SECONDS):
            self._take_sample()

    def _take_sample(self) -> None:
        rss_bytes = 0
        for pid in [os.getpid(), *(child.pid for child in multiprocessing.active_children())]:
            with contextlib.suppress(psutil.NoSuchProcess):
                process = psutil.Process(pid)
                self._cpu_by_process[process.pid] = sum(process.cpu_times()[:2])
                rss_bytes += process.memory_info().rss
        self.peak_rss_bytes = max(self.peak_rss_bytes, rss_bytes)
