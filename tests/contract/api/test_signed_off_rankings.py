"""The ranking that a signed-off call rests on goes with its call, and in no other way; an applicant is taken out."""

from orchestrator.jobs.models import BatchId
from tests.contract.api.evaluated_calls import evaluate_call_of_six
from tests.contract.api.people import add_person
from tests.contract.api.problems import check_problem
from tests.contract.api.ranking_jobs import rank_call
from tests.contract.api.service import ACME, Service


async def test_ranking_of_a_signed_off_call_cannot_be_erased_alone(service: Service) -> None:
    call, owner = await evaluate_call_of_six(service), await add_person(service, "owner", "Olga Owner")
    kept_ranking, early = await rank_call(service, call), await rank_call(service, call)
    async with service.open_caller("submit", "read", "manage") as machine:
        assert (await machine.delete(f"/v1/rankings/{early}?erase=true")).status_code == 204
        assert (await owner.post(f"/v1/batches/{call}/sign-off", json={})).status_code == 200
        for caller in (machine, owner):
            problem = check_problem(await caller.delete(f"/v1/rankings/{kept_ranking}?erase=true"), 409, "conflict")
            assert "was signed off on" in problem.detail
        assert (await machine.get(f"/v1/rankings/{kept_ranking}")).status_code == 200
        assert (await service.services.audit_log.list_entries(ACME))[-1].action == "signed off"
        answer = await machine.post("/v1/erasures", json={"source": "0.txt"})
        assert answer.status_code == 200, answer.text
        assert [item["id"] for item in answer.json()["redacted_rankings"]] == [kept_ranking]
        assert (await machine.get(f"/v1/rankings/{kept_ranking}")).status_code == 200
        response = await machine.post("/v1/erasures", json={"batch": call})
        assert kept_ranking in [item["id"] for item in response.json()["jobs"]]
        assert (await machine.get(f"/v1/rankings/{kept_ranking}")).status_code == 410
    assert await service.services.rankings.list_rankings(ACME, batch=BatchId(call)) == []
