"""Figures of a soak run: slopes of what should be flat, tables at equal load, latencies by route and quarter."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.soak.running import Sample, SoakResult

_WARM_UP = 0.25
"""Share of the run before the slopes begin."""
_BLOCK_SECONDS = 120.0
"""Samples are averaged over blocks, which are nearly independent of each other."""
_MIB = 2**20
_MAX_SLOWDOWN = 1.2
_MEMORY_WARM_UP = 0.5
"""Share of the run before memory is judged: meanwhile caches fill, and free memory between used pieces builds up."""
_MAX_MEMORY_SLOPE = 30.0
"""Largest lower bound of the memory's slope, in MiB per hour of the usual traffic, that counts as flat."""
_APPEND_ONLY_TABLES = {"audit_log", "audit_contents"}
"""Append-only tables, which grow as long as people and programs act."""
_MAX_GROWTH = 1.5
"""Ratio of the rows in the last quarter to those in the second above which a table counts as growing."""
_MIN_NEW_ROWS = 50


class Slope(NamedTuple):
    per_hour: float
    error: float
    """Half of the 95 % interval."""

    @property
    def lower(self) -> float:
        return self.per_hour - self.error


def format_report(result: SoakResult) -> tuple[str, bool]:
    """Return the report as text, and whether nothing grew or slowed down."""
    late_samples = [sample for sample in result.samples if sample.at >= _WARM_UP * result.seconds]
    memory = _compute_memory_slope(result, [sample.memory for sample in result.samples])
    database = _compute_memory_slope(result, [sample.database_memory for sample in result.samples])
    growing = _find_growing_tables(result)
    slower = _find_slower_routes(result)
    lines = [
        f"{len(result.answers)} requests in {result.seconds / 60:.0f} minutes; statuses: {_format_statuses(result)}",
        f"evaluations not purged, by state: {dict(result.states)}; corpus updates: {Counter(result.update_outcomes)}",
        f"webhooks: {result.receiver.received} received, {result.receiver.refused} answered with 503",
        f"restarts of PostgreSQL: {result.restarts}; starts of the service: {result.starts}",
        "",
        "After the first quarter, with 95 % intervals (blocks of two minutes):",
        _format_memory(result, "the service", memory, [sample.memory for sample in result.samples]),
        _format_memory(result, "the database", database, [sample.database_memory for sample in result.samples]),
        _format_slope("open files", late_samples, [sample.files for sample in late_samples]),
        _format_slope("threads", late_samples, [sample.threads for sample in late_samples]),
        _format_slope("database connections", late_samples, [sample.connections for sample in late_samples]),
        "",
        *_format_tables(result),
        "",
        *_format_latencies(result),
        "",
        f"growing tables: {', '.join(growing) or 'none'}",
        f"slower in the last quarter than {_MAX_SLOWDOWN:g} times the first: {', '.join(slower) or 'none'}",
    ]
    return "\n".join(lines), not growing and not slower and memory.lower <= _MAX_MEMORY_SLOPE


def _compute_memory_slope(result: SoakResult, values: Sequence[int]) -> Slope:
    """Return the slope in MiB per hour of the usual traffic, over the second half of the run."""
    late_samples = [
        (sample, value)
        for sample, value in zip(result.samples, values, strict=True)
        if sample.at >= _MEMORY_WARM_UP * result.seconds
    ]
    memory_slope = fit_slope([sample for sample, _ in late_samples], [value / _MIB for _, value in late_samples])
    return Slope(memory_slope.per_hour / result.rate, memory_slope.error / result.rate)


def _format_memory(result: SoakResult, name: str, growth: Slope, values: Sequence[int]) -> str:
    quarters: list[list[int]] = [[], [], [], []]
    for sample, value in zip(result.samples, values, strict=True):
        quarters[min(3, int(4 * sample.at / result.seconds))].append(value)
    means = ", ".join(f"{statistics.mean(quarter) / _MIB:.0f}" for quarter in quarters if quarter)
    return (
        f"memory of {name}: mean by quarter {means} MiB; in the second half {growth.per_hour:+.1f} "
        f"± {growth.error:.1f} MiB per hour of the usual traffic"
    )


