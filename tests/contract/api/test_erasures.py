"""All of one applicant, or of one batch, is found and deleted everywhere, and nothing of anybody else."""

from typing import Any

import httpx2

from orchestrator.store import Database
from tests.contract.api.commands import Program
from tests.contract.api.service import OTHER, Service
from tests.contract.api.test_batches import JSONL
from tests.contract.api.test_commands import program
from tests.unit.batch_bodies import as_jsonl, words

__all__ = ["program"]

ROWS = as_jsonl(
    [
        {"id": "A-1", "title": "Reeds", "text": words(1)},
        {"id": "A-2", "title": "Moss", "text": words(2)},
        {"id": "A-3", "title": "-"},
    ]
)
_TABLES = ("jobs", "batches", "events", "evaluations", "answers", "idempotency")


async def sent(caller: httpx2.AsyncClient) -> str:
    answer = await caller.post("/v1/batches", content=ROWS, headers=JSONL)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def erased(caller: httpx2.AsyncClient, **body: Any) -> dict[str, Any]:
    answer = await caller.post("/v1/erasures", json=body)
    assert answer.status_code == 200, answer.text
    found: dict[str, Any] = answer.json()
    return found


async def stored(database: Database, word: str) -> list[str]:
    """Tables in which a word stands anywhere."""
    return [
        table
        for table in _TABLES
        if await database.fetch(f"SELECT 1 FROM {table} AS one WHERE one::text LIKE '%' || $1 || '%'", word)  # noqa: S608
    ]


async def test_an_applicant_goes_everywhere_and_the_others_stay(service: Service) -> None:
    async with service.caller() as caller, service.caller(tenant=OTHER) as stranger:
        batch, elsewhere = await sent(caller), await sent(stranger)
        pair = {"first": {"title": "Reeds", "text": words(1)}, "second": {"title": "Fern", "text": words(9)}}
        compared = (await caller.post("/v1/comparisons", json=pair)).json()["id"]
        told = await erased(caller, source="A-1", dry_run=True)
        assert {one["kind"] for one in told["jobs"]} == {"evaluation", "comparison"}
        assert len((await caller.get("/v1/evaluations")).json()["items"]) == 2
        gone = await erased(caller, source="A-1")
        assert (gone["dry_run"], gone["jobs"]) == (False, told["jobs"])
        assert [one["title"] for one in (await caller.get("/v1/evaluations")).json()["items"]] == ["Moss"]
        assert (await caller.get(f"/v1/comparisons/{compared}")).status_code == 410
        left = (await caller.get(f"/v1/batches/{batch}")).json()
        assert (left["rows"], left["rejected"], left["erased"], left["states"]) == (3, 1, 1, {"queued": 1})
        other = (await stranger.get(f"/v1/batches/{elsewhere}")).json()
        assert (other["erased"], other["states"]) == (0, {"queued": 2})


async def test_refused_rows_name_goes_too(service: Service) -> None:
    async with service.caller() as caller:
        batch = await sent(caller)
        (refused,) = (await caller.get(f"/v1/batches/{batch}")).json()["rejected_rows"]
        assert refused["source"] == "row 3 (A-3)"
        gone = await erased(caller, source="A-3")
        assert (gone["jobs"], gone["refused_rows"]) == ([], 1)
        left = (await caller.get(f"/v1/batches/{batch}")).json()
        assert (left["rejected_rows"], left["erased"], left["rows"]) == ([], 1, 3)


async def test_a_batch_goes_with_all_of_its_rows(service: Service) -> None:
    async with service.caller() as caller:
        batch, other = await sent(caller), await sent(caller)
        gone = await erased(caller, batch=batch)
        assert (len(gone["jobs"]), gone["refused_rows"], gone["batch"]) == (2, 1, batch)
        assert (await caller.get(f"/v1/batches/{batch}")).status_code == 410
        assert (await caller.get(f"/v1/batches/{other}")).json()["states"] == {"queued": 2}
        assert batch not in await stored(service.database, batch)


async def test_what_cannot_be_erased_is_said(service: Service) -> None:
    async with service.caller() as caller, service.caller("read", "submit") as submitter:
        for body in ({}, {"source": "A-1", "batch": "bt_1"}, {"source": ""}, {"source": "A-1", "everywhere": True}):
            assert (await caller.post("/v1/erasures", json=body)).status_code == 422, body
        assert (await caller.post("/v1/erasures", json={"batch": "bt_none"})).status_code == 404
        assert (await submitter.post("/v1/erasures", json={"source": "A-1"})).status_code == 403
        assert (await erased(caller, source="A-1"))["jobs"] == []


async def test_command_shows_what_would_go_asks_and_deletes(program: Program, service: Service) -> None:
    async with service.caller() as caller:
        await sent(caller)
        refused = await program.run("erase", "--source", "A-1")
        assert refused.code != 0
        assert "Reeds" in refused.out
        assert len((await caller.get("/v1/evaluations")).json()["items"]) == 2
        done = await program.run("erase", "--source", "A-1", "--yes", "--proof", "proof.json")
        assert done.code == 0, done.err
        assert '"still_stored": []' in (program.home / "proof.json").read_text("utf-8")
        assert "Deleted: 1 evaluation." in done.err
        nothing = await program.run("erase", "--source", "A-1", "--yes")
        assert (nothing.code, "Nothing is stored of A-1" in nothing.err) == (2, True)
