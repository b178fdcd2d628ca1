"""A call that is signed off: nothing about it changes any more, whoever asks and however quickly; erasing works."""

import asyncio
from collections.abc import Callable
from typing import Any

import httpx2
import pytest

from orchestrator.access.audit_chain import find_audit_faults
from orchestrator.jobs.models import Problem
from tests.contract.api.console_forms import fetch_csrf_token, open_session
from tests.contract.api.people import Person, add_person, call_of
from tests.contract.api.problems import check_problem
from tests.contract.api.service import ACME, JSONL_HEADERS, Service
from tests.unit.batch_bodies import make_idea_text, render_jsonl

Late = Callable[[httpx2.AsyncClient, str, str], Any]

_BROKEN = Problem(type="about:blank", title="It failed", detail="It failed.")


async def _sign_off(service: Service, batch: str, owner: Person | None = None) -> int:
    owner = owner or await add_person(service, "owner", "Olga Owner")
    answer = await owner.post(f"/v1/batches/{batch}/sign-off", json={"allow_unfinished_evaluations": True})
    assert answer.status_code == 200, answer.text
    number: int = answer.json()["audit_number"]
    return number


_LATE: dict[str, Late] = {
    "rows": lambda c, batch, _: c.post(
        f"/v1/batches/{batch}/rows?first_row=9&open=false",
        content=render_jsonl([{"title": "Moss", "text": make_idea_text(2)}]),
        headers=JSONL_HEADERS,
    ),
    "retry of the call": lambda c, batch, _: c.post(f"/v1/batches/{batch}/retry"),
    "cancel of the call": lambda c, batch, _: c.delete(f"/v1/batches/{batch}"),
    "name of the call": lambda c, batch, _: c.patch(f"/v1/batches/{batch}", json={"name": "Spring"}),
    "reviewers of the call": lambda c, batch, _: c.put(f"/v1/batches/{batch}/reviewers", json={"reviewers": None}),
    "invitation for the call": lambda c, batch, _: c.post(
        f"/v1/batches/{batch}/reviewers", json={"name": "Grace Hopper", "email": "grace@example.org"}
    ),
    "retry of one": lambda c, _, item: c.post(f"/v1/evaluations/{item}/retry"),
    "cancel of one": lambda c, _, item: c.delete(f"/v1/evaluations/{item}"),
    "remark": lambda c, _, item: c.post(f"/v1/evaluations/{item}/remarks", json={"text": "One more."}),
    "override": lambda c, _, item: c.post(f"/v1/evaluations/{item}/override", json={"score": 5, "reason": "a friend"}),
}


@pytest.mark.parametrize("act", _LATE)
async def test_signed_off_call_cannot_be_changed(service: Service, officer: Person, act: str) -> None:
    rows = [{"title": f"Reeds {n}", "text": make_idea_text(n)} for n in (1, 2)]
    answer = await officer.post("/v1/batches?open=true", content=render_jsonl(rows), headers=JSONL_HEADERS)
    batch = answer.json()["id"]
    failed, waits = [item["id"] for item in (await officer.get(f"/v1/batches/{batch}/evaluations")).json()["items"]]
    if act.startswith("retry"):
        failed = (await service.finish(_BROKEN)).job
    number = await _sign_off(service, batch)
    before = (await officer.get(f"/v1/batches/{batch}")).json()
    assert before["open"] is False
    problem = check_problem(await _LATE[act](officer, batch, failed if "retry" in act else waits), 409, "conflict")
    assert "was signed off on" in problem.detail
    after = (await officer.get(f"/v1/batches/{batch}")).json()
    assert [after[key] for key in ("rows", "states", "name", "open")] == [
        before[key] for key in ("rows", "states", "name", "open")
    ]
    log = await service.services.audit_log.list_entries(ACME)
    assert (log[-1].action, log[-1].number) == ("signed off", number)
    assert (log[-1].content or {}).get("unfinished_evaluations") == (1 if act.startswith("retry") else 2)


