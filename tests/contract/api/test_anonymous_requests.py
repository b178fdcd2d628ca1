"""Requests without a key or session send no statement to the database, and forms open to everyone read by an index."""

import datetime as dt
from collections.abc import Iterator, Sequence

import pytest

from orchestrator.store import key_store, mails, sessions
from orchestrator.store.migrator import AnyConnection
from tests.contract.api.identity_provider import open_browser_client, run_provider, use_identity_provider
from tests.contract.api.routes import iterate_console_routes, list_api_operations
from tests.contract.api.service import Service

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the provider's own code

START = "/console/sign-in/agency"
_READS_ONE_ROW = {"/console/sign-in/link/{token}"}
"""Pages that look up what the address names."""
NOW, MINUTE = dt.datetime(2026, 1, 2, tzinfo=dt.UTC), dt.timedelta(minutes=1)
_FILL = (
    "INSERT INTO tenants (id, name) SELECT 'tenant_' || n, 't' FROM generate_series(1, 4000) AS n",
    """
    INSERT INTO members (id, tenant, name, email, affiliation, role, invited_by)
    SELECT 'mb_' || n, 'tenant_' || n % 4000 + 1, 'A', 'a' || n || '@example.org', '', 'reviewer', 'mb_0'
    FROM generate_series(1, 20000) AS n
    """,
    """
    INSERT INTO api_keys (id, tenant, name, hash, scopes)
    SELECT 'key_' || id, tenant, 'k', sha256(id::bytea), '{read}' FROM members
    """,
    """
    INSERT INTO sign_in_links (hash, member, expires_at)
    SELECT sha256(id::bytea), id, now() + interval '1 day' FROM members
    """,
    """
    INSERT INTO sessions (hash, tenant, role, name, member, created_at, seen_at, ends_at)
    SELECT sha256(id::bytea), tenant, role, name, id, now(), now(), now() + interval '1 day' FROM members
    """,
    "INSERT INTO mails (member, news) SELECT id, '{}' FROM members",
    "INSERT INTO request_rates SELECT 'key ' || id, now() FROM api_keys",
    "ANALYZE",
)
_STATEMENTS: dict[str, tuple[str, Sequence[object]]] = {
    "link asked for": (mails._INSERT_SIGN_IN_LINK, ("ada@example.org", "{}")),
    "link opened": (mails._SELECT_LINK, (b"hash", NOW)),
    "link used": (mails._USE_LINK, (b"hash", NOW)),
    "key": (key_store._AUTHENTICATE, (b"hash", NOW, 600, 10.0, 6_000)),
    "session": (sessions._SELECT_SESSION, (b"hash", NOW, NOW, MINUTE, MINUTE)),
}


@pytest.fixture
def executed_statements(service: Service, monkeypatch: pytest.MonkeyPatch) -> list[object]:
    """Works that are given to the database from now on."""
    database, works = service.database, list[object]()
    run = database.run

    async def observed(work: object, seconds: float | None = None) -> object:
        works.append(work)
        return await run(work, seconds)  # type: ignore[arg-type]

    monkeypatch.setattr(database, "run", observed)
    return works


@pytest.fixture(scope="module")
def provider_url() -> Iterator[str]:
    with run_provider() as provider:
        yield provider.url


def _iterate_operations(service: Service) -> Iterator[tuple[str, str]]:
    yield from list_api_operations(service.app)
    for route, _ in iterate_console_routes(service):
        if route.path not in _READS_ONE_ROW:
            yield from ((method, route.path) for method in sorted(route.methods or ()))


async def test_anonymous_request_sends_no_statement(service: Service, executed_statements: list[object]) -> None:
    statuses = dict[tuple[str, str], int]()
    async with service.open_client() as client:
        for method, path in _iterate_operations(service):
            answer = await client.request(method, path.replace("{", "").replace("}", ""))
            statuses[method, path] = answer.status_code
            assert executed_statements == [], (method, path)
    assert len(statuses) > 200
    assert {status for status in statuses.values() if status >= 500} == set()


async def test_redirect_to_identity_provider_sends_no_statement(
    service: Service, provider_url: str, executed_statements: list[object]
) -> None:
    async with open_browser_client(use_identity_provider(service, provider_url)) as client:
        for _ in range(20):
            assert (await client.get(START)).status_code == 303
            assert (await client.get("/console/callback", params={"code": "c", "state": "s"})).status_code == 400
    assert executed_statements == []


async def test_statements_of_anonymous_forms_read_by_an_index(table_owner: AnyConnection) -> None:
    filling = table_owner.transaction()
    await filling.start()
    for fill in _FILL:
        await table_owner.execute(fill)
    plans = {
        name: [row[0] for row in await table_owner.fetch(f"EXPLAIN {statement}", *values)]
        for name, (statement, values) in _STATEMENTS.items()
    }
    await filling.rollback()
    scans = {name: [line for line in plan if "Seq Scan on" in line] for name, plan in plans.items()}
    assert not any(scans.values()), scans
