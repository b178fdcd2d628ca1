"""A ranking's page in every state that people meet: under way, stopped by its budget, ended without an order, with
proposals that it does not hold, and with some that were deleted since; looked at in Chromium."""

import pytest

from assayer.errors import BudgetExhausted
from orchestrator.jobs.models import JobId, JobVerdict, Problem
from orchestrator.settings import QueueSettings
from orchestrator.store import PgLeases
from tests.contract.api.browsing import PHONE_AND_DESK, Look, at_the_console, look_over, sideways
from tests.contract.api.service import Service
from tests.contract.api.test_console_rankings import ENTRANTS, ended_call
from tests.contract.api.test_console_tables import call_with_reports, signed_in
from tests.contract.api.test_rankings import finish
from tests.contract.store_jobs import ACME
from tests.unit.batch_bodies import WORDS
from tests.unit.judges import JudgeLlm, right

SPENT = BudgetExhausted("The budget of 1.00 US dollars is used up.")


async def started(service: Service, call: str, **body: object) -> str:
    async with service.caller() as owner:
        made = await owner.post("/v1/rankings", json={"batch": call, "cut": 2} | body)
    assert made.status_code == 202, made.text
    return str(made.json()["id"])


async def page_of(service: Service, path: str) -> str:
    async with signed_in(service, await service.key()) as officer:
        answer = await officer.get(path)
    assert answer.status_code == 200, answer.text
    return answer.text


async def test_a_ranking_that_its_budget_stopped_says_so_and_what_was_compared_with_nothing(service: Service) -> None:
    call = await ended_call(service)
    ranking = await started(service, call)
    await finish(service, JudgeLlm(right, fails=SPENT, after=1))
    page = await page_of(service, f"/console/calls/{call}/rankings/{ranking}")
    assert "It stopped early" in page
    assert SPENT.message in page
    assert f"4 of the {ENTRANTS} were compared with nothing" in page
    assert page.count("not compared: it stands where it started") == 4


async def test_a_ranking_without_any_comparison_says_what_its_order_is(service: Service) -> None:
    call = await ended_call(service)
    ranking = await started(service, call)
    await finish(service, JudgeLlm(right, fails=SPENT))
    page = await page_of(service, f"/console/calls/{call}/rankings/{ranking}")
    assert "Nothing was compared." in page
    assert "It stopped early" not in page


async def test_proposals_that_a_ranking_does_not_hold_are_listed_with_reasons(service: Service) -> None:
    call = await ended_call(service)
    some = [{"text": f"Idea of worth {n}. {WORDS}"} for n in range(ENTRANTS - 1)]
    ranking = await started(service, call, batch=None, ideas=some)
    await finish(service)
    await service.database.execute(
        """UPDATE jobs SET state = 'failed', run_id = NULL, problem = '{"type": "x", "title": "It cannot be read",
        "detail": "Send it as PDF."}' WHERE batch = $1 AND "row" = 1""",
        call,
    )
    page = await page_of(service, f"/console/calls/{call}/rankings/{ranking}")
    assert "Not ranked: 2" in page
    assert "It cannot be read: Send it as PDF." in page
    assert "It has a report now, and was not among the proposals of this ranking." in page
    assert f"1 of the {ENTRANTS - 1} ranked proposals is not in this call, or was deleted since." in page


async def test_proposals_that_were_deleted_since_keep_their_ranks_and_lead_nowhere(service: Service) -> None:
    call = await ended_call(service)
    ranking = await started(service, call)
    await finish(service)
    async with service.caller() as owner:
        ids = [one["id"] for one in (await owner.get(f"/v1/batches/{call}/evaluations")).json()["items"]]
        for one in ids[-2:]:
            assert (await owner.delete(f"/v1/evaluations/{one}", params={"erase": True})).status_code == 204
    page = await page_of(service, f"/console/calls/{call}/rankings/{ranking}")
    assert f"2 of the {ENTRANTS} ranked proposals are not in this call, or were deleted since." in page
    assert page.count("not in this call, or deleted since<") == 2
    assert not any(one in page for one in ids[-2:])
    assert ids[0] in page
    assert ranking in await page_of(service, f"/console/calls/{call}/rankings")


