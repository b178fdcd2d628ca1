"""API keys and tenants: who is let in, how fast, and that no key can be read back."""

import asyncio
import datetime as dt

import pytest

from orchestrator.access.api_keys import ApiKey, Caller, GeneratedKey, KeyPlan, KeyRejection, generate_key
from orchestrator.access.audit_chain import ActBy
from orchestrator.jobs.models import KeyId, TenantId
from orchestrator.store import ApiKeySettings, Database, PgKeys, PgTenants
from tests.contract.store_jobs import ACME, NOW, OPERATOR, OTHER, create_tenant

READER = KeyPlan(name="reader", scopes=frozenset({"read", "submit"}))


@pytest.fixture
async def keys(database: Database) -> PgKeys:
    await create_tenant(database)
    await create_tenant(database, OTHER)
    return PgKeys(database, ApiKeySettings(requests_per_minute=60, burst_seconds=3))


def add_seconds(seconds: float) -> dt.datetime:
    return NOW + dt.timedelta(seconds=seconds)


async def create_key(keys: PgKeys, plan: KeyPlan = READER) -> GeneratedKey:
    generated = generate_key()
    assert isinstance(await keys.create(ACME, plan, generated), ApiKey)
    return generated


async def test_key_authenticates_its_tenant_with_its_scopes(keys: PgKeys) -> None:
    created = await create_key(keys)

    caller = await keys.authenticate(created.secret, NOW)

    assert isinstance(caller, Caller)
    assert (caller.tenant, caller.key, caller.scopes) == (ACME, created.id, READER.scopes)
    assert caller.rate is not None
    assert (caller.rate.per_minute, caller.rate.remaining, caller.rate.full_seconds) == (60, 2, 1.0)


@pytest.mark.parametrize("secret", ["", "ak_1", "ak_x_" + "a" * 43, "Bearer", "\0", "é" * 50])
async def test_invalid_key_is_rejected_as_unknown(keys: PgKeys, secret: str) -> None:
    assert await keys.authenticate(secret, NOW) == KeyRejection("unknown")


async def test_key_is_rejected_from_its_expiry_time(keys: PgKeys) -> None:
    created = await create_key(keys, READER.model_copy(update={"expires_at": add_seconds(10)}))

    before, at_last = [await keys.authenticate(created.secret, add_seconds(seconds)) for seconds in (9.9, 10)]

    assert isinstance(before, Caller)
    assert isinstance(at_last, KeyRejection)
    assert at_last.reason == "expired"


async def test_revoked_key_is_rejected_and_keeps_its_revocation_time(keys: PgKeys) -> None:
    created = await create_key(keys)

    first = await keys.revoke(ACME, created.id, ActBy(OPERATOR, NOW))
    second = await keys.revoke(ACME, created.id, ActBy(OPERATOR, add_seconds(60)))

    assert first is not None
    assert first == second
    assert first.revoked_at == NOW
    rejection = await keys.authenticate(created.secret, add_seconds(1))
    assert isinstance(rejection, KeyRejection)
    assert rejection.reason == "revoked"


async def pass_time(database: Database, seconds: float) -> None:
    """Simulate the passing of this many seconds since the last requests."""
    await database.execute("UPDATE request_rates SET full_at = full_at - $1 * interval '1 second'", seconds)


async def test_requests_over_rate_limit_are_rejected_until_retry_time(keys: PgKeys, database: Database) -> None:
    """The rate is one per second, with a burst of three."""
    secret = (await create_key(keys)).secret

    results = [await keys.authenticate(secret, NOW) for _ in range(4)]
    await pass_time(database, 1)
    later_result = await keys.authenticate(secret, NOW)
    again = await keys.authenticate(secret, NOW)

    assert [type(item) for item in results] == [Caller, Caller, Caller, KeyRejection]
    rejection = results[-1]
    assert isinstance(rejection, KeyRejection)
    assert rejection.reason == "rate"
    assert rejection.retry_after == pytest.approx(1.0, abs=0.3)
    assert isinstance(later_result, Caller)
    assert isinstance(again, KeyRejection)


