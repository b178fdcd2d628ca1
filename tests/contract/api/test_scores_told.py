"""That an evaluation is done does not say that it has a score: what the API, the client and the commands tell of it."""

import csv
import io
from collections.abc import AsyncIterator
from pathlib import Path

import httpx2
import pytest

from assayer_client import AsyncClient
from tests.contract.api.commands import Program
from tests.contract.api.service import BODY, TEXT, Service, served
from tests.contract.api.test_console_tables import WHY, call_with_reports


@pytest.fixture
async def client(service: Service) -> AsyncIterator[AsyncClient]:
    async with served(service.app) as url, AsyncClient(url, await service.key()) as opened:
        yield opened


async def test_evaluation_tells_scores_fit_and_why_there_is_none(service: Service, client: AsyncClient) -> None:
    batch = await call_with_reports(service)
    listed = {one.row: one async for one in client.each(client.evaluations, batch=batch)}
    first, third, failed = listed[1].scores, listed[3].scores, listed[4].scores
    assert first is not None
    assert (first.score, first.certainty, first.corpus_fit, first.complete, first.reason) == (
        *(70.0, "low", "good", True),
        None,
    )
    assert [(part.title, part.score, part.scale_max, part.reason) for part in first.parts] == [
        ("Soundness", 7.0, 10.0, None)
    ]
    assert third is not None
    assert (third.score, third.corpus_fit, third.complete, third.reason) == (None, "poor", False, WHY)
    assert failed is None
    alone = await client.evaluation(listed[1].id)
    assert (alone.scores, alone.reference) == (first, "")


async def test_batch_that_has_ended_tells_what_its_evaluations_came_to(service: Service, client: AsyncClient) -> None:
    accepted = await client.submit_rows([{"text": TEXT}])
    before = await client.batch(accepted.id)
    assert (before.outcomes, before.poorly_covered) == (None, None)
    await service.finish()
    ended = await client.batch(await call_with_reports(service))
    assert ended.states == {"done": 3, "failed": 1}
    assert (ended.outcomes, ended.poorly_covered) == ({"full": 2, "unscored": 1, "failed": 1}, 1)


async def test_commands_tell_scores_where_they_tell_the_end(service: Service, tmp_path: Path) -> None:
    batch = await call_with_reports(service)
    async with served(service.app) as url:
        program = Program(url, await service.key(), tmp_path)
        watched = await program.run("watch", batch)
        listed = await program.run("list", batch)
        waiting = await program.run("list", "--state", "waiting")
        unknown = await program.run("list", "--state", "asleep")
    assert watched.code == 1
    assert f"{batch}: 2 scored in full, 1 evaluated without a score, which is not a low score." in watched.err
    assert "The corpus does not cover the field of 1 proposal." in watched.err
    assert "Score 70 of 100, low certainty" in listed.out
    assert f"No score: {WHY.rstrip('.')}" in listed.out
    assert "There are no evaluations of that kind." in waiting.err
    assert (unknown.code, "waiting, running, done, failed, given-up, cancelled" in unknown.err) == (2, True)


async def test_an_own_id_comes_back_alone_wherever_results_are_read(service: Service) -> None:
    rows = f'id;title;text\nA-2026-7;Plan;"{TEXT}"\n;Other;"{TEXT} again"\n'
    files = [("file", ("call.csv", rows.encode())), ("file", ("plan b.txt", f"{TEXT} more".encode()))]
    async with service.caller() as caller:
        batch = (await caller.post("/v1/batches", files=files)).json()["id"]
        await caller.post("/v1/evaluations", json=BODY | {"source": "my own: 7"})
        for _ in range(4):
            await service.finish()
        told = (await caller.get("/v1/evaluations")).json()["items"]
        assert {(one["source"], one["reference"]) for one in told} == {
            ("call.csv:1 (A-2026-7)", "A-2026-7"),
            ("call.csv:2", ""),
            ("plan b.txt", "plan b.txt"),
            ("my own: 7", "my own: 7"),
        }
        table = await _csv(caller, batch)
    assert [(row["source"], row["reference"]) for row in table] == [
        ("call.csv:1 (A-2026-7)", "A-2026-7"),
        ("call.csv:2", ""),
        ("plan b.txt", "plan b.txt"),
    ]


async def _csv(caller: httpx2.AsyncClient, batch: str) -> list[dict[str, str]]:
    answer = await caller.get(f"/v1/batches/{batch}/results", params={"format": "csv"})
    return list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))
