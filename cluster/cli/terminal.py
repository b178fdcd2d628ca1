"""Terminal output of commands: tables, sizes, remarks, progress bars."""

import asyncio
import json
import sys
from collections.abc import Collection, Coroutine, Iterable, Mapping, Sequence
from typing import TYPE_CHECKING, Any, Self, TypeVar

import typer
from rich.console import Console, ConsoleOptions, JustifyMethod, RenderableType
from rich.markup import escape
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn
from rich.segment import Segment
from rich.status import Status
from rich.table import Table

from assayer.reports.escaping import remove_unprintable

if TYPE_CHECKING:
    from assayer.ports import ProgressEvent

Out = TypeVar("Out")

_MAX_COLUMNS = 10_000
"""Maximum table width in columns. A table takes only the width that it needs."""
_UNITS = ((1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB"))


class SafeConsole(Console):
    """Console that strips control characters from all text, because text from a model, a paper or a file name must not
    control the terminal. Colours and bars, which rich itself produces, are kept."""

    def render(self, renderable: RenderableType, options: ConsoleOptions | None = None) -> Iterable[Segment]:
        for segment in super().render(renderable, options):
            yield segment if segment.control else segment._replace(text=remove_unprintable(segment.text))


def format_size(count: float) -> str:
    """Format a size in bytes, with one decimal (1.2 GB) or, below a thousand, without decimals (12 B)."""
    unit = next(((unit_size, name) for unit_size, name in _UNITS if count >= unit_size), None)
    return f"{count / unit[0]:,.1f} {unit[1]}" if unit else f"{count:.0f} B"


def print_markup(markup: str) -> None:
    """Print markup on standard output, without wrapping lines."""
    SafeConsole(highlight=False).print(markup, soft_wrap=True)


def _convert_named_tuples(value: object) -> object:
    """Convert every named tuple in the value to a mapping, because pydantic would write it as a list."""
    if isinstance(value, tuple) and hasattr(value, "_asdict"):
        value = value._asdict()
    if isinstance(value, Mapping):
        return {name: _convert_named_tuples(member) for name, member in value.items()}
    return [_convert_named_tuples(member) for member in value] if isinstance(value, tuple | list) else value


def print_json(value: object) -> None:
    """Print a value as one JSON document on standard output. It may contain models, named tuples, paths and dates."""
    from pydantic_core import to_jsonable_python

    sys.stdout.write(json.dumps(to_jsonable_python(_convert_named_tuples(value)), ensure_ascii=False, indent=2) + "\n")


class Outcome:
    """Result of a command: lines of markup that are printed immediately, or values that are printed as one JSON
    document at the end."""

    def __init__(self, *, as_json: bool) -> None:
        self.facts: dict[str, object] = {}
        self._as_json = as_json

    def __enter__(self) -> Self:
        return self

    def __exit__(self, kind: type[BaseException] | None, *_: object) -> None:
        if self._as_json and (kind is None or issubclass(kind, typer.Exit)):
            print_json(self.facts)

    def add(self, *lines: str, **facts: object) -> None:
        """Add values, and lines of markup that present them to people."""
        self.facts |= facts
        for line in () if self._as_json else lines:
            print_markup(line)


def show_status(text: str) -> Status:
    """Show a spinner with the text until the context ends."""
    return SafeConsole(stderr=True, highlight=False).status(text)


def show_table(headings: Sequence[str], rows: Iterable[Sequence[str]], figures: Collection[str] = ()) -> None:
    """Print a table, with the columns named in `figures` right-aligned. The first column often holds ids, so it is
    never wrapped and can be copied. In a file or a pipe, no column is wrapped."""
    table = Table(box=None, pad_edge=False, header_style="bold")
    for column, heading in enumerate(headings):
        side: JustifyMethod = "right" if heading in figures else "left"
        table.add_column(heading, overflow="fold", no_wrap=column == 0, justify=side)
    for row in rows:
        table.add_row(*map(escape, row))
    SafeConsole(highlight=False, width=None if sys.stdout.isatty() else _MAX_COLUMNS).print(table)


def show_facts(facts: Mapping[str, str], *, as_json: bool) -> None:
    """Print named values, one per line, or as one JSON object."""
    with Outcome(as_json=as_json) as outcome:
        for name, text in facts.items():
            outcome.add(f"[bold]{name + ':':<17}[/]{escape(text)}", **{name: text})


def run_resumable(work: Coroutine[Any, Any, Out]) -> Out:
    """Run work whose answers are stored. If it is interrupted, tell the user that it can be resumed."""
    try:
        return asyncio.run(work)
    except KeyboardInterrupt:
        print_error("Interrupted.", "Answers so far are saved: run the same command to continue.")
        raise


def print_remark(text: str) -> None:
    """Print a remark for people on standard error, because other programs may read standard output."""
    SafeConsole(stderr=True, highlight=False).print(escape(_escape_undecodable(text)), soft_wrap=True)


def print_error(message: str, text: str) -> None:
    SafeConsole(stderr=True, highlight=False).print(
        f"[bold red]{message}[/] {escape(_escape_undecodable(text))}", soft_wrap=True
    )


def _escape_undecodable(text: str) -> str:
    """Return the text with any undecodable bytes from a file name shown as escapes."""
    return text.encode(errors="backslashreplace").decode()


def create_progress_bars(*columns: SpinnerColumn | TextColumn) -> Progress:
    """Return progress bars on standard error that are drawn only on a terminal."""
    console = SafeConsole(stderr=True, highlight=False)
    bars = (BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
    return Progress(*columns, *bars, console=console, disable=not console.is_terminal)


class _Bars:
    """Progress bars as a context manager."""

    def __init__(self, *columns: SpinnerColumn | TextColumn) -> None:
        self._progress = create_progress_bars(*columns)

    def __enter__(self) -> Self:
        self._progress.start()
        return self

    def __exit__(self, *_: object) -> None:
        self._progress.stop()


class StageProgress(_Bars):
    """Progress display with one bar per stage, added when the stage is first reported. Implements the Progress port."""

    def __init__(self) -> None:
        super().__init__(TextColumn("{task.description}"))
        self._stages: dict[str, TaskID] = {}

    def __call__(self, stage: str, done: int, total: int | None) -> None:
        if stage not in self._stages:
            self._stages[stage] = self._progress.add_task(stage, total=total)
        self._progress.update(self._stages[stage], completed=done, total=total)

    def report(self, event: "ProgressEvent") -> None:
        self(event.stage, event.done, event.total)


class EvaluationProgress(_Bars):
    """Progress display with one bar for all ideas, and one for the steps of ideas in progress. Implements the Progress
    port."""

    def __init__(self, ideas: int) -> None:
        super().__init__(SpinnerColumn(), TextColumn("{task.description}"))
        self._ideas = self._progress.add_task("Ideas", total=ideas)
        self._steps = self._progress.add_task("Steps", total=None)
        self._stages: dict[tuple[str, str], tuple[int, int]] = {}
        """Finished and total steps of each stage in progress, keyed by run and stage name."""
        self._done_count = self._total = 0
        self._model: TaskID | None = None

    def show_model(self, tokens_read: int, tokens_written: int) -> None:
        """Show how many tokens a local model has read and written for the answers in progress."""
        text = f"Model: {tokens_read:,} tokens read, {tokens_written:,} written"
        if self._model is None:
            self._model = self._progress.add_task(text, total=None)
        self._progress.update(self._model, description=text)

    def report(self, event: "ProgressEvent") -> None:
        done, total = self._stages.get((event.run_id, event.stage), (0, 0))
        self._done_count += event.done - done
        self._total += event.total - total
        self._stages[event.run_id, event.stage] = (event.done, event.total)
        if event.done == event.total:
            del self._stages[event.run_id, event.stage]
        self._progress.update(self._steps, completed=self._done_count, total=self._total)

    def finish_idea(self) -> None:
        self._progress.advance(self._ideas)


class StepProgress(_Bars):
    """Progress bar that counts the steps of one stage or of all stages. Implements the Progress port."""

    def __init__(self, steps: str, total: int | None = None, stage: str | None = None) -> None:
        super().__init__(SpinnerColumn(), TextColumn(steps))
        self._stage = stage
        self._task = self._progress.add_task(steps, total=total)

    def report(self, event: "ProgressEvent") -> None:
        if self._stage in (None, event.stage):
            self.update(event.done, event.total)

    def update(self, done: int, total: int) -> None:
        self._progress.update(self._task, completed=done, total=total)

    def finish_step(self) -> None:
        self._progress.advance(self._task)
