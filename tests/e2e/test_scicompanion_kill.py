"""SciCompanion killed in the middle and started again: what was answered is not asked again."""

import os
import signal
from typing import Any, NamedTuple

import pytest

from simulator.counters import Stats
from tests.e2e.evaluations import TWO_IDEAS
from tests.e2e.program import Homes, compared, reports, simulator
from tests.polling import wait_until

pytestmark = pytest.mark.slow


class Resumed(NamedTuple):
    killed: Stats
    """Counts of the simulator at the kill."""
    stats: Stats
    """And at the end."""
    report: dict[str, Any]
    paid: list[Any]
    """Keys of the answers in the ledger that were paid for."""


@pytest.fixture(scope="module")
def resumed(homes: Homes) -> Resumed:
    program = homes.fresh("companion")
    command = ("evaluate", TWO_IDEAS[0], "--method", "scicompanion", "--format", "json")
    with simulator(latency_mean=0.4) as simulated:
        asking = program.asking(simulated)
        process = asking.start(*command)
        wait_until(lambda: simulated.stats().answered >= 3 and simulated.stats().in_flight > 0)
        os.kill(process.pid, signal.SIGKILL)
        with process:
            process.communicate()
        wait_until(lambda: simulated.stats().in_flight == 0)
        killed = simulated.stats()
        ended = asking.run(*command)
        assert ended.code == 0, ended.err
        stats = simulated.stats()
        first = compared(program.out)
        (report,) = reports(program.out).values()
        again = asking.run(*command, "--out", "again")
        assert again.code == 0, again.err
        assert simulated.stats().answered == stats.answered
    assert compared(program.home / "again") == first
    paid = program.rows("SELECT key FROM ledger WHERE outcome = 'answered' AND NOT cached")
    return Resumed(killed, stats, report, paid)


def test_only_request_in_flight_at_crash_is_repeated(resumed: Resumed) -> None:
    usage = resumed.report["usage"]
    assert len({row["key"] for row in resumed.paid}) == usage["llm_calls_paid"] + usage["llm_calls_cached"]
    assert resumed.stats.repeated_prompts == resumed.stats.answered - len(resumed.paid) <= 1
    assert usage["llm_calls_cached"] >= resumed.killed.answered - 1 >= 2


def test_resumed_evaluation_makes_at_most_12_paid_calls(resumed: Resumed) -> None:
    assert len(resumed.paid) <= 12
