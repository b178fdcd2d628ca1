"""The embedded database, dumped under load and restored into a server of one's own, with corpus and documents."""

import asyncio
import json
import shutil
import subprocess
import threading
import time
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any, NamedTuple

import asyncpg
import pytest
from httpx2 import Client

from benchmarks.chaos.simulated_users import build_word_document
from cluster.postgres import EmbeddedPostgres
from cluster.postgres.programs import PostgresPrograms
from tests.e2e.program import Homes, Program, run_simulator
from tests.fork_server import Piped
from tests.polling import wait_until

_ENDED = {"succeeded", "failed", "cancelled"}
_TEXT = (
    "We count wild bees along hedgerows over three summers and compare farms with and without flower strips, to learn "
    "whether nests or nectar limit their number on farmland. This is plan {}."
)


class MovedHome(NamedTuple):
    before: list[str]
    """Evaluations accepted before the dump began, the second half of them as documents."""
    during: list[str]
    """Evaluations accepted after that."""
    finished: dict[str, Any]
    """Reports at the time of the dump, by evaluation."""
    states: dict[str, str]
    """State of each evaluation in the restored service; empty if it is unknown there."""
    problems: list[Any]
    reports: dict[str, Any]
    searched: int
    """Status of a search of the copied corpus."""
    paid_again: int
    answered: int
    dump_seconds: float
    restore_seconds: float


@contextmanager
def _serve(program: Program, key: str = "") -> Iterator[tuple[Client, Piped]]:
    process = program.start("serve", "--port", 0)
    assert process.stdout is not None
    with process:
        try:
            lines = [process.stdout.readline().strip()]
            while "listens" not in lines[-1]:
                assert lines[-1], process.communicate()
                lines.append(process.stdout.readline().strip())
            key = key or Path(lines[0].rsplit(" ", 1)[1]).read_text("utf-8").strip()
            authorization = {"Authorization": f"Bearer {key}"}
            with Client(base_url=lines[-1].rsplit(" ", 1)[1], headers=authorization, timeout=60) as client:
                yield client, process
        finally:
            process.kill()


def _submit(client: Client, number: int) -> str:
    answer = client.post("/v1/evaluations", json={"idea": {"text": _TEXT.format(number)}})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


def _submit_document(client: Client, number: int) -> str:
    files = {"file": (f"plan-{number}.docx", build_word_document(f"Plan {number}\n{_TEXT.format(number)}"))}
    answer = client.post("/v1/batches", files=files)
    assert answer.status_code == 202, answer.text
    (item,) = client.get("/v1/evaluations", params={"batch": answer.json()["id"]}).json()["items"]
    return str(item["id"])


def _get_states(client: Client, ids: list[str]) -> dict[str, str]:
    answers = {id: client.get(f"/v1/evaluations/{id}") for id in ids}
    return {id: answer.json().get("state", "") for id, answer in answers.items()}


def _get_reports(client: Client, ids: list[str]) -> dict[str, Any]:
    answers = {id: client.get(f"/v1/evaluations/{id}/report") for id in ids}
    return {id: answer.json() for id, answer in answers.items() if answer.status_code == 200}


