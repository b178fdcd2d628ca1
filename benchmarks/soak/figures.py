"""Figures of a soak run: slopes of what should be flat, tables at equal load, latencies by route and quarter."""

import statistics
from collections import Counter, defaultdict
from collections.abc import Sequence
from typing import NamedTuple

import numpy as np

from benchmarks.soak.running import Course, Sample

_WARM_UP = 0.25
"""Share of the run before the slopes begin."""
_BLOCK_SECONDS = 120.0
"""Samples are averaged over blocks, which are nearly independent of each other."""
_MIB = 2**20
_MOST_SLOWER = 1.2
_MEMORY_WARM_UP = 0.5
"""Share of the run before memory is judged: meanwhile caches fill, and free memory between used pieces builds up."""
_MOST_MEMORY = 30.0
"""Largest lower bound of the memory's slope, in MiB per hour of the usual traffic, that counts as flat."""
_BY_DESIGN = {"audit_log", "audit_contents"}
"""Append-only tables, which grow as long as people and programs act."""
_GROWTH = 1.5
"""Ratio of the rows in the last quarter to those in the second above which a table counts as growing."""
_FEWEST_ROWS = 50


class Slope(NamedTuple):
    per_hour: float
    error: float
    """Half of the 95 % interval."""

    @property
    def lower(self) -> float:
        return self.per_hour - self.error


def report(course: Course) -> tuple[str, bool]:
    """Return the report as text, and whether nothing grew or slowed down."""
    kept = [sample for sample in course.samples if sample.at >= _WARM_UP * course.seconds]
    memory = _memory_slope(course, [sample.memory for sample in course.samples])
    database = _memory_slope(course, [sample.database_memory for sample in course.samples])
    growing = _growing(course)
    slower = _slower(course)
    lines = [
        f"{len(course.answers)} requests in {course.seconds / 60:.0f} minutes; statuses: {_counts(course)}",
        f"evaluations not purged, by state: {dict(course.states)}; corpus updates: {Counter(course.nights)}",
        f"webhooks: {course.receiver.received} received, {course.receiver.refused} answered with 503",
        f"restarts of PostgreSQL: {course.restarts}; starts of the service: {course.starts}",
        "",
        "After the first quarter, with 95 % intervals (blocks of two minutes):",
        _memory(course, "the service", memory, [sample.memory for sample in course.samples]),
        _memory(course, "the database", database, [sample.database_memory for sample in course.samples]),
        _line("open files", kept, [sample.files for sample in kept]),
        _line("threads", kept, [sample.threads for sample in kept]),
        _line("database connections", kept, [sample.connections for sample in kept]),
        "",
        *_tables(course),
        "",
        *_latencies(course),
        "",
        f"growing tables: {', '.join(growing) or 'none'}",
        f"slower in the last quarter than {_MOST_SLOWER:g} times the first: {', '.join(slower) or 'none'}",
    ]
    return "\n".join(lines), not growing and not slower and memory.lower <= _MOST_MEMORY


def _memory_slope(course: Course, values: Sequence[int]) -> Slope:
    """Return the slope in MiB per hour of the usual traffic, over the second half of the run."""
    kept = [
        (sample, value)
        for sample, value in zip(course.samples, values, strict=True)
        if sample.at >= _MEMORY_WARM_UP * course.seconds
    ]
    steep = slope([sample for sample, _ in kept], [value / _MIB for _, value in kept])
    return Slope(steep.per_hour / course.rate, steep.error / course.rate)


def _memory(course: Course, name: str, grown: Slope, values: Sequence[int]) -> str:
    quarters: list[list[int]] = [[], [], [], []]
    for sample, value in zip(course.samples, values, strict=True):
        quarters[min(3, int(4 * sample.at / course.seconds))].append(value)
    means = ", ".join(f"{statistics.mean(quarter) / _MIB:.0f}" for quarter in quarters if quarter)
    return (
        f"memory of {name}: mean by quarter {means} MiB; in the second half {grown.per_hour:+.1f} ± {grown.error:.1f} "
        "MiB per hour of the usual traffic"
    )


