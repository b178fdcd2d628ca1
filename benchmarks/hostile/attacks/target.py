"""Service to attack, on this machine only, with two tenants created for the attacks."""

import ipaddress
import secrets
from collections.abc import AsyncIterator, Sequence
from contextlib import asynccontextmanager
from typing import NamedTuple
from urllib.parse import urlsplit

import httpx2

_SCOPES = ("submit", "read", "manage")
_KEYS_OF_ATTACKER = 60


class Target(NamedTuple):
    url: str
    honest_key: str
    """Key of a tenant that does nothing wrong."""
    honest_batch: str
    """Batch that no other tenant is allowed to see."""
    attacker_keys: Sequence[str]
    """Keys that the attacking tenant has created for itself."""
    batch: str
    """Batch of the attacker: open and without rows, so that its stream never ends."""

    @property
    def port(self) -> int:
        return int(urlsplit(self.url).port or 80)


@asynccontextmanager
async def prepare_target(url: str, admin_key: str, key_count: int = _KEYS_OF_ATTACKER) -> AsyncIterator[Target]:
    """Create two tenants with a key of the scope `admin`, and delete them with all their data at the end. Raises
    ValueError for an address that is not on this machine, and HTTPError if the service refuses."""
    _check_loopback(url)
    async with _open_client(url, admin_key) as client:
        names = [f"{name}-{secrets.token_hex(4)}" for name in ("honest", "attacker")]
        try:
            for name in names:
                await _post(client, "/v1/tenants", {"id": name, "name": f"Made by benchmarks.hostile.attacks: {name}"})
            honest, attacker = [await _create_key(client, name) for name in names]
            async with _open_client(url, attacker) as attacker_client:
                keys = [await _create_key(attacker_client, None) for _ in range(key_count)]
            batches = [await _open_batch(url, key) for key in (honest, attacker)]
            yield Target(url, honest, batches[0], keys, batches[1])
        finally:
            for name in names:
                await client.delete(f"/v1/tenants/{name}")


def _check_loopback(url: str) -> None:
    host = urlsplit(url).hostname or ""
    if host != "localhost" and not (_is_address(host) and ipaddress.ip_address(host).is_loopback):
        raise ValueError(f"{url} is not on this machine. Attack only your own service, on loopback.")


def _is_address(host: str) -> bool:
    try:
        ipaddress.ip_address(host)
    except ValueError:
        return False
    return True


def _open_client(url: str, key: str) -> httpx2.AsyncClient:
    return httpx2.AsyncClient(base_url=url, headers={"Authorization": f"Bearer {key}"}, timeout=60)


async def _post(client: httpx2.AsyncClient, path: str, body: object) -> dict[str, str]:
    response = await client.post(path, json=body)
    response.raise_for_status()
    answer_body: dict[str, str] = response.json()
    return answer_body


async def _create_key(client: httpx2.AsyncClient, tenant: str | None) -> str:
    """Create an API key with the highest rate limit available and return its secret."""
    body = {"name": "attacks", "scopes": _SCOPES, "requests_per_minute": 1_000_000, "tenant": tenant}
    return (await _post(client, "/v1/keys", body))["secret"]


async def _open_batch(url: str, key: str) -> str:
    async with _open_client(url, key) as client:
        response = await client.post(
            "/v1/batches?open=true", content=b'{"title": "-"}\n', headers={"Content-Type": "application/jsonl"}
        )
        response.raise_for_status()
        return str(response.json()["id"])
