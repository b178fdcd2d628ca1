"""Evaluations killed in the middle and started again: what was answered is not asked again."""

import os
import signal
from typing import Any, NamedTuple

import pytest

from simulator.counters import Stats
from tests.e2e.evaluations import TWO_IDEAS
from tests.e2e.program import Homes, read_comparable_reports, read_reports, run_simulator
from tests.polling import wait_until

pytestmark = pytest.mark.slow


MOST_CALLS = {"review": 14, "scicompanion": 12}
"""Maximum number of paid requests by method."""


class ResumedRun(NamedTuple):
    method: str
    in_flight: int
    """Number of requests that were being answered at the kill."""
    killed: Stats
    """Counts of the simulator after the kill."""
    stats: Stats
    """And at the end."""
    report: dict[str, Any]
    paid: list[Any]
    """Keys of the answers in the ledger that were paid for."""


@pytest.fixture(scope="module", params=[*MOST_CALLS])
def resumed_run(homes: Homes, request: pytest.FixtureRequest) -> ResumedRun:
    program = homes.create_home(f"{request.param}-killed")
    command = ("evaluate", TWO_IDEAS[0], "--method", request.param, "--format", "json")
    with run_simulator(latency_mean=0.4) as simulated:
        simulated_program = program.with_simulator(simulated)
        process = simulated_program.start(*command)
        wait_until(lambda: simulated.read_stats().answered >= 3 and simulated.read_stats().in_flight > 0)
        in_flight = simulated.read_stats().in_flight
        os.kill(process.pid, signal.SIGKILL)
        with process:
            process.communicate()
        wait_until(lambda: simulated.read_stats().in_flight == 0)
        killed = simulated.read_stats()
        result = simulated_program.run(*command)
        assert result.code == 0, result.err
        stats = simulated.read_stats()
        first = read_comparable_reports(program.out)
        (report,) = read_reports(program.out).values()
        again = simulated_program.run(*command, "--out", "again")
        assert again.code == 0, again.err
        assert simulated.read_stats().answered == stats.answered
    assert read_comparable_reports(program.home / "again") == first
    paid = program.fetch_rows("SELECT key FROM ledger WHERE outcome = 'answered' AND NOT cached")
    return ResumedRun(request.param, in_flight, killed, stats, report, paid)


def test_only_requests_in_flight_at_crash_are_repeated(resumed_run: ResumedRun) -> None:
    usage = resumed_run.report["usage"]
    assert len({row["key"] for row in resumed_run.paid}) == usage["llm_requests_paid"] + usage["llm_requests_cached"]
    assert (
        resumed_run.stats.repeated_prompts
        == resumed_run.stats.answered - len(resumed_run.paid)
        <= resumed_run.in_flight
    )
    assert usage["llm_requests_cached"] >= resumed_run.killed.answered - resumed_run.in_flight >= 2


def test_resumed_evaluation_pays_for_no_more_requests_than_an_undisturbed_one(resumed_run: ResumedRun) -> None:
    assert len(resumed_run.paid) <= MOST_CALLS[resumed_run.method]
