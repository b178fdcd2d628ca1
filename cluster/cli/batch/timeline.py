"""`assayer batch timeline`: draw an evaluation's timeline in the terminal."""

import sys
from collections.abc import Iterator
from typing import TYPE_CHECKING, Annotated

import typer
from rich.text import Text

from cluster.cli.batch.service_client import identify_kind, open_service_client
from cluster.cli.options import WithJson
from cluster.cli.terminal import SafeConsole, print_json

if TYPE_CHECKING:
    from assayer.reports.timeline_chart import ConcurrencyStep, TimelineChart, TimelineRow

_BLOCKS = " ▁▂▃▄▅▆▇█"
_LABEL, _FIGURES = 30, 22
_WIDTH = 110
"""Width in columns when output goes to a file or a pipe."""
_BLOCK_STYLES = {"wait": "yellow", "stage": "bright_black", "call": "cyan"}


def timeline(
    job: Annotated[str, typer.Argument(metavar="ID", help="Id of an evaluation.")],
    as_json: WithJson = False,
) -> None:
    """Draw an evaluation's timeline: queue time, stages and LLM requests."""
    from assayer.reports.timeline_chart import build_timeline_chart

    identify_kind(job, "evaluation")
    with open_service_client() as client:
        timeline_data = client.evaluations.timeline(job)
    if as_json:
        print_json(timeline_data)
        return
    console = SafeConsole(highlight=False, width=None if sys.stdout.isatty() else _WIDTH)
    for line in draw_chart(build_timeline_chart(timeline_data), console.width):
        console.print(line, no_wrap=True, crop=False)


def draw_chart(chart: "TimelineChart", width: int) -> Iterator[Text]:
    """Yield one line per row. A block's height is the number of LLM requests in flight, relative to the maximum over
    all tasks."""
    from assayer.reports.timeline_chart import count_max_running

    columns = max(10, width - _LABEL - _FIGURES)
    max_concurrent = max([1, *(row.most for row in chart.rows if row.kind == "call")])
    timeline = chart.timeline
    yield Text(timeline.title, style="bold")
    yield Text(
        f"{timeline.state}, {chart.seconds:.1f} s, {chart.waited_seconds:.1f} s in the queue; "
        f"{chart.calls} calls, {chart.calls - len(chart.asked)} from the cache, "
        f"at most {count_max_running(chart.asked)} at once",
        style="dim",
    )
    for row in chart.rows:
        yield _draw_line(row, chart.seconds, columns, max_concurrent)
    end_label = f"{chart.seconds:.1f} s"
    yield Text(" " * _LABEL + "0 s" + end_label.rjust(columns - 3), style="dim")


def _draw_line(row: "TimelineRow", seconds: float, columns: int, max_concurrent: int) -> Text:
    heights = compute_peak_concurrency(row.steps, seconds, columns)
    if row.kind == "call":
        blocks = "".join(_BLOCKS[-(-height * (len(_BLOCKS) - 1) // max_concurrent)] for height in heights)
    else:
        blocks = "".join("━" if height else " " for height in heights)
    label = row.name if len(row.name) < _LABEL else f"{row.name[: _LABEL - 2]}…"
    count_text = f"{len(row.spans)} ({row.most} at once)" if row.kind == "call" else ""
    return Text.assemble(label.ljust(_LABEL), (blocks, _BLOCK_STYLES[row.kind]), " ", (count_text, "dim"))


def compute_peak_concurrency(steps: "tuple[ConcurrencyStep, ...]", seconds: float, columns: int) -> list[int]:
    """Return the maximum number of concurrent LLM requests in each of `columns` equal time intervals."""
    peaks = [0] * columns
    columns_of_steps = [min(columns - 1, int(step.at / seconds * columns)) for step in steps]
    for index, step in enumerate(steps):
        last = columns_of_steps[index + 1] if index + 1 < len(steps) else columns_of_steps[index]
        for column in range(columns_of_steps[index], last + 1):
            peaks[column] = max(peaks[column], step.running)
    return peaks
