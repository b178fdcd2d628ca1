"""`assayer evaluate` in several processes: the same reports, and a process that dies costs nothing."""

import os
import signal
from collections.abc import Iterator
from contextlib import contextmanager

import psutil
import pytest

from simulator.process import Simulator
from tests.e2e.program import IDEAS, Homes, Program, read_comparable_reports, read_reports, run_simulator
from tests.fork_server import Piped
from tests.polling import LONGEST_SECONDS, wait_until

pytestmark = pytest.mark.slow

NAMES = ["coral-acoustics", "pairwise-idea-ranking", "quote-then-abstain"]


def list_evaluator_processes(process: Piped) -> list[psutil.Process]:
    try:
        children = psutil.Process(process.pid).children()
        return [item for item in children if any("spawn_main" in word for word in item.cmdline())]
    except psutil.Error:
        return []


def wait_for_end(process: Piped) -> tuple[int, str]:
    with process:
        _, err = process.communicate(timeout=LONGEST_SECONDS)
    return process.wait(), err


def use_two_processes(program: Program) -> Program:
    return program.with_settings(EVALUATION__PROCESSES=2)


@contextmanager
def run_until_answered(program: Program, min_answers: int, latency: float = 0.5) -> Iterator[tuple[Piped, Simulator]]:
    """An evaluation in two processes that has more than so many answers."""
    with run_simulator(latency_mean=latency) as simulated:
        process = use_two_processes(program.with_simulator(simulated)).start("evaluate", IDEAS, "--format", "json")
        wait_until(lambda: simulated.read_stats().answered > min_answers)
        yield process, simulated


def test_two_processes_write_the_same_reports_as_a_single_process(homes: Homes) -> None:
    program = homes.create_home("processes")
    with run_simulator(latency_mean=0.02) as simulated:
        simulated_program = program.with_simulator(simulated)
        second = use_two_processes(simulated_program).run("evaluate", IDEAS, "--format", "json", "--out", "two")
        paid = simulated.read_stats().answered
        first = simulated_program.run("evaluate", IDEAS, "--format", "json", "--out", "one")
        assert simulated.read_stats().answered == paid
    assert [(item.code, item.err) for item in (first, second)] == [(0, "")] * 2
    assert first.out.replace("one/", "two/") == second.out
    assert read_comparable_reports(program.home / "two") == read_comparable_reports(program.home / "one")
    assert sorted(read_reports(program.home / "two")) == NAMES


def test_reports_survive_a_killed_worker_and_few_requests_are_repeated(homes: Homes) -> None:
    program = homes.create_home("processes-killed")
    with run_until_answered(program, 10, latency=0.2) as (process, simulated):
        first, second = list_evaluator_processes(process)
        first.kill()
        code, err = wait_for_end(process)
        assert (code, err) == (0, "")
        assert sorted(read_reports(program.out)) == NAMES
        assert not second.is_running()
        answered_count = simulated.read_stats().answered
        stored_count = program.fetch_rows("SELECT count(*) FROM answers")[0][0]
    assert answered_count - stored_count <= 40  # what was on its way when it was killed


def test_second_worker_crash_fails_run_with_instructions(homes: Homes) -> None:
    with run_until_answered(homes.create_home("processes-killed-all"), 5) as (process, _):
        first = list_evaluator_processes(process)
        first[0].kill()
        wait_until(
            lambda: len([evaluator for evaluator in list_evaluator_processes(process) if evaluator not in first]) == 2
        )
        list_evaluator_processes(process)[0].kill()
        code, err = wait_for_end(process)
    assert code == 2
    assert len(err.splitlines()) == len(NAMES)
    assert all("ended unexpectedly" in line and "Run the same command again" in line for line in err.splitlines())


def test_ctrl_c_stops_all_workers(homes: Homes) -> None:
    with run_until_answered(homes.create_home("processes-interrupted"), 5) as (process, _):
        processes = list_evaluator_processes(process)
        for pid in (*(item.pid for item in processes), process.pid):  # as a terminal does
            os.kill(pid, signal.SIGINT)
        code, err = wait_for_end(process)
    assert len(processes) == 2
    assert code == 130
    assert "run the same command to continue" in err
    assert not any(item.is_running() for item in processes)


def test_workers_stop_when_parent_is_killed(homes: Homes) -> None:
    with run_until_answered(homes.create_home("processes-orphaned"), 5) as (process, _):
        processes = list_evaluator_processes(process)
        process.kill()
        wait_for_end(process)
        assert len(processes) == 2
        wait_until(lambda: not any(item.is_running() for item in processes))


def test_rejected_api_key_stops_run_before_first_evaluation(homes: Homes) -> None:
    program = homes.create_home("processes-refused")
    with run_simulator(api_key="another") as simulated:
        refusal = use_two_processes(program.with_simulator(simulated)).run("evaluate", IDEAS)
    assert refusal.code == 2
    assert len(refusal.err.splitlines()) == 1
    assert "API_KEY" in refusal.err
    assert not program.out.exists() or not list(program.out.glob("*.json"))


def test_metrics_with_several_processes_are_rejected_with_explanation(homes: Homes) -> None:
    refusal = use_two_processes(homes.create_home("processes-metrics").with_settings(METRICS__PORT=0)).run(
        "evaluate", IDEAS
    )
    assert (refusal.code, refusal.out) == (2, "")
    assert "ASSAYER_EVALUATION__PROCESSES=1" in refusal.err
    assert len(refusal.err.splitlines()) == 1
