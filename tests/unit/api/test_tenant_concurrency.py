"""A crowd of one tenant's requests, and who comes beside it."""

import asyncio

import pytest
from starlette.types import Message, Receive, Scope, Send

from orchestrator.settings import AccessSettings, ApiSettings
from orchestrator.web.backpressure import release_slots
from orchestrator.web.request_log import RequestRecord
from orchestrator.web.tenant_concurrency import TenantConcurrency, record_tenant

HOUR_SECONDS = 3_600.0


class Application:
    """Works on requests until `go_on`, and tells how many it has in hand."""

    def __init__(self, status: int = 200, waits_first: bool = False, is_held_open: bool = False) -> None:
        self.status = status
        self.waits_first = waits_first
        self.is_held_open = is_held_open
        self.in_hand = 0
        self.knows = True
        """Whether the application knows which tenant the requests are from."""
        self.go_on = asyncio.Event()

    async def __call__(self, scope: Scope, receive: Receive, send: Send) -> None:
        visit: RequestRecord = scope["assayer.request_record"]
        if self.knows:
            await record_tenant(scope, str(visit.tenant))
        if visit.request_id == "first":
            return
        self.in_hand += 1
        if self.waits_first:
            await receive()
        if self.is_held_open:
            release_slots(scope)
        if self.status == 200:
            await self.go_on.wait()
        await send({"type": "http.response.start", "status": self.status, "headers": []})


class Crowd:
    """Clients that send requests and record the answers."""

    def __init__(self, application: Application | None = None, **settings: float) -> None:
        self.application = application or Application()
        limits = ApiSettings.model_validate({"max_requests_per_tenant": 2, **settings})
        self.turns = TenantConcurrency(self.application, limits, AccessSettings(url="https://assayer.example.org"))
        self.answers: list[int] = []
        self.tasks: set[asyncio.Task[None]] = set()
        self.client = asyncio.Event()
        """Sends its body when this is set."""

    async def send(
        self, count: int, tenant: str = "acme", is_introduced: bool = True, page: str = "", method: str = "GET"
    ) -> None:
        """Send requests and let them get as far as they can. If `introduced`, an earlier request used the same key
        or, for a page, the same session."""
        if is_introduced:
            await self._send_request(tenant, "first", page, method)
        self.tasks |= {asyncio.create_task(self._send_request(tenant, "next", page, method)) for _ in range(count)}
        for _ in range(10):
            await asyncio.sleep(0)

    async def _send_request(self, tenant: str, name: str, page: str, method: str) -> None:
        async def receive() -> Message:
            await self.client.wait()
            return {"type": "http.request", "body": b"", "more_body": False}

        async def send(message: Message) -> None:
            if message["type"] == "http.response.start":
                self.answers.append(message["status"])

        key = f"Bearer ak_{tenant}_{'x' * 43}"
        session = f"__Host-assayer-session={tenant:s<43}"
        headers = [(b"cookie", session.encode()) if page else (b"authorization", key.encode())]
        scope = {"type": "http", "method": method, "path": page or "/v1/batches", "headers": headers}
        await self.turns(scope | {"assayer.request_record": RequestRecord(name, tenant=tenant)}, receive, send)

    async def finish(self) -> None:
        """Let the application answer all requests."""
        self.application.go_on.set()
        await asyncio.gather(*self.tasks)

    async def close(self) -> None:
        for task in self.tasks:
            task.cancel()
        await asyncio.gather(*self.tasks, return_exceptions=True)


@pytest.mark.parametrize("page", ["", "/console", "/v1/batches"])
async def test_session_and_api_key_requests_share_a_concurrency_limit_that_does_not_delay_other_tenants(
    page: str,
) -> None:
    crowd = Crowd()
    await crowd.send(5, page=page)
    assert crowd.application.in_hand == 2
    await crowd.send(5, is_introduced=False)
    assert crowd.application.in_hand == 2
    await crowd.send(1, "other", page=page)
    assert crowd.application.in_hand == 3
    await crowd.finish()
    assert crowd.answers == [200] * 11


