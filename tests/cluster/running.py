"""Run `assayer serve --ray` as a process, query it over HTTP, and end everything that it started."""

import asyncio
import json
import os
import re
import subprocess
import sys
from collections.abc import Iterator, Mapping
from contextlib import closing, contextmanager
from http.client import HTTPConnection
from pathlib import Path
from typing import Any, NamedTuple
from urllib.parse import urlsplit
from uuid import uuid4

import psutil

from index import build_corpus
from tests.cluster.processes import list_child_processes
from tests.constants import build_constant_variables
from tests.corpus_papers import RECORDS, write_jsonl
from tests.polling import wait_until
from workers.embedding.embedder import SentenceTransformerEmbedder
from workers.embedding.settings import EmbedderSettings

ASK_SECONDS = 120
"""Ends a test of a service that hangs; a busy machine is not one."""
ENDED = {"succeeded", "failed", "cancelled"}


class Running(NamedTuple):
    process: "subprocess.Popen[str]"
    address: str
    key: str

    def ask(self, verb: str, path: str, body: object = None) -> tuple[int, Any]:
        """Return status and body; (0, None) if the service does not answer."""
        place = urlsplit(self.address)
        connection = HTTPConnection(place.hostname or "", place.port, timeout=ASK_SECONDS)
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

    def submit(self, text: str, **fields: object) -> str:
        status, answer = self.ask("POST", "/v1/evaluations", {"idea": {"text": text}, **fields})
        assert status == 202, answer
        return str(answer["id"])

    def get_state(self, job: str) -> str:
        """Return the state of a job; empty if the service cannot say."""
        status, answer = self.ask("GET", f"/v1/evaluations/{job}")
        return str(answer["state"]) if status == 200 else ""

    def wait_until_ended(self, job: str) -> str:
        return self.wait_for(job, ENDED)

    def wait_for(self, job: str, states: set[str]) -> str:
        return wait_until(lambda: self.get_state(job), lambda state: state in states, interval=0.2)


@contextmanager
def run_service(home: Path, settings: Mapping[str, str]) -> Iterator[Running]:
    """Run a service with a small corpus; `home` must be a directory that a PostgreSQL server may traverse."""
    with closing(SentenceTransformerEmbedder(EmbedderSettings())) as embedder:
        papers = write_jsonl(home / "papers.jsonl", RECORDS)
        asyncio.run(build_corpus([papers], home / "corpus", embedder))
    inherited = {name: value for name, value in os.environ.items() if not name.startswith(("ASSAYER_", "RAY_"))}
    log = home / "serve.log"
    with log.open("w") as errors:
        process = subprocess.Popen(
            [Path(sys.executable).with_name("assayer"), "serve", "--ray", "--port", "0"],
            cwd=home,
            env={
                **inherited,
                "HOME": str(home),
                "ASSAYER_HOME": str(home),
                "ASSAYER_KEYS__REQUESTS_PER_MINUTE": "6000",
                **settings,
                **build_constant_variables(settings),
            },
            stdout=subprocess.PIPE,
            stderr=errors,
            text=True,
        )
        try:
            yield _wait_for_start(process, log)
        finally:
            _stop(process)


def _wait_for_start(process: "subprocess.Popen[str]", log: Path) -> Running:
    assert process.stdout is not None
    key = ""
    for line in process.stdout:
        key = Path(line.split()[-1]).read_text("utf-8").strip() if "key is in" in line else key
        if match := re.search(r"listens at (\S+)", line):
            return Running(process, match[1], key)
    raise AssertionError(f"The service did not start: {log.read_text()[-4000:]}")


def _stop(process: "subprocess.Popen[str]") -> None:
    """Everything that it started, however it ends."""
    processes = list_child_processes(process.pid) if process.poll() is None else []
    process.kill()
    process.wait()
    if process.stdout is not None:
        process.stdout.close()
    psutil.wait_procs(processes, timeout=60)
