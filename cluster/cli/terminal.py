"""How commands write to the terminal: tables, sizes, remarks, progress bars."""

import sys
from collections.abc import Iterable, Sequence
from types import TracebackType
from typing import TYPE_CHECKING, Self

from rich.console import Console, ConsoleOptions, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.table import Table

from assayer.reports.escaping import printable

if TYPE_CHECKING:
    from assayer.ports import ProgressEvent

__all__ = [
    "ComparisonProgress",
    "EvaluationProgress",
    "FetchProgress",
    "SafeConsole",
    "StageProgress",
    "StepProgress",
    "console",
    "print_error",
    "readable_size",
    "remark",
    "show_table",
]

_WIDEST = 10_000
"""Columns; a table takes what it needs."""
_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


class SafeConsole(Console):
    """Shows no control character of any text: what a model, a paper or a file's name holds must not reach the terminal
    as a command to it. Colours and bars, which are rich's own, do."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=printable(segment.text))


def readable_size(count: float) -> str:
    """With one decimal: 1.2 GB; below a thousand, 12 B."""
    unit = next(((each, name) for each, name in _UNITS if count >= each), None)
    return f"{count / unit[0]:,.1f} {unit[1]}" if unit else f"{count:.0f} B"


def console() -> Console:
    """Standard output; no line is broken."""
    return SafeConsole(highlight=False, soft_wrap=True)


def show_table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> None:
    """The first column, ids and the like, is never broken: it is there to be copied. In a file or a pipe nothing is."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for place, heading in enumerate(headings):
        table.add_column(heading, overflow="fold", no_wrap=place == 0)
    for row in rows:
        table.add_row(*map(escape, row))
    SafeConsole(highlight=False, width=None if sys.stdout.isatty() else _WIDEST).print(table)


def remark(text: str) -> None:
    """For people, on standard error; standard output is for other programs to read."""
    SafeConsole(stderr=True, highlight=False).print(escape(_encodable(text)), soft_wrap=True)


def print_error(what: str, text: str) -> None:
    SafeConsole(stderr=True, highlight=False).print(f"[bold red]{what}[/] {escape(_encodable(text))}", soft_wrap=True)


def _encodable(text: str) -> str:
    """Bytes of a file's name that are no UTF-8 are shown as what they are."""
    return text.encode(errors="backslashreplace").decode()


class _Progress:
    """Bars of tasks, drawn only where a person watches. Use as a context manager."""

    def __init__(self, console: Console, *columns: SpinnerColumn | TextColumn) -> None:
        self._progress = Progress(
            *columns,
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()


class StageProgress(_Progress):
    """One bar per stage, added when the stage is first reported."""

    def __init__(self, console: Console) -> None:
        super().__init__(console, TextColumn("{task.description}"))
        self._stages: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int) -> None:
        if stage not in self._stages:
            self._stages[stage] = self._progress.add_task(stage, total=total)
        self._progress.update(self._stages[stage], completed=done, total=total)


class EvaluationProgress(_Progress):
    """One bar over all ideas, one over the steps of those in progress. Implements the Progress port."""

    def __init__(self, console: Console, ideas: int) -> None:
        super().__init__(console, SpinnerColumn(), TextColumn("{task.description}"))
        self._ideas = self._progress.add_task("Ideas", total=ideas)
        self._steps = self._progress.add_task("Steps", total=None)
        self._stages: dict[tuple[str, str], tuple[int, int]] = {}
        """Of stages in progress, by run and name: steps done, and steps in all."""
        self._done = self._total = 0

    def report(self, event: "ProgressEvent") -> None:
        done, total = self._stages.get((event.run_id, event.stage), (0, 0))
        self._done += event.done - done
        self._total += event.total - total
        self._stages[event.run_id, event.stage] = (event.done, event.total)
        if event.done == event.total:
            del self._stages[event.run_id, event.stage]
        self._progress.update(self._steps, completed=self._done, total=self._total)

    def idea_done(self) -> None:
        self._progress.advance(self._ideas)


class ComparisonProgress(_Progress):
    """Comparisons done. Implements the Progress port."""

    def __init__(self, console: Console) -> None:
        super().__init__(console, SpinnerColumn(), TextColumn("Comparisons"))
        self._task = self._progress.add_task("comparisons", total=None)

    def report(self, event: "ProgressEvent") -> None:
        self._progress.update(self._task, completed=event.done, total=event.total)


class StepProgress(_Progress):
    """Of one kind of step, those done: comparisons inside a step are not. Implements the Progress port."""

    def __init__(self, console: Console, steps: str) -> None:
        super().__init__(console, SpinnerColumn(), TextColumn(steps))
        self._stage = steps.lower()
        self._task = self._progress.add_task(self._stage, total=None)

    def report(self, event: "ProgressEvent") -> None:
        if event.stage == self._stage:
            self._progress.update(self._task, completed=event.done, total=event.total)


class FetchProgress(_Progress):
    """Reports fetched."""

    def __init__(self, console: Console, reports: int) -> None:
        super().__init__(console, SpinnerColumn(), TextColumn("Reports"))
        self._task = self._progress.add_task("reports", total=reports)

    def report_done(self) -> None:
        self._progress.advance(self._task)
