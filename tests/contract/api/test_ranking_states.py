"""A ranking's page in every state that people meet: under way, stopped by its budget, ended without an order, with
proposals that it does not hold, and with some that were deleted since; looked at in Chromium."""

import pytest

from assayer.errors import BudgetExhausted
from orchestrator.jobs.models import JobId, JobVerdict, Problem
from orchestrator.settings import QueueSettings
from orchestrator.store import PgLeases
from tests.contract.api.console_forms import open_session
from tests.contract.api.evaluated_calls import ENTRANTS, evaluate_call_of_six
from tests.contract.api.ranking_jobs import finish_ranking
from tests.contract.api.service import Service
from tests.contract.store_jobs import ACME
from tests.unit.batch_bodies import WORDS
from tests.unit.judges import JudgeLlm, judge_correctly

SPENT = BudgetExhausted("The budget of 1.00 US dollars is used up.")


async def start_ranking(service: Service, call: str, **body: object) -> str:
    answer = await service.machine.post("/v1/rankings", json={"batch": call, "shortlist_size": 2} | body)
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def fetch_page(service: Service, path: str) -> str:
    async with open_session(service, await service.create_key()) as officer:
        answer = await officer.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


async def test_ranking_stopped_by_its_budget_reports_uncompared_proposals(service: Service) -> None:
    call = await evaluate_call_of_six(service)
    ranking = await start_ranking(service, call)
    await finish_ranking(service, JudgeLlm(judge_correctly, fails=SPENT, calls_before=1))
    page = await fetch_page(service, f"/console/calls/{call}/rankings/{ranking}")
    assert "The ranking stopped early" in page
    assert SPENT.message in page
    assert f"4 of the {ENTRANTS} were not compared" in page
    assert page.count("not compared: it keeps its starting position") == 4


async def test_ranking_without_comparisons_reports_that_nothing_was_compared(service: Service) -> None:
    call = await evaluate_call_of_six(service)
    ranking = await start_ranking(service, call)
    await finish_ranking(service, JudgeLlm(judge_correctly, fails=SPENT))
    page = await fetch_page(service, f"/console/calls/{call}/rankings/{ranking}")
    assert "Nothing was compared." in page
    assert "The ranking stopped early" not in page


async def test_unranked_proposals_are_listed_with_reasons(service: Service) -> None:
    call = await evaluate_call_of_six(service)
    some = [{"text": f"Idea of worth {n}. {WORDS}"} for n in range(ENTRANTS - 1)]
    ranking = await start_ranking(service, call, batch=None, ideas=some)
    await finish_ranking(service)
    await service.database.execute(
        """UPDATE jobs SET state = 'failed', run_id = NULL, problem = '{"type": "x", "title": "It cannot be read",
        "detail": "Send it as PDF."}' WHERE batch = $1 AND "row" = 1""",
        call,
    )
    page = await fetch_page(service, f"/console/calls/{call}/rankings/{ranking}")
    assert "Not ranked: 2" in page
    assert "It cannot be read: Send it as PDF." in page
    assert "It has a report now, but was not included in this ranking." in page
    assert f"1 of the {ENTRANTS - 1} ranked proposals is not in this call, or has since been deleted." in page


async def test_deleted_proposals_keep_their_ranks_without_links(service: Service) -> None:
    call = await evaluate_call_of_six(service)
    ranking = await start_ranking(service, call)
    await finish_ranking(service)
    ids = [item["id"] for item in (await service.machine.get(f"/v1/batches/{call}/evaluations")).json()["items"]]
    for item in ids[-2:]:
        assert (await service.machine.delete(f"/v1/evaluations/{item}", params={"erase": True})).status_code == 204
    page = await fetch_page(service, f"/console/calls/{call}/rankings/{ranking}")
    assert f"2 of the {ENTRANTS} ranked proposals are not in this call, or have since been deleted." in page
    assert page.count("not in this call, or since deleted<") == 2
    assert not any(item in page for item in ids[-2:])
    assert ids[0] in page
    assert ranking in await fetch_page(service, f"/console/calls/{call}/rankings")


async def test_ranking_is_erased_when_a_single_proposal_would_remain(service: Service) -> None:
    call = await evaluate_call_of_six(service)
    ranking = await start_ranking(service, call)
    await finish_ranking(service)
    *erased, last = [
        f"{number}.txt" for number in range((await service.machine.get(f"/v1/batches/{call}")).json()["rows"] - 1)
    ]
    for name in erased:
        assert (await service.machine.post("/v1/erasures", json={"source": name})).status_code < 300
        assert (await service.machine.get(f"/v1/rankings/{ranking}")).status_code == 200
    assert (await service.machine.post("/v1/erasures", json={"source": last})).status_code < 300
    assert (await service.machine.get(f"/v1/rankings/{ranking}")).status_code == 410
    assert "There are no rankings yet." in await fetch_page(service, f"/console/calls/{call}/rankings")


@pytest.mark.parametrize("state", ["failed", "cancelled"])
async def test_a_ranking_that_ended_without_an_order_states_the_reason(service: Service, state: str) -> None:
    call = await evaluate_call_of_six(service)
    ranking = await start_ranking(service, call)
    if state == "cancelled":
        await service.services.jobs.cancel(ACME, JobId(ranking))
    else:
        lease = await service.lease_next()
        problem = Problem(type="x", title="The judge could not be reached", detail="Try again later.")
        verdict = JobVerdict.model_validate({"state": state, "problem": problem, "cost_usd": 0.5})
        assert await PgLeases(service.database, QueueSettings()).finish(lease, verdict)
    page = await fetch_page(service, f"/console/calls/{call}/rankings/{ranking}")
    assert ("The ranking was cancelled." if state == "cancelled" else "The judge could not be reached") in page
    assert "No ranks were produced. Cost" in page
