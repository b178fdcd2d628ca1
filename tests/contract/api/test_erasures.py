"""All of one applicant, or of one batch, is found and deleted everywhere, and nothing of anybody else."""

import httpx2

from tests.contract.api.commands import Program
from tests.contract.api.erasures import find_tables_with, request_erasure, submit_rows_to_erase
from tests.contract.api.service import OTHER, Service
from tests.unit.batch_bodies import make_idea_text


async def test_applicant_is_erased_everywhere_and_other_data_is_kept(service: Service) -> None:
    async with service.open_caller() as caller, service.open_caller(tenant=OTHER) as other_tenant:
        batch, foreign_batch = await submit_rows_to_erase(caller), await submit_rows_to_erase(other_tenant)
        pair = {
            "first": {"title": "Reeds", "text": make_idea_text(1)},
            "second": {"title": "Fern", "text": make_idea_text(9)},
        }
        compared = (await caller.post("/v1/comparisons", json=pair)).json()["id"]
        preview = await request_erasure(caller, source="A-1", dry_run=True)
        assert {item["kind"] for item in preview["jobs"]} == {"evaluation", "comparison"}
        assert len((await caller.get("/v1/evaluations")).json()["items"]) == 2
        proof = await request_erasure(caller, source="A-1")
        assert (proof["dry_run"], proof["jobs"]) == (False, preview["jobs"])
        assert [item["title"] for item in (await caller.get("/v1/evaluations")).json()["items"]] == ["Moss"]
        assert (await caller.get(f"/v1/comparisons/{compared}")).status_code == 410
        batch_after = (await caller.get(f"/v1/batches/{batch}")).json()
        assert (batch_after["rows"], batch_after["rejected"], batch_after["erased"], batch_after["states"]) == (
            3,
            1,
            1,
            {"queued": 1},
        )
        response = (await other_tenant.get(f"/v1/batches/{foreign_batch}")).json()
        assert (response["erased"], response["states"]) == (0, {"queued": 2})


async def test_rejected_row_of_the_applicant_is_erased(client: httpx2.AsyncClient) -> None:
    batch = await submit_rows_to_erase(client)
    (rejected_row,) = (await client.get(f"/v1/batches/{batch}")).json()["rejected_rows"]
    assert rejected_row["source"] == "row 3 (A-3)"
    proof = await request_erasure(client, source="A-3")
    assert (proof["jobs"], proof["rejected_rows"]) == ([], 1)
    batch_after = (await client.get(f"/v1/batches/{batch}")).json()
    assert (batch_after["rejected_rows"], batch_after["erased"], batch_after["rows"]) == ([], 1, 3)


async def test_batch_is_erased_with_all_its_rows(service: Service, client: httpx2.AsyncClient) -> None:
    batch, other_batch = await submit_rows_to_erase(client), await submit_rows_to_erase(client)
    proof = await request_erasure(client, batch=batch)
    assert (len(proof["jobs"]), proof["rejected_rows"], proof["batch"]) == (2, 1, batch)
    assert (await client.get(f"/v1/batches/{batch}")).status_code == 410
    assert (await client.get(f"/v1/batches/{other_batch}")).json()["states"] == {"queued": 2}
    records = {"audit_contents", "audit_log", "tombstones"}
    assert set(await find_tables_with(service.database, batch)) <= records


async def test_invalid_erasure_requests_are_rejected(service: Service) -> None:
    async with service.open_caller() as caller, service.open_caller("read", "submit") as submitter:
        for body in ({}, {"source": "A-1", "batch": "bt_1"}, {"source": ""}, {"source": "A-1", "everywhere": True}):
            assert (await caller.post("/v1/erasures", json=body)).status_code == 422, body
        assert (await caller.post("/v1/erasures", json={"batch": "bt_none"})).status_code == 404
        assert (await submitter.post("/v1/erasures", json={"source": "A-1"})).status_code == 403
        assert (await request_erasure(caller, source="A-1"))["jobs"] == []


async def test_command_previews_the_erasure_and_deletes_only_when_confirmed(
    program: Program, client: httpx2.AsyncClient
) -> None:
    await submit_rows_to_erase(client)
    refusal = await program.run("batch", "erase", "--source", "A-1")
    assert refusal.code != 0
    assert "Reeds" in refusal.out
    assert len((await client.get("/v1/evaluations")).json()["items"]) == 2
    result = await program.run("batch", "erase", "--source", "A-1", "--yes", "--proof", "proof.json")
    assert result.code == 0, result.err
    assert '"still_stored": []' in (program.home / "proof.json").read_text("utf-8")
    assert "Deleted: 1 evaluation." in result.err
    repeated_result = await program.run("batch", "erase", "--source", "A-1", "--yes")
    assert (repeated_result.code, "Nothing is stored about A-1" in repeated_result.err) == (2, True)