async def test_rate_limit_uses_the_database_clock(keys: PgKeys) -> None:
    """Replicas whose clocks differ by hours share one rate."""
    secret = (await create_key(keys)).secret

    results = [await keys.authenticate(secret, add_seconds(hours * 3_600)) for hours in (0, 1, -1, 2)]

    assert [type(item) for item in results] == [Caller, Caller, Caller, KeyRejection]


async def test_concurrent_processes_share_a_single_rate_limit(keys: PgKeys) -> None:
    secret = (await create_key(keys)).secret

    results = await asyncio.gather(*(keys.authenticate(secret, NOW) for _ in range(20)))

    assert sum(isinstance(item, Caller) for item in results) == 3
    assert all(item.retry_after is None or item.retry_after > 0.5 for item in results if isinstance(item, KeyRejection))


async def test_keys_of_a_tenant_share_its_rate_ceiling(database: Database) -> None:
    """Ten a minute, two at once; another tenant is not held up."""
    await create_tenant(database)
    await create_tenant(database, OTHER)
    keys = PgKeys(database, ApiKeySettings(requests_per_minute_per_tenant=10, burst_seconds=12))
    greedy = [await create_key(keys, READER.model_copy(update={"requests_per_minute": 1_000_000})) for _ in range(3)]
    honest = generate_key()
    await keys.create(OTHER, READER, honest)

    results = [await keys.authenticate(key.secret, NOW) for key in greedy]

    assert [type(item) for item in results] == [Caller, Caller, KeyRejection]
    rejection = results[-1]
    assert isinstance(rejection, KeyRejection)
    assert rejection.reason == "tenant rate"
    assert rejection.retry_after == pytest.approx(6.0, abs=0.3)
    assert isinstance(await keys.authenticate(honest.secret, NOW), Caller)
    await pass_time(database, 6)
    assert isinstance(await keys.authenticate(greedy[2].secret, NOW), Caller)


async def test_secret_key_is_absent_from_database_and_repr(keys: PgKeys, database: Database) -> None:
    created = await create_key(keys)
    random = created.secret.removeprefix(f"{created.id}_")

    rows = await database.fetch("SELECT api_keys::text AS row FROM api_keys")

    assert len(random) == 43
    assert rows
    assert not any(random in row["row"] for row in rows)
    assert random not in repr(created) + repr(await keys.list(ACME))


async def test_keys_are_visible_only_to_their_tenant(keys: PgKeys) -> None:
    created = await create_key(keys)

    (listed_key,) = await keys.list(ACME)

    assert (listed_key.id, listed_key.name, listed_key.scopes, listed_key.revoked_at) == (
        created.id,
        "reader",
        READER.scopes,
        None,
    )
    assert await keys.list(OTHER) == []
    assert await keys.get(OTHER, created.id) is None
    assert await keys.revoke(OTHER, created.id, ActBy(OPERATOR, NOW)) is None
    assert await keys.revoke(ACME, KeyId("ak_0"), ActBy(OPERATOR, NOW)) is None
    assert isinstance(await keys.authenticate(created.secret, NOW), Caller)


async def test_key_for_an_unknown_tenant_is_not_created(keys: PgKeys) -> None:
    assert await keys.create(TenantId("nobody"), READER, generate_key()) is None


async def test_creating_the_same_key_twice_stores_it_once(keys: PgKeys) -> None:
    generated = generate_key()

    assert await keys.create(ACME, READER, generated) == await keys.create(ACME, READER, generated)
    assert len(await keys.list(ACME)) == 1


async def test_key_of_a_deleted_tenant_is_unknown(keys: PgKeys, database: Database) -> None:
    created = await create_key(keys)
    await PgTenants(database).delete(ACME, ActBy(OPERATOR, NOW))

    assert await keys.authenticate(created.secret, NOW) == KeyRejection("unknown")