async def test_repeated_rows_request_is_answered_identically_after_sign_off(service: Service, officer: Person) -> None:
    answer = await officer.post(
        "/v1/batches?open=true",
        content=render_jsonl([{"title": "Reeds", "text": make_idea_text(1)}]),
        headers=JSONL_HEADERS,
    )
    batch, path = (
        answer.json()["id"],
        f"/v1/batches/{answer.json()['id']}/rows?first_row={answer.json()['next_row']}&open=true",
    )
    part, headers = (
        render_jsonl([{"title": "Moss", "text": make_idea_text(2)}]),
        JSONL_HEADERS | {"Idempotency-Key": "2"},
    )
    response = await officer.post(path, content=part, headers=headers)
    await _sign_off(service, batch)
    again = await officer.post(path, content=part, headers=headers)
    assert (again.status_code, again.json()) == (202, response.json())


async def test_concurrent_score_overrides_are_rejected_after_sign_off(service: Service) -> None:
    owner = await add_person(service, "owner", "Olga Owner")
    officer = await add_person(service, "officer", "Otto Officer")
    for n in range(6):
        batch, (first,) = await call_of(service, f"# One {n}")
        sets = (
            officer.post(f"/v1/evaluations/{first}/override", json={"score": 5, "reason": f"a friend {i}"})
            for i in range(8)
        )
        signed, *_ = await asyncio.gather(
            owner.post(f"/v1/batches/{batch}/sign-off", json={"allow_unfinished_evaluations": True}), *sets
        )
        number = signed.json()["audit_number"]
        late = await service.services.audit_log.list_entries(ACME, after=number)
        assert [entry.action for entry in late if entry.subject == first] == []


async def test_an_applicant_is_erased_from_a_call_that_is_signed_off(service: Service, owner: Person) -> None:
    batch, (first, second) = await call_of(service, "# One", "# Two")
    await _sign_off(service, batch, owner)
    answer = await owner.post("/v1/erasures", json={"source": "0.txt"})
    assert [item["id"] for item in answer.json()["jobs"]] == [first]
    check_problem(await owner.get(f"/v1/evaluations/{first}"), 410, "gone")
    assert (await owner.delete(f"/v1/evaluations/{second}?erase=true")).status_code == 204
    check_problem(await owner.get(f"/v1/evaluations/{second}"), 410, "gone")
    log = await service.services.audit_log.list_entries(ACME)
    assert [entry.action for entry in log[-2:]] == ["erased", "erased"]
    assert list(find_audit_faults(log, await service.services.audit_log.get_head(ACME))) == []


async def test_signed_off_pages_hide_unavailable_actions(service: Service) -> None:
    officer = await add_person(service, "officer", "Otto Officer")
    batch, (first, _) = await call_of(service, "# One", "# Two")
    await service.finish(_BROKEN)
    call, proposal = f"/console/calls/{batch}", f"/console/proposals/{first}"
    acts = ((f"{call}/cancel", call), (f"{call}/retry", call), (f"{proposal}/remarks", proposal))
    async with open_session(service, officer.key) as browser:
        pages = "".join([(await browser.get(page)).text for page in (call, proposal)])
        assert all(act in pages for act, _ in acts)
        token = await fetch_csrf_token(browser, proposal)
        await _sign_off(service, batch)
        pages = "".join([(await browser.get(page)).text for page in (call, proposal)])
        assert not any(act in pages for act, _ in acts)
        assert f'<a href="{call}/panel#signed">Statement and receipt</a>' in pages
        assert "The call is signed off and can no longer be changed." in (await browser.get(f"{call}/terms")).text
        for act, _ in acts:
            body = {"csrf_token": token, "text": "One more."}
            assert (await browser.post(act, data=body, headers={"Origin": "http://api"})).status_code == 409
