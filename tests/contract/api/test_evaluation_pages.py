"""Proposals handed in alone, in the console: listed, cancelled and run again. The front page leads there."""

import httpx2

from orchestrator.jobs.models import Problem
from tests.contract.api.console_forms import open_session, submit_form
from tests.contract.api.service import BODY, OTHER, TEXT, Service

HOSTILE = "<img src=http://127.0.0.1:1/x onerror=alert(1)>"


async def submit_evaluation(service: Service, **idea: str) -> str:
    answer = await service.machine.post("/v1/evaluations", json=BODY | {"idea": {"text": TEXT, **idea}})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def act(client: httpx2.AsyncClient, job: str, action: str) -> str:
    answer = await submit_form(client, f"/console/proposals/{job}", f"/{action}")
    assert (answer.status_code, answer.headers["location"]) == (303, f"/console/proposals/{job}")
    return (await client.get(f"/console/proposals/{job}")).text


async def test_front_page_redirects_to_console_and_unauthenticated_users_to_sign_in(service: Service) -> None:
    async with service.open_client() as anonymous:
        front = await anonymous.get("/")
        assert (front.status_code, front.headers["location"]) == (303, "/console")
        assert (await anonymous.get("/console")).headers["location"].startswith("/console/sign-in")


async def test_single_proposals_are_listed_by_state_with_monthly_usage(service: Service) -> None:
    first = await submit_evaluation(service, title="Rehearsal")
    await service.finish(Problem(type="x", title="It cannot be read", detail=HOSTILE))
    second = await submit_evaluation(service, title=HOSTILE)
    async with open_session(service, await service.create_key()) as client:
        page = (await client.get("/console/evaluations")).text
        assert page.index(second) < page.index(first)
        assert "1 queued, 1 failed, 0 language model requests" in page
        assert HOSTILE not in page
        assert page.count("&lt;img src=http://127.0.0.1:1/x onerror=alert(1)&gt;") == 2
        failed = (await client.get("/console/evaluations?state=failed")).text
        assert first in failed
        assert second not in failed
        assert "No proposals are in this state." in (await client.get("/console/evaluations?state=succeeded")).text
        assert (await client.get("/console/evaluations?state=lost")).status_code == 422
    async with open_session(service, await service.create_key(tenant=OTHER)) as other_tenant:
        assert "There are no proposals yet." in (await other_tenant.get("/console/evaluations")).text


async def test_single_proposal_is_cancelled_and_evaluated_again(service: Service) -> None:
    job = await submit_evaluation(service, title="Rehearsal")
    async with open_session(service, await service.create_key()) as client:
        assert "the evaluation is cancelled" in await act(client, job, "cancel")
        again = await act(client, job, "retry")
        assert "Evaluate again" not in again
        assert "Cancel evaluation" in again
        await service.finish()
        report = (await client.get(f"/console/proposals/{job}")).text
        assert "Report findings" in report
        assert "Cancel evaluation" not in report
        assert "Report findings" in await act(client, job, "cancel")


async def test_long_list_is_paged(service: Service) -> None:
    rows = "\n".join(f'Number {n},"{TEXT} {n}"' for n in range(60))
    answer = await service.machine.post("/v1/batches", files=[("file", ("call.csv", f"title,text\n{rows}\n".encode()))])
    assert answer.status_code == 202
    async with open_session(service, await service.create_key()) as client:
        first = (await client.get("/console/evaluations")).text
        more = first.partition('<p class="pager"><a href="')[2].partition('"')[0].replace("&amp;", "&")
        second = (await client.get(more)).text
    assert (first.count("Number "), second.count("Number ")) == (50, 10)


async def test_succeeded_proposal_without_its_report_is_not_offered_again(service: Service) -> None:
    job = await submit_evaluation(service, title="Rehearsal")
    await service.finish()
    await service.database.execute("DELETE FROM evaluations")
    async with open_session(service, await service.create_key()) as client:
        page = (await client.get(f"/console/proposals/{job}")).text
    assert "The report is no longer stored." in page
    assert "Evaluate again" not in page
