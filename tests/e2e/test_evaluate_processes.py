"""`assayer evaluate` in several processes: the same reports, and a process that dies costs nothing."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from simulator.process import Simulator
from tests.e2e.program import IDEAS, Homes, Program, compared, reports, simulator
from tests.fork_server import Piped
from tests.polling import LONGEST_SECONDS, wait_until

pytestmark = pytest.mark.slow

NAMES = ["coral-acoustics", "pairwise-idea-ranking", "quote-then-abstain"]


def evaluators(process: Piped) -> list[psutil.Process]:
    try:
        found = psutil.Process(process.pid).children()
        return [item for item in found if any("spawn_main" in word for word in item.cmdline())]
    except psutil.Error:
        return []


def ended(process: Piped) -> tuple[int, str]:
    with process:
        _, err = process.communicate(timeout=LONGEST_SECONDS)
    return process.wait(), err


def in_two(program: Program) -> Program:
    return program.having(EVALUATION__PROCESSES=2)


@contextmanager
def under_way(program: Program, answered: int, latency: float = 0.5) -> Iterator[tuple[Piped, Simulator]]:
    """An evaluation in two processes that has more than so many answers."""
    with simulator(latency_mean=latency) as simulated:
        process = in_two(program.asking(simulated)).start("evaluate", IDEAS, "--format", "json")
        wait_until(lambda: simulated.read_stats().answered > answered)
        yield process, simulated


def test_two_processes_write_the_same_reports_as_a_single_process(homes: Homes) -> None:
    program = homes.fresh("processes")
    with simulator(latency_mean=0.02) as simulated:
        asking = program.asking(simulated)
        second = in_two(asking).run("evaluate", IDEAS, "--format", "json", "--out", "two")
        paid = simulated.read_stats().answered
        first = asking.run("evaluate", IDEAS, "--format", "json", "--out", "one")
        assert simulated.read_stats().answered == paid
    assert [(item.code, item.err) for item in (first, second)] == [(0, "")] * 2
    assert first.out.replace("one/", "two/") == second.out
    assert compared(program.home / "two") == compared(program.home / "one")
    assert sorted(reports(program.home / "two")) == NAMES


def test_reports_survive_a_killed_worker_and_few_requests_are_repeated(homes: Homes) -> None:
    program = homes.fresh("processes-killed")
    with under_way(program, 10, latency=0.2) as (process, simulated):
        first, other = evaluators(process)
        first.kill()
        code, err = ended(process)
        assert (code, err) == (0, "")
        assert sorted(reports(program.out)) == NAMES
        assert not other.is_running()
        answered = simulated.read_stats().answered
        kept = program.rows("SELECT count(*) FROM answers")[0][0]
    assert answered - kept <= 40  # what was on its way when it was killed


def test_second_worker_crash_fails_run_with_instructions(homes: Homes) -> None:
    with under_way(homes.fresh("processes-killed-all"), 5) as (process, _):
        first = evaluators(process)
        first[0].kill()
        wait_until(lambda: len([evaluator for evaluator in evaluators(process) if evaluator not in first]) == 2)
        evaluators(process)[0].kill()
        code, err = ended(process)
    assert code == 2
    assert len(err.splitlines()) == len(NAMES)
    assert all("ended unexpectedly" in line and "Run the same command again" in line for line in err.splitlines())


def test_ctrl_c_stops_all_workers(homes: Homes) -> None:
    with under_way(homes.fresh("processes-interrupted"), 5) as (process, _):
        started = evaluators(process)
        for pid in (*(item.pid for item in started), process.pid):  # as a terminal does
            os.kill(pid, signal.SIGINT)
        code, err = ended(process)
    assert len(started) == 2
    assert code == 130
    assert "run the same command to continue" in err
    assert not any(item.is_running() for item in started)


def test_workers_stop_when_parent_is_killed(homes: Homes) -> None:
    with under_way(homes.fresh("processes-orphaned"), 5) as (process, _):
        started = evaluators(process)
        process.kill()
        ended(process)
        assert len(started) == 2
        wait_until(lambda: not any(item.is_running() for item in started))


def test_rejected_api_key_stops_run_before_first_evaluation(homes: Homes) -> None:
    program = homes.fresh("processes-refused")
    with simulator(api_key="another") as simulated:
        refused = in_two(program.asking(simulated)).run("evaluate", IDEAS)
    assert refused.code == 2
    assert len(refused.err.splitlines()) == 1
    assert "API_KEY" in refused.err
    assert not program.out.exists() or not list(program.out.glob("*.json"))


def test_metrics_with_several_processes_are_rejected_with_explanation(homes: Homes) -> None:
    refused = in_two(homes.fresh("processes-metrics").having(METRICS__PORT=0)).run("evaluate", IDEAS)
    assert (refused.code, refused.out) == (2, "")
    assert "ASSAYER_EVALUATION__PROCESSES=1" in refused.err
    assert len(refused.err.splitlines()) == 1