async def test_a_ranking_goes_with_an_applicant_where_one_proposal_would_be_left(service: Service) -> None:
    call = await ended_call(service)
    ranking = await started(service, call)
    await finish(service)
    async with service.caller() as owner:
        *erased, last = [
            f"{number}.txt" for number in range((await owner.get(f"/v1/batches/{call}")).json()["rows"] - 1)
        ]
        for name in erased:
            assert (await owner.post("/v1/erasures", json={"source": name})).status_code < 300
            assert (await owner.get(f"/v1/rankings/{ranking}")).status_code == 200
        assert (await owner.post("/v1/erasures", json={"source": last})).status_code < 300
        assert (await owner.get(f"/v1/rankings/{ranking}")).status_code == 410
    assert "There are none yet." in await page_of(service, f"/console/calls/{call}/rankings")


@pytest.mark.parametrize("state", ["failed", "dead", "cancelled"])
async def test_a_ranking_that_ended_without_an_order_says_why(service: Service, state: str) -> None:
    call = await ended_call(service)
    ranking = await started(service, call)
    if state == "cancelled":
        await service.services.jobs.cancel(ACME, JobId(ranking))
    else:
        lease = await service.lease()
        problem = Problem(type="x", title="The judge could not be reached", detail="Try again later.")
        verdict = JobVerdict.model_validate({"state": state, "problem": problem, "cost_usd": 0.5})
        assert await PgLeases(service.database, QueueSettings()).finish(lease, verdict)
    page = await page_of(service, f"/console/calls/{call}/rankings/{ranking}")
    assert ("It was cancelled." if state == "cancelled" else "The judge could not be reached") in page
    assert "There is no order, then" in page


@pytest.mark.parametrize("look", PHONE_AND_DESK, ids=str)
async def test_a_ranking_looks_as_it_should_in_every_state(service: Service, look: Look) -> None:
    key = await service.key()
    stopped_call = await ended_call(service)
    stopped = await started(service, stopped_call)
    await finish(service, JudgeLlm(right, fails=SPENT, after=1))
    async with service.caller() as owner:
        ids = [one["id"] for one in (await owner.get(f"/v1/batches/{stopped_call}/evaluations")).json()["items"]]
        await owner.delete(f"/v1/evaluations/{ids[-1]}", params={"erase": True})
    mixed = await call_with_reports(service)
    empty = await started(service, stopped_call, batch=None, ideas=[{"text": f"A {n}. {WORDS}"} for n in range(3)])
    await finish(service, JudgeLlm(right, fails=SPENT))
    failing = await started(service, stopped_call)
    lease = await service.lease()
    problem = Problem(type="x", title="The judge could not be reached", detail="Try again later.")
    verdict = JobVerdict(state="failed", problem=problem, cost_usd=0.5)
    assert await PgLeases(service.database, QueueSettings()).finish(lease, verdict)
    half_done = await started(service, stopped_call)
    lease = await service.lease()
    stages = [{"stage": "comparing", "done": 2_130, "total": 4_000}]
    await service.services.events.append(lease.job, "progress", {"stages": stages})
    async with at_the_console(service, key, look) as (page, url):
        for name, path in {
            "half-done": f"{stopped_call}/rankings/{half_done}",
            "stopped": f"{stopped_call}/rankings/{stopped}",
            "not-compared": f"{stopped_call}/rankings/{empty}",
            "unranked": f"{mixed}/rankings/{stopped}",
            "failed": f"{stopped_call}/rankings/{failing}",
            "list": f"{stopped_call}/rankings",
            "table": f"{stopped_call}?ranking={stopped}&sort=rank",
            "plots": f"{stopped_call}/plots?ranking={stopped}",
        }.items():
            await page.goto(f"{url}/console/calls/{path}")
            assert await page.locator("h1").count() == 1
            await look_over(page, f"ranking-{name}", look)
            assert await sideways(page, look) == [], name