@pytest.mark.parametrize(
    ("page", "method"), [("/console", "GET"), ("/v1/batches", "GET"), ("/console/sign-in", "POST")]
)
async def test_lookups_of_invalid_sessions_and_keys_are_limited(page: str, method: str) -> None:
    application = Application()
    application.knows = False
    crowd = Crowd(application)
    for number in range(20):
        await crowd.send(1, f"made-up-{number}", is_introduced=False, page=page, method=method)
    assert application.in_hand == 4
    await crowd.send(3, "back", is_introduced=False, page="/console/callback")
    assert application.in_hand == 4 + 3
    await crowd.close()


async def test_request_waiting_for_client_uses_concurrency_slot_only_afterwards() -> None:
    application = Application(waits_first=True)
    crowd = Crowd(application)
    await crowd.send(5)
    assert application.in_hand == 5
    crowd.client.set()
    await crowd.finish()
    assert crowd.answers == [200] * 5


@pytest.mark.parametrize(("count", "is_introduced"), [(5, True), (20, False)])
async def test_long_lived_requests_are_exempt_from_concurrency_and_lookup_limits(
    count: int, is_introduced: bool
) -> None:
    application = Application(is_held_open=True)
    crowd = Crowd(application)
    await crowd.send(count, is_introduced=is_introduced)
    assert application.in_hand == count
    await crowd.close()


async def test_delayed_rejection_does_not_occupy_a_concurrency_slot() -> None:
    application = Application(status=429)
    crowd = Crowd(application, refusal_seconds=HOUR_SECONDS)
    await crowd.send(5)
    assert (application.in_hand, crowd.answers) == (5, [])
    await crowd.close()


async def test_requests_beyond_waiting_limit_are_rejected_and_counts_are_restored() -> None:
    crowd = Crowd(max_waiting_per_tenant=4, refusal_seconds=0)
    await crowd.send(5)
    assert crowd.answers == [429]
    await crowd.finish()
    await crowd.send(4)
    assert crowd.answers == [429] + [200] * 8
    await crowd.close()


async def test_rejections_beyond_delay_limit_are_sent_immediately(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("orchestrator.web.tenant_concurrency._MAX_DELAYED_REFUSALS", 3)
    crowd = Crowd(max_waiting_per_tenant=4, refusal_seconds=HOUR_SECONDS)
    await crowd.send(9)
    assert crowd.answers == [429] * 2
    await crowd.close()


async def test_delays_of_rejections_differ(monkeypatch: pytest.MonkeyPatch) -> None:
    delays: list[float] = []

    async def record_delay(seconds: float) -> None:
        delays.append(seconds)

    crowd = Crowd(max_waiting_per_tenant=4, refusal_seconds=8.0)
    with monkeypatch.context() as patched:
        patched.setattr("orchestrator.web.tenant_concurrency.asyncio.sleep", record_delay)
        tasks = [asyncio.ensure_future(crowd.turns._delay_refusal()) for _ in range(100)]
        await asyncio.gather(*tasks)
    assert min(delays) >= 4
    assert max(delays) <= 12
    assert max(delays) - min(delays) > 4
    await crowd.close()


async def test_cancelled_waiting_requests_release_their_slots() -> None:
    crowd = Crowd()
    await crowd.send(4)
    await crowd.close()
    await crowd.send(2)
    assert crowd.application.in_hand == 4
    await crowd.close()


async def test_requests_with_unknown_key_count_against_tenant_after_lookup() -> None:
    crowd = Crowd()
    await crowd.send(20, is_introduced=False)
    assert crowd.application.in_hand == 2
    await crowd.finish()
    assert crowd.answers == [200] * 20


async def test_unknown_key_lookups_are_limited_without_delaying_known_keys() -> None:
    crowd = Crowd()
    await crowd.send(1, "known")
    crowd.application.knows = False
    for number in range(20):
        await crowd.send(1, f"new{number}", is_introduced=False)
    assert crowd.application.in_hand == 1 + 4
    await crowd.send(1, "known", is_introduced=False)
    assert crowd.application.in_hand == 1 + 4 + 1
    await crowd.close()
