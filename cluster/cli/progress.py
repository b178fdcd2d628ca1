"""Progress bars for evaluations and rankings in the terminal."""

from types import TracebackType

from rich.console import Console
from rich.progress import BarColumn, MofNCompleteColumn, Progress, SpinnerColumn, TaskID, TextColumn, TimeElapsedColumn

from assayer.models import EvaluationId
from assayer.ports import ProgressEvent

__all__ = ["ComparisonProgress", "EvaluationProgress"]


class EvaluationProgress:
    """One bar over all ideas, and the steps done in those in flight. Implements the Progress port."""

    def __init__(self, console: Console, ideas: int) -> None:
        self._progress = Progress(
            SpinnerColumn(),
            TextColumn("{task.description}"),
            BarColumn(),
            MofNCompleteColumn(),
            TimeElapsedColumn(),
            console=console,
            disable=not console.is_terminal,
        )
        self._ideas: TaskID = self._progress.add_task("Ideas", total=ideas)
        self._steps: TaskID = self._progress.add_task("Steps", total=None)
        self._stages: dict[tuple[EvaluationId, str], tuple[int, int]] = {}
        """Of stages in progress: steps done, and steps in all."""
        self._done = self._total = 0

    def __enter__(self) -> "EvaluationProgress":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def report(self, event: ProgressEvent) -> None:
        done, total = self._stages.get((event.run_id, event.stage), (0, 0))
        self._done += event.done - done
        self._total += event.total - total
        self._stages[event.run_id, event.stage] = (event.done, event.total)
        if event.done == event.total:
            del self._stages[event.run_id, event.stage]
        self._progress.update(self._steps, completed=self._done, total=self._total)

    def idea_done(self) -> None:
        self._progress.advance(self._ideas)


class ComparisonProgress:
    """Comparisons done. Implements the Progress port."""

    def __init__(self, console: Console) -> None:
        columns = (SpinnerColumn(), TextColumn("Comparisons"), BarColumn(), MofNCompleteColumn(), TimeElapsedColumn())
        self._progress = Progress(*columns, console=console, disable=not console.is_terminal)
        self._task = self._progress.add_task("comparisons", total=None)

    def __enter__(self) -> "ComparisonProgress":
        self._progress.start()
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._progress.stop()

    def report(self, event: ProgressEvent) -> None:
        self._progress.update(self._task, completed=event.done, total=event.total)
