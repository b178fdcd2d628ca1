"""`assayer serve` as its users run it: killed, started again, told to stop."""

import json
import signal
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import pytest
from httpx2 import Client

from simulator.counters import Stats
from tests.e2e.program import IDEAS, Homes, Program, run_simulator
from tests.fork_server import Piped
from tests.polling import LONGEST_SECONDS, wait_until

_TERMINAL = {"succeeded", "failed", "cancelled"}
_ANSWERED_BEFORE_KILL = 4
"""Answers before the kill: too few to end an evaluation, as a killed process loses what it has not logged."""


class ServedRun(NamedTuple):
    """Two evaluations survive the kill of the service; a third is under way when it is told to stop."""

    key: str
    """Secret of the first key."""
    first_lines: list[str]
    lines_again: list[str]
    survivors: list[dict[str, Any]]
    reports: list[dict[str, Any]]
    verdicts: list[int]
    """Events that end a job, for each of them."""
    stats: Stats
    """When both had ended."""
    at_the_kill: Stats
    code: int
    """Exit code of the process that was asked to stop."""
    interrupted: tuple[str, int]
    """State of the third, and how many leases are left, after that."""
    ids: list[str]
    log: str
    """Log of both processes."""
    told_at_the_end: str
    """Standard error of the second process."""


def _start(program: Program, lines: int) -> tuple[Piped, list[str]]:
    """The process and what it says until it listens."""
    process = program.start("serve", "--port", 0)
    assert process.stdout is not None
    output_lines = [process.stdout.readline().strip() for _ in range(lines)]
    if "listens" not in output_lines[-1]:
        process.kill()
        pytest.fail(f"It said {output_lines}, and then: {process.communicate()}")
    return process, output_lines


@contextmanager
def _kill_afterwards(process: Piped) -> Iterator[None]:
    """Killed if it still runs, also when a test fails: leaving the process alone would wait for its end."""
    with process:
        try:
            yield
        finally:
            process.kill()


def _connect(line: str, key: str) -> Client:
    return Client(base_url=line.rsplit(" ", 1)[1], headers={"Authorization": f"Bearer {key}"}, timeout=30)


def _submit(client: Client, text: str) -> str:
    answer = client.post("/v1/evaluations", json={"idea": {"text": text}})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def _wait_until_ended(client: Client, id: str) -> dict[str, Any]:
    evaluation: dict[str, Any] = wait_until(
        lambda: client.get(f"/v1/evaluations/{id}").json(), lambda item: item["state"] in _TERMINAL, interval=0.2
    )
    return evaluation


@pytest.fixture(scope="module")
def served_run(homes: Homes) -> ServedRun:
    program = homes.create_home("served")
    texts = [file.read_text("utf-8") for file in sorted(IDEAS.iterdir()) if file.suffix in {".txt", ".md"}]
    another = "\n\n".join(json.loads((IDEAS / "pairwise-idea-ranking.json").read_text("utf-8")).values())
    with run_simulator(latency_mean=0.2) as simulated:
        program = program.with_simulator(simulated).with_settings(QUEUE__LEASE_SECONDS=3, WORK__DRAIN_SECONDS=0)
        log = program.home / "log.jsonl"
        program = program.with_settings(LOG__FILE=log)
        process, first_lines = _start(program, 2)
        key_file = Path(first_lines[0].rsplit(" ", 1)[1])
        assert key_file.stat().st_mode & 0o777 == 0o600
        key = key_file.read_text("utf-8").strip()
        with _kill_afterwards(process):
            with _connect(first_lines[1], key) as client:
                ids = [_submit(client, text) for text in texts[:2]]
            wait_until(simulated.read_stats, lambda stats: stats.answered >= _ANSWERED_BEFORE_KILL)
            process.kill()
        at_the_kill = simulated.read_stats()
        process, again = _start(program, 1)
        with _kill_afterwards(process), _connect(again[0], key) as client:
            survivors = [_wait_until_ended(client, id) for id in ids]
            stats = simulated.read_stats()
            reports = [client.get(f"/v1/evaluations/{id}/report").json() for id in ids]
            third = _submit(client, another)
            wait_until(simulated.read_stats, lambda now: now.answered > stats.answered)
            process.send_signal(signal.SIGTERM)
            _, err = process.communicate(timeout=LONGEST_SECONDS)
        endings = {
            row["job"]: row["endings"]
            for row in program.fetch_rows(
                "SELECT job, count(*) AS endings FROM events WHERE kind IN ('succeeded', 'failed', 'cancelled') "
                "GROUP BY job"
            )
        }
        remaining_jobs = program.fetch_rows(f"SELECT state, lease FROM jobs WHERE id = '{third}'")  # noqa: S608 - our own id
    return ServedRun(
        key=key,
        first_lines=first_lines,
        lines_again=again,
        survivors=survivors,
        reports=reports,
        verdicts=[endings.get(id, 0) for id in ids],
        stats=stats,
        at_the_kill=at_the_kill,
        code=process.wait(),
        told_at_the_end=err,
        interrupted=(remaining_jobs[0]["state"], sum(row["lease"] is not None for row in remaining_jobs)),
        ids=ids,
        log=log.read_text("utf-8"),
    )


