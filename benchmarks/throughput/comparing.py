"""Compares the service with the engine alone, as a table for people and for the documentation."""

from collections.abc import Sequence
from statistics import quantiles
from typing import NamedTuple

from benchmarks.throughput.over_http import ServiceResult
from benchmarks.throughput.watching import compute_growth


class EngineResult(NamedTuple):
    """Resources that the engine needed for the same ideas without a service."""

    reports: int
    wall_seconds: float
    cpu_seconds: float
    calls: int
    peak_bytes: int


def format_comparison(name: str, engine: EngineResult, service: ServiceResult) -> str:
    succeeded = service.states.get("succeeded", 0)
    ended_count = succeeded + len(service.busy)
    engine_rate, service_rate = 3600 * engine.reports / engine.wall_seconds, 3600 * ended_count / service.wall_seconds
    calls = max(service.stats.answered, 1)
    service_cpu_ms, engine_cpu_ms = 1e3 * service.cpu_seconds / calls, 1e3 * engine.cpu_seconds / max(engine.calls, 1)
    peak = max(sample.bytes for sample in service.samples)
    growth = compute_growth(service.samples)
    rows = [
        ("", "engine alone", f"service ({name})"),
        ("---", "---:", "---:"),
        ("ideas of the batch with a report", f"{engine.reports}", f"{succeeded} of {sum(service.states.values())}"),
        ("interactive ideas meanwhile", "", f"{len(service.busy)}"),
        ("wall, s", f"{engine.wall_seconds:.1f}", f"{service.wall_seconds:.1f}"),
        ("ideas an hour", f"{engine_rate:.0f}", f"{service_rate:.0f} ({service_rate / engine_rate:.0%})"),
        ("LLM calls answered", f"{engine.calls}", f"{service.stats.answered}"),
        ("peak calls in flight", "", f"{service.stats.peak_in_flight}"),
        ("answers paid twice", "", f"{service.stats.repeated_answers}"),
        (
            "CPU ms a call, all in",
            f"{engine_cpu_ms:.1f}",
            f"{service_cpu_ms:.1f} ({service_cpu_ms - engine_cpu_ms:+.1f})",
        ),
        ("  of the database besides", "", f"{1e3 * service.database_cpu_seconds / calls:.1f}"),
        ("processes, without the database's", "1", f"{service.processes}"),
        ("peak memory, MB", f"{engine.peak_bytes / 1e6:.0f}", f"{peak / 1e6:.0f}"),
        ("  growth after the first quarter, MB an hour", "", f"{3600 * growth / 1e6:.0f}"),
        ("  of the database, MB", "", f"{max(sample.bytes for sample in service.database_samples) / 1e6:.0f}"),
        ("interactive, no batch, s: p50, p95", "", _format_percentiles(service.idle)),
        ("interactive, beside the batch, s: p50, p95", "", _format_percentiles(service.busy)),
        ("  p95 over p95 without", "", _format_ratio(service.busy, service.idle)),
        (
            "GET of the batch meanwhile, ms: p50, p95",
            "",
            _format_percentiles([1e3 * seconds for seconds in service.poll_seconds]),
        ),
    ]
    table = [f"| {' | '.join(row)} |" for row in rows]
    return "\n".join([*table, "", f"Memory, MB, over time: {_format_over_time(service)}"])


def _format_percentiles(values: Sequence[float]) -> str:
    return f"{_compute_percentile(values, 50):.1f}, {_compute_percentile(values, 95):.1f}" if values else "none ended"


def _format_ratio(busy: Sequence[float], idle: Sequence[float]) -> str:
    return f"{_compute_percentile(busy, 95) / _compute_percentile(idle, 95):.2f}" if busy and idle else "none ended"


def _compute_percentile(values: Sequence[float], percent: int) -> float:
    """Return a percentile of the values; for few values, the result is near the closest extreme."""
    return values[0] if len(values) == 1 else quantiles(values, n=100, method="inclusive")[percent - 1]


def _format_over_time(service: ServiceResult) -> str:
    """Format about ten evenly spaced samples."""
    step = max(1, len(service.samples) // 10)
    return ", ".join(f"{sample.bytes / 1e6:.0f}" for sample in service.samples[::step])
