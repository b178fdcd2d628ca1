"""Counts valid answers by task, from the ledger of language model requests."""

from collections.abc import Iterator, Sequence
from typing import Any

from pydantic import TypeAdapter

from assayer.models import Frozen
from cluster.database import open_database
from cluster.settings import Settings

_QUERY = """
SELECT task, count(*) FILTER (WHERE outcome <> 'cancelled') AS asked,
       count(*) FILTER (WHERE outcome = 'answered' AND jsonb_array_length(faults) = 0) AS first,
       count(*) FILTER (WHERE outcome = 'answered') AS answered,
       count(*) FILTER (WHERE outcome = 'cancelled') AS interrupted,
       sum(prompt_tokens)::bigint AS prompt_tokens, sum(completion_tokens)::bigint AS completion_tokens,
       sum(latency_seconds) / 60 AS minutes
FROM ledger WHERE NOT cached GROUP BY task ORDER BY task
"""


class TaskAnswers(Frozen):
    task: str
    asked: int
    """Requests that ended, with or without a valid answer."""
    first: int
    """Requests whose first answer was valid."""
    answered: int
    """Requests with a valid answer, at the first attempt or after repair."""
    interrupted: int
    """Requests in progress when the run was stopped."""
    prompt_tokens: int
    completion_tokens: int
    minutes: float
    """Sum of the requests' durations; several run at a time."""


async def count_answers(settings: Settings) -> list[TaskAnswers]:
    """Return the counts of the ledger in the data directory of the settings."""
    async with open_database(settings) as database:
        rows: list[Any] = await database.run(lambda connection: connection.fetch(_QUERY))
    return TypeAdapter(list[TaskAnswers]).validate_python([dict(row) for row in rows])


def format_answers(tasks: Sequence[TaskAnswers]) -> Iterator[str]:
    yield "| task | asked | valid at first | after repair | interrupted | tokens read | written | minutes |"
    yield "|---|---|---|---|---|---|---|---|"
    for task in tasks:
        counts = f"{task.asked} | {task.first} | {task.answered} | {task.interrupted}"
        tokens = f"{task.prompt_tokens:,} | {task.completion_tokens:,}"
        yield f"| `{task.task}` | {counts} | {tokens} | {task.minutes:.1f} |"
