"""The rate of requests of a person, in all of their sessions together."""

import pytest

from orchestrator.access.sessions import NewSession, generate_token
from orchestrator.settings import AccessSettings
from orchestrator.store.sessions import PgSessions
from tests.contract.api.console_forms import open_session
from tests.contract.api.people import add_person
from tests.contract.api.problems import check_problem
from tests.contract.api.service import ACME, Service


def limit_rate(service: Service, per_minute: int) -> Service:
    settings = AccessSettings(requests_per_minute=per_minute, burst_seconds=60)
    return service.with_services(access=settings, sessions=PgSessions(service.database, settings))


async def test_request_rate_of_a_person_is_shared_across_sessions(service: Service) -> None:
    slow, key = limit_rate(service, 4), (await add_person(service, "officer", "Otto Officer")).key
    other_key = (await add_person(service, "officer", "Olga Other")).key
    async with (
        open_session(slow, key) as first,
        open_session(slow, key) as second,
        open_session(slow, other_key) as unhindered,
    ):
        statuses = [(await browser.get("/console/account")).status_code for browser in (first, second)]
        statuses += [(await browser.get("/v1/batches")).status_code for browser in (first, second)]
        assert statuses == [200] * 4
        answer = await first.get("/v1/batches")
        wait_seconds = check_problem(answer, 429, "rate-limited")
        assert wait_seconds.retry_after == int(answer.headers["retry-after"])
        assert 1 <= wait_seconds.retry_after <= 15
        page = await second.get("/console/account", headers={"Accept": "text/html"})
        assert (page.status_code, page.headers["content-type"]) == (429, "text/html; charset=utf-8")
        assert f"Try again in {page.headers['retry-after']} s." in page.text
        assert (await unhindered.get("/v1/batches")).status_code == 200
        # Files loaded by pages, and pages that need no session, do not count.
        assert (await first.get("/console/sign-in")).status_code == 200
        async with slow.open_client(key) as program:
            assert (await program.get("/v1/batches")).status_code == 200


async def test_rate_limited_session_recovers_after_waiting(service: Service) -> None:
    now = service.services.clock.now()
    settings = AccessSettings(requests_per_minute=2, burst_seconds=60)
    sessions, token = PgSessions(service.database, settings), generate_token()
    member = (await add_person(service, "officer")).member.id
    await sessions.begin(token, NewSession(ACME, "officer", "x", member=member), now)

    async def get_wait_after(seconds: float) -> float | None:
        """Let seconds pass on the database's clock, then return the wait of the session."""
        await service.database.execute("UPDATE request_rates SET full_at = full_at - $1 * interval '1 second'", seconds)
        session = await sessions.find(token, now)
        assert session is not None
        return session.wait_seconds

    assert [await get_wait_after(0), await get_wait_after(0)] == [None, None]
    assert await get_wait_after(10) == pytest.approx(20, abs=1)
    assert await get_wait_after(20) is None
    assert await get_wait_after(1) == pytest.approx(29, abs=1)
