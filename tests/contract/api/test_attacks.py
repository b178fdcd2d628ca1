"""The attacks of `python -m benchmarks.hostile.attacks service` fail here, and reach only this machine."""

from collections.abc import AsyncIterator

import httpx2
import pytest

from benchmarks.hostile.attacks.crowds import CROWDS
from benchmarks.hostile.attacks.honest import ask_honestly
from benchmarks.hostile.attacks.single import generate_attacks, send_attack
from benchmarks.hostile.attacks.target import Target, prepare_target
from tests.contract.api.service import Service, serve

SHARE = 0.01
"""Share of the full size used for large attacks here; the program runs them in full."""
KEYS = 4


@pytest.fixture
async def target(service: Service) -> AsyncIterator[Target]:
    async with serve(service.app) as url, prepare_target(url, await service.create_key("admin"), KEYS) as new_target:
        yield new_target


async def test_every_single_attack_is_refused_or_answered(target: Target) -> None:
    attacks = list(generate_attacks(target, SHARE))
    async with httpx2.AsyncClient(base_url=target.url, timeout=60) as client:
        responses = [await send_attack(client, target, item) for item in attacks]
    assert [(item, attack) for item, attack in zip(responses, attacks, strict=True) if not item.has_held] == []


async def test_mass_attacks_cause_no_server_errors_or_refusals_for_others(target: Target) -> None:
    for crowd in CROWDS.values():
        came_back = await crowd(target, 0.3)
        assert came_back.total() > 0
        assert not {"500", "502"} & came_back.keys()
    assert not (await ask_honestly(target, 0.1)).refusals


async def test_tenants_of_the_attacks_are_gone_afterwards(service: Service) -> None:
    async with serve(service.app) as url:
        async with prepare_target(url, await service.create_key("admin"), KEYS) as target:
            assert len(set(target.attacker_keys)) == KEYS
        async with service.open_client(await service.create_key("admin"), url) as client:
            names = {item["id"] for item in (await client.get("/v1/tenants")).json()["items"]}
    assert names == {"acme", "other"}


@pytest.mark.parametrize("url", ["http://192.0.2.1:80", "http://127.0.0.1.example.org", "http://"])
async def test_service_of_another_machine_is_not_attacked(url: str) -> None:
    with pytest.raises(ValueError, match="not on this machine"):
        async with prepare_target(url, "ak_1_x"):
            pass
