"""`assayer serve` as operators start it: one verdict for every job, whichever of its processes is killed."""

import asyncio
import json
import os
import re
import signal
import subprocess
import sys
import tempfile
import time
from collections.abc import Iterator
from contextlib import closing
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

import psutil
import pytest

from benchmarks.simulator.process import Simulator
from cluster.database import open_database
from cluster.settings import Settings
from index import build_corpus
from orchestrator.jobs.models import JobId, TenantId
from orchestrator.store import PgJobs
from tests.cluster.processes import family, replica
from tests.corpus_papers import ON_TOPIC, RECORDS, write_jsonl
from workers.embedding import SentenceTransformerEmbedder
from workers.embedding_settings import EmbedderSettings

KINDS = ("evaluator", "llm", "dispatcher", "ingress", "index", "embedder")
JOB_SECONDS = 120.0
ENDED = {"done", "failed", "dead", "cancelled"}


class Running(NamedTuple):
    process: "subprocess.Popen[str]"
    address: str
    key: str

    def ask(self, verb: str, path: str, body: object = None) -> tuple[int, Any]:
        """(0, None) while nobody is there."""
        place = urlsplit(self.address)
        connection = HTTPConnection(place.hostname or "", place.port, timeout=20)
        headers = {"Authorization": f"Bearer {self.key}", "Idempotency-Key": uuid4().hex}
        if body is not None:
            headers["Content-Type"] = "application/json"
        try:
            connection.request(verb, path, None if body is None else json.dumps(body), headers)
            response = connection.getresponse()
            text = response.read()
        except OSError:
            return 0, None
        finally:
            connection.close()
        return response.status, json.loads(text) if text.startswith((b"{", b"[")) else text

    def submit(self, text: str) -> str:
        status, accepted = self.ask("POST", "/v1/evaluations", {"idea": {"text": text}})
        assert status == 202, accepted
        return str(accepted["id"])

    def state(self, job: str) -> str:
        """Empty while nobody can tell."""
        status, told = self.ask("GET", f"/v1/evaluations/{job}")
        return str(told["state"]) if status == 200 else ""

    def verdict(self, job: str) -> str:
        return self.wait_for(job, ENDED)

    def wait_for(self, job: str, states: set[str]) -> str:
        deadline = time.monotonic() + JOB_SECONDS
        while (state := self.state(job)) not in states:
            assert time.monotonic() < deadline, f"{job} is still {state or 'unknown'}"
            time.sleep(0.2)
        return state


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
    with closing(SentenceTransformerEmbedder(EmbedderSettings())) as embedder:
        papers = write_jsonl(home / "papers.jsonl", RECORDS)
        asyncio.run(build_corpus([papers], home / "corpus", embedder))
    environment = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAYER_", "RAY_"))} | {
        "HOME": str(home),
        "ASSAYER_HOME": str(home),
        "ASSAYER_LLM__BASE_URL": simulator.base_url,
        "ASSAYER_LLM__MODEL": "simulated",
        "ASSAYER_SERVING__HEALTH_SECONDS": "2",
        "ASSAYER_WORK__DRAIN_SECONDS": "1",
    }
    log = home / "serve.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [Path(sys.executable).with_name("assayer"), "serve", "--port", "0"],
            cwd=home,
            env=environment,
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            yield _started(process, log)
        finally:
            _stop(process)


def _started(process: "subprocess.Popen[str]", log: Path) -> Running:
    assert process.stdout is not None
    key = ""
    for line in process.stdout:
        key = line.split()[-1] if "key" in line else key
        if match := re.search(r"listens at (\S+)", line):
            return Running(process, match[1], key)
    raise AssertionError(f"The service did not start: {log.read_text()[-4000:]}")


def _stop(process: "subprocess.Popen[str]") -> None:
    """Everything that it started, however it ends."""
    alive = family(process.pid) if process.poll() is None else []
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
    psutil.wait_procs(alive, timeout=20)


@pytest.mark.timeout(600)
@pytest.mark.parametrize("kind", KINDS)
def test_job_ends_in_one_report_though_a_process_is_killed(service: Running, kind: str) -> None:
    job = service.submit(f"Idea for the {kind}. {ON_TOPIC}")
    service.wait_for(job, ENDED | {"running"})
    process = replica(service.process.pid, kind)
    assert process is not None, f"there is no {kind}"
    process.send_signal(signal.SIGKILL)
    assert service.verdict(job) == "done"
    status, report = service.ask("GET", f"/v1/evaluations/{job}/report")
    assert status == 200
    assert report["idea"]["text"].startswith(f"Idea for the {kind}.")


@pytest.mark.timeout(600)
def test_service_that_is_told_to_stop_gives_back_what_it_cannot_finish_and_leaves_no_process(
    service: Running, simulator: Simulator, home: Path
) -> None:
    simulator.configure(latency_mean=600.0)
    job = service.submit(f"Idea for later. {ON_TOPIC}")
    service.wait_for(job, {"running"})
    children = family(service.process.pid)
    service.process.send_signal(signal.SIGTERM)
    assert service.process.wait(120) == 0
    _, alive = psutil.wait_procs(children, timeout=20)
    assert [process.cmdline() for process in alive] == []
    assert asyncio.run(_left(home, JobId(job))) == "queued"


async def _left(home: Path, job: JobId) -> str:
    async with open_database(Settings(home=home)) as database:
        found = await PgJobs(database).get(TenantId("default"), job)
    return found.state if found is not None else ""