def _format_slope(name: str, samples: Sequence[Sample], values: Sequence[int]) -> str:
    fitted = fit_slope(samples, values)
    mean = statistics.mean(values)
    return f"{name}: {fitted.per_hour:+.1f} ± {fitted.error:.1f} per hour, mean {mean:.1f}, most {max(values)}"


def fit_slope(samples: Sequence[Sample], values: Sequence[float]) -> Slope:
    """Return the least-squares slope per hour of the block means; without three blocks, zero with an infinite error."""
    blocks: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for sample, value in zip(samples, values, strict=True):
        blocks[int(sample.at // _BLOCK_SECONDS)].append((sample.at / 3600, value))
    means = np.array([np.mean(block, axis=0) for block in blocks.values()])
    if len(means) < 3:
        return Slope(0.0, float("inf"))
    centred_hours, centred_values = means[:, 0] - means[:, 0].mean(), means[:, 1] - means[:, 1].mean()
    spread = float(centred_hours @ centred_hours)
    per_hour = float(centred_hours @ centred_values) / spread
    residuals = centred_values - per_hour * centred_hours
    error = float(np.sqrt(residuals @ residuals / (len(means) - 2) / spread))
    return Slope(per_hour, 1.96 * error)


def _split_into_quarters(result: SoakResult) -> list[list[Sample]]:
    return [
        [sample for sample in result.samples if quarter <= 4 * sample.at / result.seconds < quarter + 1]
        for quarter in range(4)
    ]


def _format_tables(result: SoakResult) -> list[str]:
    quarters = _split_into_quarters(result)
    lines = ["| table | mean rows by quarter | | | | MiB at the end |", "|---|" + "---:|" * 5]
    for name in sorted(result.samples[-1].rows):
        means = [_compute_mean_rows(quarter, name) for quarter in quarters]
        if max(means) >= 1:
            size = result.samples[-1].bytes[name] / _MIB
            lines.append(f"| {name} | {' | '.join(f'{mean:.0f}' for mean in means)} | {size:.1f} |")
    return lines


def _compute_mean_rows(samples: Sequence[Sample], name: str) -> float:
    return statistics.mean(sample.rows.get(name, 0) for sample in samples) if samples else 0.0


def _find_growing_tables(result: SoakResult) -> list[str]:
    """Return the tables that grew from the second to the last quarter, at equal load."""
    _, second, _, last = _split_into_quarters(result)
    return [
        name
        for name in sorted(result.samples[-1].rows)
        if name not in _APPEND_ONLY_TABLES
        and _compute_mean_rows(last, name)
        > max(_MAX_GROWTH * _compute_mean_rows(second, name), _compute_mean_rows(second, name) + _MIN_NEW_ROWS)
    ]


def _format_latencies(result: SoakResult) -> list[str]:
    lines = [
        "| route | requests | p95 by quarter, ms | | | | last to first |",
        "|---|" + "---:|" * 6,
    ]
    for route, quarters in _group_by_route(result).items():
        p95s = [_compute_p95(quarter) for quarter in quarters]
        count = sum(map(len, quarters))
        ratio = p95s[3] / p95s[0] if p95s[0] else float("nan")
        lines.append(f"| {route} | {count} | {' | '.join(f'{1000 * p95:.0f}' for p95 in p95s)} | {ratio:.2f} |")
    return lines


def _group_by_route(result: SoakResult) -> dict[str, list[list[float]]]:
    seconds_by_route: dict[str, list[list[float]]] = defaultdict(lambda: [[], [], [], []])
    for answer in sorted(result.answers, key=lambda answer: answer.route):
        for route in (answer.route, "all"):
            seconds_by_route[route][min(3, int(4 * answer.at / result.seconds))].append(answer.seconds)
    return seconds_by_route


def _find_slower_routes(result: SoakResult) -> list[str]:
    first, *_, last = _group_by_route(result)["all"]
    return ["all routes together"] if _compute_p95(last) > _MAX_SLOWDOWN * _compute_p95(first) else []


def _compute_p95(values: Sequence[float]) -> float:
    return float(np.percentile(values, 95)) if values else 0.0


def _format_statuses(result: SoakResult) -> str:
    return ", ".join(
        f"{count} × {status or 'none'}"
        for status, count in Counter(answer.status for answer in result.answers).most_common()
    )
