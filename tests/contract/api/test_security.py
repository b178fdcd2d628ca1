"""Access control: reasons for a refusal, scopes, rate limits, and the cost of a refusal to the service."""

import datetime as dt

import httpx2
import pytest

from tests.contract.api.problems import check_problem
from tests.contract.api.service import BODY, Service

_PAST = dt.datetime(2020, 1, 1, tzinfo=dt.UTC)


def get_challenge(answer: httpx2.Response) -> str | None:
    document = check_problem(answer, 401, "unauthenticated")
    assert answer.headers["www-authenticate"].startswith('Bearer realm="assayer"')
    return document.reason


async def test_missing_key_challenge_contains_no_error(service: Service) -> None:
    async with service.open_client() as client:
        answer = await client.get("/v1/evaluations")
    assert get_challenge(answer) == "missing"
    assert "error=" not in answer.headers["www-authenticate"]


@pytest.mark.parametrize("header", ["Basic YTpi", "Bearer", "Bearer ak_1_short", "Bearer ak_é", "ak_1"])
async def test_invalid_key_is_reported_as_malformed(service: Service, header: str) -> None:
    async with service.open_client() as client:
        answer = await client.get("/v1/evaluations", headers=[(b"authorization", header.encode())])
    assert get_challenge(answer) == "malformed"


async def test_unknown_expired_and_revoked_keys_are_distinguished(service: Service) -> None:
    async with service.open_client(f"ak_0_{'x' * 43}") as client:
        assert get_challenge(await client.get("/v1/methods")) == "unknown"
    async with service.open_client(await service.create_key(expires_at=_PAST)) as client:
        assert get_challenge(await client.get("/v1/methods")) == "expired"
    secret = await service.create_key()
    async with service.open_caller("manage") as manager, service.open_client(secret) as client:
        assert (await client.get("/v1/methods")).status_code == 200
        revoked = await manager.delete(f"/v1/keys/{'_'.join(secret.split('_')[:2])}")
        assert revoked.json()["revoked_at"] is not None
        assert get_challenge(await client.get("/v1/methods")) == "revoked"


async def test_rejected_key_appears_in_neither_answer_nor_log(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    secret = f"ak_0_{'x' * 43}"
    with caplog.at_level("DEBUG"):
        async with service.open_client(secret) as client:
            answer = await client.get("/v1/evaluations")
    assert secret not in answer.text + str(answer.headers)
    assert secret not in caplog.text


@pytest.mark.parametrize(
    ("method", "path", "scope"),
    [
        ("POST", "/v1/evaluations", "submit"),
        ("GET", "/v1/evaluations", "read"),
        ("DELETE", "/v1/evaluations/ev_1", "submit"),
        ("POST", "/v1/keys", "manage"),
        ("GET", "/v1/tenants", "admin"),
        ("GET", "/v1/tenants/other", "admin"),
        ("GET", "/v1/keys?tenant=other", "admin"),
        ("GET", "/v1/usage?tenant=other", "admin"),
        ("GET", "/metrics", "metrics"),
    ],
)
async def test_the_scope_that_is_missing_is_named(service: Service, method: str, path: str, scope: str) -> None:
    other_scopes = {"submit", "read", "manage"} - {scope} if scope != "admin" else {"submit", "read", "manage"}
    async with service.open_caller(*sorted(other_scopes)) as client:  # type: ignore[arg-type]
        answer = await client.request(
            method, path, json=BODY if path == "/v1/evaluations" and method == "POST" else None
        )
    document = check_problem(answer, 403, "forbidden")
    assert document.scope == scope
    assert f'scope="{scope}"' in answer.headers["www-authenticate"]


async def test_metrics_key_has_access_to_metrics_only(service: Service) -> None:
    async with service.open_caller("metrics") as prometheus:
        assert (await prometheus.get("/metrics")).status_code == 200
        for path in ("/v1/evaluations", "/v1/keys", "/v1/tenants", "/v1/usage"):
            check_problem(await prometheus.get(path), 403, "forbidden")


async def test_rate_limited_key_receives_429_with_retry_after(service: Service) -> None:
    async with service.open_client(await service.create_key(per_minute=6)) as client:
        first = await client.get("/v1/methods")
        answer = await client.get("/v1/methods")
    assert first.headers["ratelimit-policy"] == '"key";q=6;w=60'
    assert first.headers["ratelimit"].startswith('"key";r=0;t=')
    document = check_problem(answer, 429, "rate-limited")
    assert document.retry_after == int(answer.headers["retry-after"])
    assert 1 <= document.retry_after <= 10
    assert answer.headers["ratelimit-policy"] == '"key";q=6;w=60'
