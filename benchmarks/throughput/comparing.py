"""Compares the service with the engine alone, as a table for people and for the documentation."""

from collections.abc import Sequence
from statistics import quantiles
from typing import NamedTuple

from benchmarks.throughput.over_http import Served
from benchmarks.throughput.watching import slope


class Alone(NamedTuple):
    """Resources that the engine needed for the same ideas without a service."""

    reports: int
    wall_seconds: float
    cpu_seconds: float
    calls: int
    peak_bytes: int


def compared(name: str, alone: Alone, served: Served) -> str:
    done = served.states.get("succeeded", 0)
    ended = done + len(served.busy)
    own, over = 3600 * alone.reports / alone.wall_seconds, 3600 * ended / served.wall_seconds
    calls = max(served.stats.answered, 1)
    each, each_alone = 1e3 * served.cpu_seconds / calls, 1e3 * alone.cpu_seconds / max(alone.calls, 1)
    peak = max(sample.bytes for sample in served.samples)
    growth = slope(served.samples)
    rows = [
        ("", "engine alone", f"service ({name})"),
        ("---", "---:", "---:"),
        ("ideas of the batch with a report", f"{alone.reports}", f"{done} of {sum(served.states.values())}"),
        ("interactive ideas meanwhile", "", f"{len(served.busy)}"),
        ("wall, s", f"{alone.wall_seconds:.1f}", f"{served.wall_seconds:.1f}"),
        ("ideas an hour", f"{own:.0f}", f"{over:.0f} ({over / own:.0%})"),
        ("LLM calls answered", f"{alone.calls}", f"{served.stats.answered}"),
        ("peak calls in flight", "", f"{served.stats.peak_in_flight}"),
        ("answers paid twice", "", f"{served.stats.repeated_answers}"),
        ("CPU ms a call, all in", f"{each_alone:.1f}", f"{each:.1f} ({each - each_alone:+.1f})"),
        ("  of the database besides", "", f"{1e3 * served.database_cpu_seconds / calls:.1f}"),
        ("processes, without the database's", "1", f"{served.processes}"),
        ("peak memory, MB", f"{alone.peak_bytes / 1e6:.0f}", f"{peak / 1e6:.0f}"),
        ("  growth after the first quarter, MB an hour", "", f"{3600 * growth / 1e6:.0f}"),
        ("  of the database, MB", "", f"{max(sample.bytes for sample in served.database_samples) / 1e6:.0f}"),
        ("interactive, no batch, s: p50, p95", "", _both(served.idle)),
        ("interactive, beside the batch, s: p50, p95", "", _both(served.busy)),
        ("  p95 over p95 without", "", _ratio(served.busy, served.idle)),
        ("GET of the batch meanwhile, ms: p50, p95", "", _both([1e3 * look for look in served.looks])),
    ]
    table = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*table, "", f"Memory, MB, over time: {_over_time(served)}"])


def _both(values: Sequence[float]) -> str:
    return f"{_quantile(values, 50):.1f}, {_quantile(values, 95):.1f}" if values else "none ended"


def _ratio(busy: Sequence[float], idle: Sequence[float]) -> str:
    return f"{_quantile(busy, 95) / _quantile(idle, 95):.2f}" if busy and idle else "none ended"


def _quantile(values: Sequence[float], percent: int) -> float:
    """Return a percentile of the values; for few values, the result is near the closest extreme."""
    return values[0] if len(values) == 1 else quantiles(values, n=100, method="inclusive")[percent - 1]


def _over_time(served: Served) -> str:
    """Format about ten evenly spaced samples."""
    every = max(1, len(served.samples) // 10)
    return ", ".join(f"{sample.bytes / 1e6:.0f}" for sample in served.samples[::every])
