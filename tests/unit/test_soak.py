"""The soak counts what a process has allocated, and finds memory and tables that grow."""

import mmap
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest

from benchmarks.processes import count_allocated_bytes
from benchmarks.soak.figures import format_report
from benchmarks.soak.running import Sample, SoakResult
from benchmarks.soak.traffic import Answer, Receiver

_SIZE = 64 * 2**20
_MIB = 2**20
SECONDS = 3_600.0


def _growth_of(allocate: Callable[[], object]) -> int:
    """Return by how much this process's allocated bytes grow."""
    before = count_allocated_bytes([psutil.Process()])
    kept = allocate()
    after = count_allocated_bytes([psutil.Process()])
    del kept
    return after - before


def test_allocated_bytes_leave_out_pages_of_files(tmp_path: Path) -> None:
    file = tmp_path / "index"
    file.write_bytes(bytes(_SIZE))

    def read() -> mmap.mmap:
        with file.open("rb") as opened:
            pages = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        assert not any(pages[:: mmap.PAGESIZE])
        return pages

    assert _growth_of(read) < _SIZE / 4
    assert _growth_of(lambda: bytearray(b"x") * _SIZE) > _SIZE * 3 / 4


def _course(
    memory: Callable[[float], float], rows: Callable[[float], float] = lambda _: 100, rate: float = 1.0
) -> SoakResult:
    """A course of an hour; `memory` in MiB and `rows` by the share of the time that has passed."""
    samples = [
        Sample(at, int(memory(at / SECONDS) * _MIB), 0, 9, 9, 9, {"jobs": int(rows(at / SECONDS))}, {"jobs": 8_192})
        for at in range(0, int(SECONDS), 10)
    ]
    answers = [Answer(sample.at, "GET /v1/evaluations", 0.1, 200) for sample in samples]
    return SoakResult(SECONDS, rate, samples, answers, Receiver(), (), {}, 0, 1)


@pytest.mark.parametrize(
    ("course", "is_sound"),
    [
        (_course(lambda _: 600), True),
        (_course(lambda share: 600 + 100 * share), False),
        (_course(lambda share: 600 + 100 * min(share, 0.5)), True),
        (_course(lambda share: 600 + 100 * share, rate=5.0), True),
        (_course(lambda _: 600, lambda share: 100 + 1_000 * share), False),
    ],
    ids=["flat", "memory grows", "memory grows until half-time", "grows less per request", "a table grows"],
)
def test_soak_fails_if_memory_or_a_table_grows(course: SoakResult, is_sound: bool) -> None:
    assert format_report(course)[1] == is_sound