def _line(name: str, samples: Sequence[Sample], values: Sequence[int]) -> str:
    found = slope(samples, values)
    mean = statistics.mean(values)
    return f"{name}: {found.per_hour:+.1f} ± {found.error:.1f} per hour, mean {mean:.1f}, most {max(values)}"


def slope(samples: Sequence[Sample], values: Sequence[float]) -> Slope:
    """Return the least-squares slope per hour of the block means; without three blocks, zero with an infinite error."""
    blocks: dict[int, list[tuple[float, float]]] = defaultdict(list)
    for sample, value in zip(samples, values, strict=True):
        blocks[int(sample.at // _BLOCK_SECONDS)].append((sample.at / 3600, value))
    means = np.array([np.mean(block, axis=0) for block in blocks.values()])
    if len(means) < 3:
        return Slope(0.0, float("inf"))
    hours, found = means[:, 0] - means[:, 0].mean(), means[:, 1] - means[:, 1].mean()
    spread = float(hours @ hours)
    steep = float(hours @ found) / spread
    left = found - steep * hours
    error = float(np.sqrt(left @ left / (len(means) - 2) / spread))
    return Slope(steep, 1.96 * error)


def _quarters(course: Course) -> list[list[Sample]]:
    return [
        [sample for sample in course.samples if quarter <= 4 * sample.at / course.seconds < quarter + 1]
        for quarter in range(4)
    ]


def _tables(course: Course) -> list[str]:
    quarters = _quarters(course)
    lines = ["| table | mean rows by quarter | | | | MiB at the end |", "|---|" + "---:|" * 5]
    for name in sorted(course.samples[-1].rows):
        means = [_rows(quarter, name) for quarter in quarters]
        if max(means) >= 1:
            size = course.samples[-1].bytes[name] / _MIB
            lines.append(f"| {name} | {' | '.join(f'{mean:.0f}' for mean in means)} | {size:.1f} |")
    return lines


def _rows(samples: Sequence[Sample], name: str) -> float:
    return statistics.mean(sample.rows.get(name, 0) for sample in samples) if samples else 0.0


def _growing(course: Course) -> list[str]:
    """Return the tables that grew from the second to the last quarter, at equal load."""
    _, second, _, last = _quarters(course)
    return [
        name
        for name in sorted(course.samples[-1].rows)
        if name not in _BY_DESIGN
        and _rows(last, name) > max(_GROWTH * _rows(second, name), _rows(second, name) + _FEWEST_ROWS)
    ]


def _latencies(course: Course) -> list[str]:
    lines = [
        "| route | requests | p95 by quarter, ms | | | | last to first |",
        "|---|" + "---:|" * 6,
    ]
    for route, quarters in _by_route(course).items():
        p95s = [_p95(quarter) for quarter in quarters]
        count = sum(map(len, quarters))
        ratio = p95s[3] / p95s[0] if p95s[0] else float("nan")
        lines.append(f"| {route} | {count} | {' | '.join(f'{1000 * p95:.0f}' for p95 in p95s)} | {ratio:.2f} |")
    return lines


def _by_route(course: Course) -> dict[str, list[list[float]]]:
    found: dict[str, list[list[float]]] = defaultdict(lambda: [[], [], [], []])
    for answer in sorted(course.answers, key=lambda item: item.route):
        for route in (answer.route, "all"):
            found[route][min(3, int(4 * answer.at / course.seconds))].append(answer.seconds)
    return found


def _slower(course: Course) -> list[str]:
    first, *_, last = _by_route(course)["all"]
    return ["all routes together"] if _p95(last) > _MOST_SLOWER * _p95(first) else []


def _p95(values: Sequence[float]) -> float:
    return float(np.percentile(values, 95)) if values else 0.0


def _counts(course: Course) -> str:
    return ", ".join(
        f"{count} × {status or 'none'}" for status, count in Counter(a.status for a in course.answers).most_common()
    )
