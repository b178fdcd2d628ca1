"""The ranking that a signed-off call rests on goes with its call, and in no other way; an applicant is taken out."""

from orchestrator.jobs.models import BatchId
from tests.contract.api.evaluated_calls import evaluate_call_of_six
from tests.contract.api.people import add_person
from tests.contract.api.problems import check_problem
from tests.contract.api.ranking_jobs import rank_call
from tests.contract.api.service import ACME, Service


async def test_ranking_of_a_signed_off_call_cannot_be_erased_alone(service: Service) -> None:
    call, owner = await evaluate_call_of_six(service), await add_person(service, "owner", "Olga Owner")
    kept, early = await rank_call(service, call), await rank_call(service, call)
    async with service.open_caller("submit", "read", "manage") as machine:
        assert (await machine.delete(f"/v1/rankings/{early}?erase=true")).status_code == 204
        assert (await owner.post(f"/v1/batches/{call}/sign-off", json={})).status_code == 200
        for caller in (machine, owner):
            refused = check_problem(await caller.delete(f"/v1/rankings/{kept}?erase=true"), 409, "conflict")
            assert "was signed off on" in refused.detail
        assert (await machine.get(f"/v1/rankings/{kept}")).status_code == 200
        assert (await service.services.audit_log.list_entries(ACME))[-1].action == "signed off"
        gone = await machine.post("/v1/erasures", json={"source": "0.txt"})
        assert gone.status_code == 200, gone.text
        assert [item["id"] for item in gone.json()["redacted_rankings"]] == [kept]
        assert (await machine.get(f"/v1/rankings/{kept}")).status_code == 200
        whole = await machine.post("/v1/erasures", json={"batch": call})
        assert kept in [item["id"] for item in whole.json()["jobs"]]
        assert (await machine.get(f"/v1/rankings/{kept}")).status_code == 410
    assert await service.services.rankings.list_rankings(ACME, batch=BatchId(call)) == []
