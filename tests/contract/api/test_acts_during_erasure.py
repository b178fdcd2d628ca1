"""Actions on a proposal while it is being erased: they succeed or return 410, and never cause a database error."""

import asyncio
from collections.abc import Awaitable, Callable
from functools import partial
from typing import Any

import httpx2
import pytest

from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import JobId
from orchestrator.store import Database
from orchestrator.store.database import Connection
from orchestrator.store.migrator import AnyConnection
from orchestrator.store.retention import erase_jobs
from tests.contract.api.console_forms import fetch_csrf_token, open_session
from tests.contract.api.erasures import wait_for_blocked_statements
from tests.contract.api.people import OPERATOR, Person, add_person, call_of
from tests.contract.api.problems import check_problem
from tests.contract.api.service import ACME, BODY, Service
from tests.contract.store_jobs import NOW

Ask = Callable[[], Awaitable[httpx2.Response]]

_ACTS: dict[str, tuple[str, dict[str, Any]]] = {
    "opinions": ("reviewer", {"score": 2, "note": "weak"}),
    "conflicts": ("reviewer", {"reason": "a friend"}),
    "remarks": ("owner", {"text": "Look at the budget."}),
    "override": ("owner", {"score": 2, "reason": "because"}),
}


async def ask_during_erasure(service: Service, evaluation: str, ask: Ask) -> httpx2.Response:
    """Return the response to a request that arrives during the erasure and continues once it is done."""

    async def erase(connection: Connection) -> "asyncio.Future[httpx2.Response]":
        async with connection.transaction():
            await erase_jobs(connection, ACME, [JobId(evaluation)], NOW, 1)
            acting = asyncio.ensure_future(ask())
            await wait_for_blocked_statements(service.database, 1)
        return acting

    return await (await service.database.run(erase))


async def ask_before_erasure(service: Service, evaluation: str, ask: Ask) -> httpx2.Response:
    """Return the response to a request that already holds the call when the erasure arrives.

    The request checks whether the call is signed off once it holds it, and is blocked there."""
    connection = await service.database.connect_unpooled()
    try:
        async with connection.transaction():
            await connection.execute("LOCK TABLE sign_offs IN ACCESS EXCLUSIVE MODE")
            acting = asyncio.ensure_future(ask())
            await wait_for_blocked_statements(service.database, 1)
            task = asyncio.create_task(service.services.erasures.erase(ACME, [JobId(evaluation)], ActBy(OPERATOR, NOW)))
            await wait_for_blocked_statements(service.database, 2)
        answer = await acting
        await task
        return answer
    finally:
        await connection.close()


async def create_assigned_proposal(service: Service, owner: Person) -> str:
    """A proposal of a call, which is assigned."""
    batch, (first,) = await call_of(service, "# One")
    assigned = await owner.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    assert assigned.status_code == 200, assigned.text
    return first


async def list_acts_with_words(database: Database, evaluation: str) -> list[str]:
    """Acts of which the audit log still has the words."""
    rows = await database.fetch(
        """
        SELECT entry.action FROM audit_contents AS words JOIN audit_log AS entry USING (tenant, number)
        WHERE words.subject = $1 AND entry.action <> 'erased'
        """,
        evaluation,
    )
    return [row["action"] for row in rows]


@pytest.mark.parametrize("route", ["remarks", "override", "conflicts"])
async def test_acts_on_a_single_evaluation_during_its_erasure_return_410(service: Service, route: str) -> None:
    """The call is not locked, because the erasure would have to wait for the lock."""
    owner, reviewer = await add_person(service, "owner", "Olga Owner"), await add_person(service, "reviewer")
    single = (await service.machine.post("/v1/evaluations", json=BODY)).json()["id"]
    body = _ACTS[route][1] | ({"reviewer": reviewer.member.id} if route == "conflicts" else {})
    ask = partial(owner.post, f"/v1/evaluations/{single}/{route}", json=body)
    check_problem(await ask_during_erasure(service, single, ask), 410, "gone")
    assert await list_acts_with_words(service.database, single) == []


@pytest.mark.parametrize("meets", [ask_during_erasure, ask_before_erasure])
@pytest.mark.parametrize("route", _ACTS)
async def test_acts_on_a_call_during_an_erasure_succeed_or_return_410(
    service: Service, route: str, meets: Callable[[Service, str, Ask], Awaitable[httpx2.Response]]
) -> None:
    owner, ada = await add_person(service, "owner", "Olga Owner"), await add_person(service, "reviewer")
    first = await create_assigned_proposal(service, owner)
    role, body = _ACTS[route]
    actor = ada if role == "reviewer" else owner
    answer = await meets(service, first, partial(actor.post, f"/v1/evaluations/{first}/{route}", json=body))
    if answer.status_code not in (200, 201):
        check_problem(answer, 410, "gone")
    assert await service.database.fetch("SELECT FROM jobs") == []
    assert await list_acts_with_words(service.database, first) == []


async def test_opinion_erased_right_after_submission_is_still_accepted(
    service: Service, table_owner: AnyConnection
) -> None:
    owner, ada = await add_person(service, "owner", "Olga Owner"), await add_person(service, "reviewer")
    first = await create_assigned_proposal(service, owner)
    # At the very end of the transaction that gives the opinion.
    await table_owner.execute("""
        CREATE FUNCTION erase_at_once() RETURNS trigger LANGUAGE plpgsql AS $$
        BEGIN
            DELETE FROM jobs WHERE id = NEW.evaluation;
            RETURN NULL;
        END $$
    """)
    await table_owner.execute("""
        CREATE CONSTRAINT TRIGGER erased_at_once AFTER INSERT OR UPDATE ON opinions DEFERRABLE INITIALLY DEFERRED
        FOR EACH ROW EXECUTE FUNCTION erase_at_once()
    """)
    try:
        answer = await ada.post(f"/v1/evaluations/{first}/opinions", json={"score": 2})
    finally:
        await table_owner.execute("DROP FUNCTION erase_at_once CASCADE")
    assert (answer.status_code, answer.json().get("blind_score")) == (200, 2), answer.text


async def test_page_action_during_an_erasure_reports_the_erasure(service: Service, owner: Person) -> None:
    async with service.open_caller() as machine, open_session(service, owner.key) as browser:
        single = (await machine.post("/v1/evaluations", json=BODY)).json()["id"]
        form = {
            "csrf_token": await fetch_csrf_token(browser, f"/console/proposals/{single}"),
            "text": "Look at the budget.",
        }
        path, headers = f"/console/proposals/{single}/remarks", {"Origin": "http://api"}
        answer = await ask_during_erasure(service, single, partial(browser.post, path, data=form, headers=headers))
    assert answer.status_code == 410
    assert "was erased on" in answer.text
