"""`assayer serve --ray` as operators start it: one verdict for every job, whichever of its processes is killed."""

import asyncio
import re
import signal
import tempfile
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import psutil
import pytest

from cluster.database import open_database
from cluster.settings import Settings
from orchestrator.jobs.models import JobId, TenantId
from orchestrator.store import PgJobs
from simulator.process import Simulator
from tests.cluster.processes import find_replica, list_child_processes
from tests.cluster.running import ENDED, Running, run_service
from tests.corpus_papers import ON_TOPIC
from tests.polling import wait_until

MOST_PROCESSES = 10
"""Maximum number of processes of Ray, Serve and the service together, on a laptop."""


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator(latency_mean=0.3) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def home() -> Iterator[Path]:
    # Not pytest's own temporary directory: as root the database's server runs as a user who may not pass through it.
    with tempfile.TemporaryDirectory(prefix="assayer-served-") as folder:
        yield Path(folder)


@pytest.fixture(scope="module")
def service(simulator: Simulator, home: Path) -> Iterator[Running]:
    settings = {
        "ASSAYER_LLM__BASE_URL": simulator.base_url,
        "ASSAYER_LLM__MODEL": "simulated",
        "ASSAYER_SERVING__HEALTH_SECONDS": "2",
        "ASSAYER_WORK__DRAIN_SECONDS": "1",
    }
    with run_service(home, settings) as service:
        yield service


def test_start_says_which_pools_are_up(service: Running, home: Path) -> None:
    log_lines = (home / "serve.log").read_text("utf-8").splitlines()
    assert any(line.startswith("Starting Ray") for line in log_lines)
    *_, last = (line for line in log_lines if line.startswith("Starting the service: "))
    assert last == "Starting the service: evaluator (1 of 1)."
    assert service.process.poll() is None


def test_service_and_ray_stay_within_the_process_limit(service: Running) -> None:
    def list_titles() -> list[str]:
        processes = (service.process.pid, *(item.pid for item in list_child_processes(service.process.pid)))
        return [" ".join(psutil.Process(pid).cmdline()) for pid in processes if psutil.pid_exists(pid)]

    # A worker that Ray began and needed no more goes by itself.
    wait_until(list_titles, lambda answer: len(answer) <= MOST_PROCESSES, interval=0.5)
    assert find_replica(service.process.pid, "evaluator") is not None
    assert find_replica(service.process.pid, "ingress") is None


def test_ray_service_answers_corpus_search_and_readiness(service: Running) -> None:
    status, answer = service.ask("GET", "/v1/corpus/search?q=bees&limit=3")
    assert status == 200, answer
    assert len(answer["answers"][0]["hits"]) == 3
    status, ready = service.ask("GET", "/readyz")
    assert status == 200, ready


def test_evaluation_succeeds_after_its_evaluator_is_killed(service: Running) -> None:
    job = service.submit(f"Idea that outlives it. {ON_TOPIC}")
    service.wait_for(job, ENDED | {"running"})
    process = find_replica(service.process.pid, "evaluator")
    assert process is not None
    process.send_signal(signal.SIGKILL)
    assert service.wait_until_ended(job) == "succeeded"
    status, report = service.ask("GET", f"/v1/evaluations/{job}/report")
    assert status == 200
    assert report["idea"]["text"].startswith("Idea that outlives it.")


def test_metrics_combine_api_and_evaluator_counters(service: Running) -> None:
    status, text = service.ask("GET", "/metrics")
    assert status == 200
    assert re.search(rb"^assayer_llm_request_seconds_count\S* [1-9]", text, re.MULTILINE), "counted by evaluators"
    assert re.search(rb"^assayer_http_requests_total\S* [1-9]", text, re.MULTILINE), "counted where it is asked"


@pytest.mark.slow
def test_stored_rewards_survive_the_death_of_their_evaluator(service: Running, simulator: Simulator) -> None:
    idea = "Wild bees are counted along hedgerows over {} summers, on farms with and without flower strips."
    abstract = "Nest boxes were hung at half of forty farms, and flower strips sown at the other half, by lot."
    item = {"question": "What limits wild bees on farmland?", "abstract": abstract}
    items = [{**item, "idea": idea.format(number)} for number in range(2, 62)]
    simulator.configure(latency_mean=1.0)
    status, accepted = service.ask("POST", "/v1/rewards", {"items": items})
    assert status == 202, accepted

    def get_rewards() -> dict[str, Any]:
        status, rewards_answer = service.ask("GET", accepted["links"]["job"])
        return rewards_answer if status == 200 else {"items": [], "state": ""}

    before = wait_until(get_rewards, lambda entry: len(entry["items"]) > 0, interval=0.1)
    process = find_replica(service.process.pid, "evaluator")
    assert process is not None
    process.send_signal(signal.SIGKILL)
    simulator.configure(latency_mean=0.3)
    rewards = wait_until(get_rewards, lambda entry: entry["state"] in ENDED, interval=0.2)
    assert (rewards["state"], rewards["attempt"] > 1) == ("succeeded", True)
    assert [entry["item"] for entry in rewards["items"]] == list(range(60))
    assert all(entry["reward"]["value"] in (0, 1) for entry in rewards["items"])
    assert [rewards["items"][entry["item"]] for entry in before["items"]] == before["items"]


def test_stopped_service_requeues_unfinished_jobs_and_leaves_no_processes(
    service: Running, simulator: Simulator, home: Path
) -> None:
    simulator.configure(latency_mean=600.0)
    job = service.submit(f"Idea for later. {ON_TOPIC}")
    service.wait_for(job, {"running"})
    children = list_child_processes(service.process.pid)
    service.process.send_signal(signal.SIGTERM)
    assert service.process.wait(120) == 0
    _, alive = psutil.wait_procs(children, timeout=60)
    assert [process.cmdline() for process in alive] == []
    assert asyncio.run(_get_stored_state(home, JobId(job))) == "queued"


async def _get_stored_state(home: Path, job: JobId) -> str:
    async with open_database(Settings(home=home)) as database:
        stored_job = await PgJobs(database).get(TenantId("default"), job)
    return stored_job.state if stored_job is not None else ""