@pytest.fixture(scope="module")
def moved_home(homes: Homes) -> MovedHome:
    program = homes.create_home("moved")
    corpus = program.home / "corpus"
    shutil.copytree(homes.corpus, corpus)
    new = homes.create_bare_home("external")
    during: list[str] = []
    with run_simulator(latency_mean=0.3) as simulated:
        program = program.with_simulator(simulated).with_settings(CORPUS__PATH=corpus, QUEUE__LEASE_SECONDS=3)
        with _serve(program) as (client, process):
            key = client.headers["Authorization"].removeprefix("Bearer ")
            before = [_submit(client, number) for number in range(4)]
            wait_until(lambda: _get_states(client, before), lambda now: "succeeded" in now.values(), interval=0.3)
            before += [_submit_document(client, number) for number in range(4, 8)]
            stop = threading.Event()

            def go_on() -> None:
                number = 100
                while not stop.is_set():
                    during.append(_submit(client, number))
                    number += 1

            # Documents go when their evaluation has succeeded: the first copy has those that the dump still needs.
            shutil.copytree(program.home / "submissions", new.home / "submissions")
            finished = _get_reports(client, before)
            load = threading.Thread(target=go_on)
            start = time.monotonic()
            load.start()
            dumped = program.run_for_real("admin", "dump", program.home / "assayer.dump")
            dump_seconds = time.monotonic() - start
            stop.set()
            load.join()
            assert dumped.code == 0, dumped.err
            shutil.copytree(program.home / "submissions", new.home / "submissions", dirs_exist_ok=True)
            shutil.copytree(corpus, new.home / "corpus")
            process.kill()
        stats = simulated.read_stats()
        start = time.monotonic()
        url = asyncio.run(_restore(new.home, program.home / "assayer.dump"))
        restored = new.with_simulator(simulated).with_settings(
            DATABASE__URL=url, CORPUS__PATH=new.home / "corpus", BATCHES__DOCUMENTS=new.home / "submissions",
            EMBEDDER__MAX_TOKENS=program.settings["ASSAYER_EMBEDDER__MAX_TOKENS"],
        )  # fmt: skip
        with _serve(restored, key) as (client, _):
            restore_seconds = time.monotonic() - start
            wait_until(lambda: _get_states(client, before), lambda now: {*now.values()} <= _ENDED, interval=0.3)
            states = _get_states(client, [*before, *during])
            wait_until(lambda: _get_states(client, during), lambda now: {*now.values()} <= {*_ENDED, ""}, interval=0.3)
            reports = _get_reports(client, before)
            problems = [client.get(f"/v1/evaluations/{id}").json().get("problem") for id in before]
            answer = client.get("/v1/corpus/search", params={"q": "wild bees"})
        again = simulated.read_stats()
    return MovedHome(
        before, during, finished, states, problems, reports, answer.status_code,
        again.repeated_answers - stats.repeated_answers, again.answered, dump_seconds, restore_seconds,
    )  # fmt: skip


async def _restore(home: Path, dump: Path) -> str:
    """Restore the dump into a new database of a server of its own, which stays for the module; return its URL."""
    url = await EmbeddedPostgres(home / "postgres").ensure()
    connection = await asyncpg.connect(url)
    await connection.execute("CREATE DATABASE assayer")
    await connection.close()
    url = url.replace("/postgres?", "/assayer?")
    program = str(PostgresPrograms.find().folder / "pg_restore")
    command = (program, "--no-owner", "--exit-on-error", f"--dbname={url}", str(dump))
    await asyncio.to_thread(subprocess.run, command, check=True)
    return url


@pytest.mark.slow
def test_every_job_accepted_before_the_dump_ends_with_a_report(moved_home: MovedHome) -> None:
    assert {id: moved_home.states[id] for id in moved_home.before} == dict.fromkeys(moved_home.before, "succeeded"), (
        moved_home.problems
    )
    assert moved_home.reports.keys() == {*moved_home.before}


@pytest.mark.slow
def test_reports_and_corpus_are_the_same_after_the_restore(moved_home: MovedHome) -> None:
    assert moved_home.finished
    assert {id: moved_home.reports[id] for id in moved_home.finished} == moved_home.finished
    assert moved_home.searched == 200


@pytest.mark.slow
def test_only_jobs_accepted_after_the_dump_began_are_lost(moved_home: MovedHome) -> None:
    moved = moved_home
    lost = [id for id, state in moved_home.states.items() if not state]
    print(
        f"dump {moved.dump_seconds:.1f} s, restore and start {moved.restore_seconds:.1f} s; lost {len(lost)} of "
        f"{len(moved.during)} accepted meanwhile; {moved.paid_again} of {moved.answered} answers paid for again"
    )
    assert moved_home.during
    assert {*lost} <= {*moved_home.during}


def test_dump_of_the_embedded_database_can_be_listed_and_is_private(homes: Homes) -> None:
    program = homes.create_bare_home("dumped")
    file = program.home / "assayer.dump"
    tenant_result = program.run("admin", "tenants", "create", "default")
    assert tenant_result.code == 0, tenant_result.err
    result = program.run("admin", "dump", file, "--json")
    assert (result.code, result.err) == (0, "")
    assert json.loads(result.out) == {"file": str(file), "bytes": file.stat().st_size}
    assert file.stat().st_mode & 0o777 == 0o600
    listing = subprocess.run(
        [str(PostgresPrograms.find().folder / "pg_restore"), "--list", str(file)],
        capture_output=True,
        text=True,
        check=True,
    )
    assert "TABLE DATA public tenants" in listing.stdout
    again = program.run("admin", "dump", file)
    assert (again.code, "File exists" in again.err) == (2, True)
    own = program.with_settings(DATABASE__URL="postgresql://db.example.org/assayer").run("admin", "dump", "other.dump")
    assert (own.code, "pg_dump" in own.err) == (2, True)
