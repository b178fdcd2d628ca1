"""Keeps measured outcomes as JSON lines, so that a second run does only what is missing."""

import asyncio
import json
import os
from collections.abc import Awaitable, Callable, Iterable, Iterator, Sequence
from pathlib import Path
from typing import Any, Generic, TypeVar

from pydantic import ValidationError

from assayer.errors import AssayerError, ConfigurationError, LlmRejected, LlmUnavailable, StorageError
from assayer.models import Absent, CallRecord, Frozen
from assayer.run.concurrency import gather_all

Item = TypeVar("Item")
UNBOUNDED = 1_000_000


class Spending(Frozen):
    """Cost of the answers about one item, whether paid for now or read from the cache."""

    calls: int
    prompt_tokens: int
    completion_tokens: int
    usd: float | None
    """None if no price is configured."""


class Outcome(Frozen):
    """Outcome of one item in one repetition: a verdict, or `failure` says why there is none."""

    item: str
    seed: int
    failure: str = ""
    spent: Spending | None = None
    """None if it failed before anything was counted."""


Kind = TypeVar("Kind", bound=Outcome)


def sum_spending(calls: Sequence[CallRecord]) -> Spending:
    costs = [call.cost_usd for call in calls]
    return Spending(
        calls=len(calls),
        prompt_tokens=sum(call.prompt_tokens for call in calls),
        completion_tokens=sum(call.completion_tokens for call in calls),
        usd=None if None in costs else sum(cost for cost in costs if cost is not None),
    )


def get_usd(cost: float | Absent) -> float | None:
    return None if isinstance(cost, Absent) else cost


def format_failures(outcomes: Iterable[Outcome]) -> Iterator[str]:
    """Yield the reasons for missing verdicts, the most frequent first."""
    failures: dict[str, list[str]] = {}
    for outcome in outcomes:
        if outcome.failure:
            failures.setdefault(outcome.failure, []).append(outcome.item)
    for reason, items in sorted(failures.items(), key=lambda entry: -len(entry[1])):
        yield f"{len(items)} × without: {reason} ({', '.join(items[:3])}{', …' if len(items) > 3 else ''})"


class OutcomeFile(Generic[Kind]):
    """A file of outcomes whose first line records how they were made. Raises ConfigurationError if it cannot be
    read."""

    def __init__(
        self, path: Path, kind: type[Kind], made_with: dict[str, Any], max_concurrent: int = UNBOUNDED
    ) -> None:
        """Open a file whose items are measured at most `max_concurrent` at a time, so that a run that is stopped leaves
        few of them unfinished."""
        self.path, self._made_with, self.max_concurrent = path, json.loads(json.dumps(made_with)), max_concurrent
        self._outcomes: dict[tuple[str, int], Kind] = {}
        if path.is_file():
            self._read(path.read_text("utf-8"), kind)

    def __contains__(self, key: tuple[str, int]) -> bool:
        return key in self._outcomes

    @property
    def outcomes(self) -> list[Kind]:
        return [*self._outcomes.values()]

    def count_left(self, names: Iterable[str]) -> int:
        """Return how many of the items have not been measured with seed 0."""
        return sum((name, 0) not in self for name in names)

    def get_outcome(self, item: str, seed: int) -> Kind:
        """Return an outcome. Raises KeyError if it was not measured."""
        return self._outcomes[item, seed]

    def add(self, outcome: Kind) -> None:
        """Add an outcome; it is durable when this returns."""
        self._append(outcome.model_dump_json())
        self._outcomes[outcome.item, outcome.seed] = outcome

    def forget_failures(self) -> None:
        """Forget failures so that they are retried. Their lines stay in the file; later lines take precedence."""
        self._outcomes = {key: outcome for key, outcome in self._outcomes.items() if not outcome.failure}

    def _read(self, text: str, kind: type[Kind]) -> None:
        *complete_lines, incomplete_line = text.split("\n")
        if incomplete_line:  # an earlier run was stopped in the middle of a line: that item is measured again
            self.path.write_text("".join(f"{line}\n" for line in complete_lines), "utf-8")
        try:
            if complete_lines and json.loads(complete_lines[0])["made_with"] != self._made_with:
                raise ConfigurationError(
                    f"{self.path} was made with other settings.", "Name another folder with --out."
                )
            outcomes = [kind.model_validate_json(line) for line in complete_lines[1:]]
        except (ValidationError, ValueError, KeyError, TypeError) as error:
            raise ConfigurationError(
                f"{self.path} cannot be read.", "Move it away, or name another folder with --out."
            ) from error
        self._outcomes = {(outcome.item, outcome.seed): outcome for outcome in outcomes}

    def _append(self, line: str) -> None:
        self.path.parent.mkdir(parents=True, exist_ok=True)
        with self.path.open("a", encoding="utf-8") as file:
            if not file.tell():
                file.write(f"{json.dumps({'made_with': self._made_with})}\n")
            file.write(f"{line}\n")
            file.flush()
            os.fsync(file.fileno())


async def measure_missing(
    items: Iterable[tuple[Item, str, int]],
    outcome_file: OutcomeFile[Kind],
    measure: Callable[[Item, int], Awaitable[Kind]],
    build_failure: Callable[[str, int, str], Kind],
) -> None:
    """Measure the items (given with names and seeds) that have no outcome yet. An item's own failure is an outcome.
    Errors that make it pointless to continue are raised; the outcomes so far are kept."""

    semaphore = asyncio.Semaphore(outcome_file.max_concurrent)

    async def measure_item(item: Item, name: str, seed: int) -> None:
        async with semaphore:
            try:
                outcome = await measure(item, seed)
            except (LlmRejected, LlmUnavailable, StorageError, ConfigurationError):
                raise
            except AssayerError as error:
                outcome = build_failure(name, seed, str(error))
            outcome_file.add(outcome)

    await gather_all(measure_item(*item) for item in items if item[1:] not in outcome_file)
