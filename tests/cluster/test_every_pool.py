"""A service with every pool, under growing load, under overload, and with two stop signals."""

import signal
import subprocess
import tempfile
from collections.abc import Iterator
from concurrent.futures import ThreadPoolExecutor
from contextlib import ExitStack
from http.client import HTTPConnection
from pathlib import Path
from urllib.parse import urlsplit

import psutil
import pytest

from simulator.outside.process import OutsideWorld
from simulator.process import Simulator
from tests.cluster.processes import find_replicas, list_child_processes
from tests.cluster.running import ENDED, Running, run_service
from tests.contract.reranking_model import create_small_model
from tests.corpus_papers import ON_TOPIC
from tests.e2e.program import build_full_text_settings, build_source_settings
from tests.polling import wait_until

pytestmark = pytest.mark.slow

POOLS = {"ingress", "evaluator", "embedder", "reranker", "index", "literature", "full_texts"}
MOST = 2
PLACES = 4
QUEUED = 0
"""Status of a request that has no answer while those before it have none."""


@pytest.fixture(scope="module")
def simulator() -> Iterator[Simulator]:
    with Simulator(latency_mean=0.05) as simulator:
        yield simulator


@pytest.fixture(scope="module")
def service(simulator: Simulator, tmp_path_factory: pytest.TempPathFactory) -> Iterator[Running]:
    model = create_small_model(tmp_path_factory.mktemp("reranker"))
    # Not pytest's own temporary directory: as root the database's server runs as a user who may not pass through it.
    with OutsideWorld(with_limits=False) as world, tempfile.TemporaryDirectory(prefix="assayer-served-") as folder:
        settings = {
            **build_source_settings(world),
            **build_full_text_settings(world),
            "CODE__ARCHIVE_URL": world.url("github/archive"),
            "LLM__BASE_URL": simulator.base_url,
            "LLM__MODEL": "simulated",
            "RERANKER__MODEL": str(model),
            **{f"SERVING__{pool.upper()}__REPLICAS": "1" for pool in POOLS},
            "SERVING__EVALUATOR__ONGOING": str(PLACES),
            "SERVING__EVALUATOR__MOST": str(MOST),
            "SERVING__BATCH_EVALUATOR__MOST": "1",
            "SERVING__GROW_SECONDS": "1",
            "SERVING__SHRINK_SECONDS": "5",
            "SERVING__INGRESS__ONGOING": "8",
            "SERVING__INGRESS__QUEUED": "1",
            "WORK__DRAIN_SECONDS": "300",
        }
        with run_service(Path(folder), {f"ASSAYER_{name}": value for name, value in settings.items()}) as service:
            yield service


def test_innoeval_evaluation_succeeds_on_dedicated_pools(service: Running) -> None:
    for pool in POOLS:
        assert len(find_replicas(service.process.pid, pool)) == 1, pool
    job = service.submit(ON_TOPIC, method="innoeval")
    assert service.wait_until_ended(job) == "succeeded"
    status, report = service.ask("GET", f"/v1/evaluations/{job}/report")
    assert status == 200
    used = {item["source"] for item in report["coverage"]["sources"] if item["requests"]}
    assert used >= {"semantic_scholar", "openalex"}
    assert any(item["operation"] == "full_texts" for item in report["coverage"]["sources"])


@pytest.mark.parametrize("pool", ["ingress", "index", "embedder"])
def test_evaluation_succeeds_after_a_pool_process_is_killed(service: Running, pool: str) -> None:
    job = service.submit(f"Idea for the {pool}. {ON_TOPIC}")
    service.wait_for(job, ENDED | {"running"})
    (process,) = find_replicas(service.process.pid, pool)
    process.send_signal(signal.SIGKILL)
    assert service.wait_until_ended(job) == "succeeded"
    status, report = service.ask("GET", f"/v1/evaluations/{job}/report")
    assert status == 200
    assert report["idea"]["text"].startswith(f"Idea for the {pool}.")


def test_overloaded_service_returns_503_with_retry_after(service: Running, simulator: Simulator) -> None:
    simulator.configure(latency_mean=600.0)
    job = service.submit(f"Watched by many. {ON_TOPIC}")
    place = urlsplit(service.address)

    connections = [HTTPConnection(place.hostname or "", place.port, timeout=20) for _ in range(24)]

    def watch(connection: HTTPConnection) -> tuple[int, str | None]:
        connection.request("GET", f"/v1/evaluations/{job}/events", headers={"Authorization": f"Bearer {service.key}"})
        try:
            response = connection.getresponse()
        except TimeoutError:
            return QUEUED, None
        return response.status, response.getheader("Retry-After")

    with ExitStack() as stack, ThreadPoolExecutor(len(connections)) as pool:
        for connection in connections:
            stack.callback(connection.close)
        answers = list(pool.map(watch, connections))
    refusals = [after for status, after in answers if status == 503]
    assert refusals
    assert all(after is not None and int(after) > 0 for after in refusals)
    assert {status for status, _ in answers} <= {200, QUEUED, 503}
    simulator.configure(latency_mean=0.05)


def test_evaluator_pool_scales_up_while_slots_are_full(service: Running, simulator: Simulator) -> None:
    simulator.configure(latency_mean=3.0)
    jobs = [service.submit(f"Idea number {number}. {ON_TOPIC}") for number in range(3 * PLACES)]
    wait_until(
        lambda: len(find_replicas(service.process.pid, "evaluator")), lambda number: number >= MOST, interval=0.5
    )
    simulator.configure(latency_mean=0.05)
    assert [service.wait_until_ended(job) for job in jobs] == ["succeeded"] * len(jobs)


def test_batch_evaluator_pool_scales_up_for_a_batch_and_back_to_zero(service: Running, simulator: Simulator) -> None:
    def count_evaluators() -> int:
        return len(find_replicas(service.process.pid, "batch_evaluator"))

    assert count_evaluators() == 0
    simulator.configure(latency_mean=3.0)
    job = [service.submit(f"Row {number}. {ON_TOPIC}", priority="batch") for number in range(4 * PLACES)]
    wait_until(count_evaluators, lambda number: number == 1, interval=0.5)
    simulator.configure(latency_mean=0.05)
    assert [service.wait_until_ended(item) for item in job] == ["succeeded"] * len(job)
    wait_until(count_evaluators, lambda number: number == 0, interval=0.5)


def test_second_stop_signal_ends_the_service_immediately(service: Running, simulator: Simulator) -> None:
    simulator.configure(latency_mean=600.0)
    job = service.submit(f"Idea that nobody waits for. {ON_TOPIC}")
    service.wait_for(job, ENDED | {"running"})
    children = list_child_processes(service.process.pid)
    service.process.send_signal(signal.SIGTERM)
    with pytest.raises(subprocess.TimeoutExpired):
        service.process.wait(5)
    service.process.send_signal(signal.SIGTERM)
    assert service.process.wait(120) == 130
    _, alive = psutil.wait_procs(children, timeout=60)
    assert [process.cmdline() for process in alive] == []
