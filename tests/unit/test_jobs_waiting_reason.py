"""Why a job waits: the first reason that has to go away."""

from typing import Any

import pytest

from orchestrator.jobs.fair_scheduler import QueuePosition, waiting_reason

NEXT = QueuePosition(
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
    ("changes", "said"),
    [
        ({}, "It begins when there is room"),
        ({"ahead": 1200}, "1,200 others of your organisation come first"),
        ({"seconds": 41.6, "ahead": 3}, "The next attempt is in 42 s"),
        ({"running": 4, "max_running": 4, "ahead": 3}, "4 others of your organisation are under way"),
        ({"running": 3, "max_running": 4}, "It begins when there is room"),
        ({"monthly_usd": 5.0, "spent_usd": 3.0, "reserved_usd": 1.0}, "It begins when there is room"),
        ({"monthly_usd": 5.0, "spent_usd": 3.0, "reserved_usd": 1.5}, "may cost 1 USD, and 0.50 USD are left"),
        ({"monthly_usd": 5.0, "spent_usd": 6.0, "max_usd": None}, "no limit of its own, and 0.00 USD are left"),
        ({"monthly_usd": 5.0, "spent_usd": 4.9, "max_usd": None}, "It begins when there is room"),
    ],
)
def test_waiting_reason_includes_its_figures(changes: dict[str, Any], said: str) -> None:
    assert said in waiting_reason(NEXT._replace(**changes))
