"""Why a job waits: the first reason that has to go away."""

from typing import Any

import pytest

from orchestrator.jobs.fair_scheduler import QueuePosition, explain_wait

FIRST_POSITION = QueuePosition(
    seconds=0,
    ahead=0,
    running=0,
    max_running=None,
    max_usd=1.0,
    monthly_usd=None,
    spent_usd=0,
    reserved_usd=0,
)


@pytest.mark.parametrize(
    ("changes", "reason"),
    [
        ({}, "It starts when a worker is free"),
        ({"ahead": 1200}, "ahead of it in the queue: 1,200"),
        ({"seconds": 41.6, "ahead": 3}, "The next one can start in 42 s"),
        ({"running": 4, "max_running": 4, "ahead": 3}, "limit of running jobs (4 running)"),
        ({"running": 3, "max_running": 4}, "It starts when a worker is free"),
        ({"monthly_usd": 5.0, "spent_usd": 3.0, "reserved_usd": 1.0}, "It starts when a worker is free"),
        ({"monthly_usd": 5.0, "spent_usd": 3.0, "reserved_usd": 1.5}, "may cost 1 USD, but only 0.50 USD remains"),
        (
            {"monthly_usd": 5.0, "spent_usd": 6.0, "max_usd": None},
            "no cost limit, but only 0.00 USD remains",
        ),
        ({"monthly_usd": 5.0, "spent_usd": 4.9, "max_usd": None}, "It starts when a worker is free"),
    ],
)
def test_waiting_reason_includes_its_figures(changes: dict[str, Any], reason: str) -> None:
    assert reason in explain_wait(FIRST_POSITION._replace(**changes))