def test_shutdown_message_counts_running_jobs(served_run: ServedRun) -> None:
    assert "for 1 running job to finish" in " ".join(served_run.told_at_the_end.split())


def test_first_start_writes_key_to_private_file_and_prints_address(served_run: ServedRun) -> None:
    assert "default" in served_run.first_lines[0]
    assert "ak_" not in "".join(served_run.first_lines)
    assert served_run.first_lines[1].startswith("assayer listens at http://127.0.0.1:")
    assert served_run.lines_again[0].startswith("assayer listens at http://127.0.0.1:")


def test_restarted_service_completes_each_interrupted_evaluation_with_a_single_verdict(served_run: ServedRun) -> None:
    assert [survivor["state"] for survivor in served_run.survivors] == ["succeeded", "succeeded"]
    assert served_run.verdicts == [1, 1]
    assert all(report["parts"] for report in served_run.reports)


def test_only_calls_in_flight_at_the_kill_are_paid_twice(served_run: ServedRun) -> None:
    assert served_run.at_the_kill.answered >= _ANSWERED_BEFORE_KILL
    assert served_run.stats.repeated_prompts <= served_run.at_the_kill.peak_in_flight
    assert sum(report["usage"]["llm_requests_cached"] for report in served_run.reports) > 0


def test_stopped_service_requeues_running_job_and_exits_cleanly(served_run: ServedRun) -> None:
    assert served_run.code == 0
    assert served_run.interrupted == ("queued", 0)


def test_occupied_port_is_reported(homes: Homes) -> None:
    from cluster.listening import open_listening_socket

    program = homes.create_home("taken")
    with open_listening_socket("127.0.0.1", 0) as listening:
        port = listening.getsockname()[1]
        result = program.run("serve", "--port", port)
    assert result.code == 2
    assert f"127.0.0.1, port {port}" in result.err


def test_ray_address_is_rejected_when_ray_is_disabled(homes: Homes) -> None:
    result = homes.create_home("both").run("serve", "--no-ray", "--address", "127.0.0.1:6379")
    assert (result.code, "cannot be combined" in result.err) == (2, True)


def test_log_names_every_evaluation_without_proposal_text_or_keys(served_run: ServedRun) -> None:
    lines = [json.loads(line) for line in served_run.log.splitlines()]
    for id in served_run.ids:
        messages = {line["message"] for line in lines if line.get("job") == id}
        assert f"job {id}: succeeded" in messages
    access_lines = [line for line in lines if line["logger"] == "assayer.access" and line.get("jobs")]
    assert {tuple(line["jobs"]) for line in access_lines} >= {(id,) for id in served_run.ids}
    assert all(line["tenant"] == "default" and line["request_id"] for line in access_lines)
    texts = [report["idea"]["text"] for report in served_run.reports]
    words = [text[start : start + 40] for text in texts for start in range(0, len(text) - 40, 40)]
    assert not [some for some in words if some in served_run.log]
    assert served_run.key[-20:] not in served_run.log  # the secret part; the id of the key is logged
