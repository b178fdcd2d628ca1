"""Growth as a picture: both axes logarithmic, so that linear growth is a line of slope 1."""

import math
from collections.abc import Mapping, Sequence

__all__ = ["growth_svg"]

_WIDTH, _HEIGHT, _EDGE = 640, 420, 60
_CURVES = {
    "build_s": ("build, s", 1e3, "#8a3b12"),
    "propagation_ms": ("whole propagation, ms", 1.0, "#b7791f"),
    "scan_ms": ("one exact pass, ms", 1.0, "#8d8d8d"),
    "add_idea_ms": ("add one idea, ms", 1.0, "#1f6f50"),
    "verdict_ms": ("one verdict, ms", 1.0, "#1d4f91"),
}
"""Measure: words, how many milliseconds its unit is, colour."""


def growth_svg(rows: Sequence[Mapping[str, float]]) -> str:
    sizes = [row["viewpoints"] for row in rows]
    times = [row[name] * unit for row in rows for name, (_, unit, _) in _CURVES.items() if row.get(name, 0) > 0]
    left, right = math.log10(min(sizes)), math.log10(max(sizes))
    low, high = math.floor(math.log10(min(times))), math.ceil(math.log10(max(times)))

    def x(size: float) -> float:
        return _EDGE + (math.log10(size) - left) / max(right - left, 1e-9) * (_WIDTH - 3.6 * _EDGE)

    def y(milliseconds: float) -> float:
        return _HEIGHT - _EDGE - (math.log10(milliseconds) - low) / max(high - low, 1) * (_HEIGHT - 1.6 * _EDGE)

    box = f'viewBox="0 0 {_WIDTH} {_HEIGHT}"'
    parts = [f'<svg xmlns="http://www.w3.org/2000/svg" {box} font-family="sans-serif" font-size="12">']
    for power in range(low, high + 1):
        at = y(10.0**power)
        parts.append(f'<line x1="{_EDGE}" x2="{_WIDTH - 2.6 * _EDGE}" y1="{at:.0f}" y2="{at:.0f}" stroke="#ddd"/>')
        parts.append(f'<text x="{_EDGE - 8}" y="{at + 4:.0f}" text-anchor="end">{10.0**power:g} ms</text>')
    for size in sizes:
        parts.append(f'<text x="{x(size):.0f}" y="{_HEIGHT - _EDGE + 20}" text-anchor="middle">{size:,.0f}</text>')
    middle = (_WIDTH - 2 * _EDGE) // 2
    parts.append(f'<text x="{middle}" y="{_HEIGHT - 12}" text-anchor="middle">viewpoints in the graph</text>')
    for name, (words, unit, colour) in _CURVES.items():
        points = [(x(row["viewpoints"]), y(row[name] * unit)) for row in rows if row.get(name, 0) > 0]
        path = " ".join(f"{px:.1f},{py:.1f}" for px, py in points)
        parts.append(f'<polyline points="{path}" fill="none" stroke="{colour}" stroke-width="2"/>')
        parts.append(f'<text x="{points[-1][0] + 8:.0f}" y="{points[-1][1] + 4:.0f}" fill="{colour}">{words}</text>')
    return "\n".join([*parts, "</svg>", ""])
