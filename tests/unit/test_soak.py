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


def measure_growth(allocate: Callable[[], object]) -> int:
    """Return by how much this process's allocated bytes grow."""
    before = count_allocated_bytes([psutil.Process()])
    allocated = allocate()
    after = count_allocated_bytes([psutil.Process()])
    del allocated
    return after - before


def test_allocated_bytes_leave_out_pages_of_files(tmp_path: Path) -> None:
    file = tmp_path / "index"
    file.write_bytes(bytes(_SIZE))

    def read() -> mmap.mmap:
        with file.open("rb") as opened:
            pages = mmap.mmap(opened.fileno(), 0, access=mmap.ACCESS_READ)
        assert not any(pages[:: mmap.PAGESIZE])
        return pages

    assert measure_growth(read) < _SIZE / 4
    assert measure_growth(lambda: bytearray(b"x") * _SIZE) > _SIZE * 3 / 4


def make_soak_result(
    memory_mib: Callable[[float], float], row_count: Callable[[float], float] = lambda _: 100, rate: float = 1.0
) -> SoakResult:
    """Return an hour of samples; `memory_mib` and `row_count` are functions of the elapsed share of time."""
    samples = [
        Sample(
            second,
            int(memory_mib(second / SECONDS) * _MIB),
            0,
            9,
            9,
            9,
            {"jobs": int(row_count(second / SECONDS))},
            {"jobs": 8_192},
        )
        for second in range(0, int(SECONDS), 10)
    ]
    answers = [Answer(sample.at, "GET /v1/evaluations", 0.1, 200) for sample in samples]
    return SoakResult(SECONDS, rate, samples, answers, Receiver(), (), {}, 0, 1)


@pytest.mark.parametrize(
    ("course", "is_sound"),
    [
        (make_soak_result(lambda _: 600), True),
        (make_soak_result(lambda share: 600 + 100 * share), False),
        (make_soak_result(lambda share: 600 + 100 * min(share, 0.5)), True),
        (make_soak_result(lambda share: 600 + 100 * share, rate=5.0), True),
        (make_soak_result(lambda _: 600, lambda share: 100 + 1_000 * share), False),
    ],
    ids=["flat", "memory grows", "memory grows until half-time", "grows less per request", "a table grows"],
)
def test_soak_fails_if_memory_or_a_table_grows(course: SoakResult, is_sound: bool) -> None:
    assert format_report(course)[1] == is_sound
