"""Resources used by a run: time, LLM requests and money."""

import datetime as dt
from collections import defaultdict
from collections.abc import Iterable
from typing import NamedTuple

from assayer.models import Absent, CallRecord, RunUsage, TaskTokens
from assayer.ports import Clock
from assayer.run.journal import Journal
from assayer.run.run import Run


class Started(NamedTuple):
    """Start time of an evaluation or a ranking, by the wall clock and the monotonic clock."""

    at: dt.datetime
    monotonic: float

    @classmethod
    def now(cls, clock: Clock) -> "Started":
        return cls(clock.now(), clock.monotonic())


def sum_costs(calls: Iterable[CallRecord]) -> float | Absent:
    """Return the total cost of LLM requests in US dollars, or Absent if a model's price is unknown."""
    costs = [(call.model, call.cost_usd) for call in calls]
    unknown = sorted({model for model, cost in costs if cost is None})
    if unknown:
        return Absent(reason=f"No price is configured for {', '.join(unknown)}.")
    return round(sum(cost for _, cost in costs if cost is not None), 6)


def sum_journal_costs(journal: Journal) -> float | Absent:
    """Return the total cost, in US dollars, of the journal's LLM requests that were not answered from the cache. Absent
    if a model's price is unknown, or if a request failed after being sent."""
    if any(faults for _, faults in journal.failed_calls):
        return Absent(reason="An LLM request failed, and the cost of its attempts is recorded only in the ledger.")
    return sum_costs(call for call in journal.calls if not call.cached)


def measure_usage(run: Run, started: Started) -> RunUsage:
    paid_calls = [call for call in run.journal.calls if not call.cached]
    return RunUsage(
        started_at=started.at,
        wall_seconds=round(run.clock.monotonic() - started.monotonic, 3),
        llm_requests_paid=len(paid_calls),
        llm_requests_cached=sum(call.cached for call in run.journal.calls),
        paid_usd=_compute_paid_usd(run),
        tokens=count_tokens_by_task(paid_calls),
    )


def count_tokens_by_task(calls: Iterable[CallRecord]) -> tuple[TaskTokens, ...]:
    """Return the tokens used by each task, sorted by prompt tokens, most first."""
    by_task = defaultdict[str, list[CallRecord]](list)
    for call in calls:
        by_task[call.task].append(call)
    task_tokens = [
        TaskTokens(
            task=task,
            llm_requests=len(task_calls),
            prompt_tokens=sum(call.prompt_tokens for call in task_calls),
            cached_prompt_tokens=sum(call.cached_prompt_tokens for call in task_calls),
            completion_tokens=sum(call.completion_tokens for call in task_calls),
        )
        for task, task_calls in by_task.items()
    ]
    return tuple(sorted(task_tokens, key=lambda item: (-item.prompt_tokens, item.task)))


def _compute_paid_usd(run: Run) -> float | Absent:
    """Return the amount charged to the budget, including answers that could not be used."""
    cost = sum_costs(call for call in run.journal.calls if not call.cached)
    if isinstance(cost, Absent):
        return cost
    if run.budget.has_unknown_cost:
        return Absent(reason="No price is configured for a model whose answers could not be used.")
    return round(run.budget.spent_usd, 6)
