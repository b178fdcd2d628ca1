"""Signing in with an organisation's own accounts, at a real provider, and what of a provider is not believed."""

import json
import secrets
from base64 import urlsafe_b64decode, urlsafe_b64encode
from collections.abc import Iterator
from typing import Any
from urllib.parse import parse_qs, urlsplit

import httpx2
import pytest
from pydantic import ValidationError

from orchestrator.access.roles import PersonRole
from orchestrator.settings import AccessSettings, IdentityProviderSettings
from tests.contract.api.identity_provider import (
    CALLBACK,
    Provider,
    open_browser_client,
    run_provider,
    use_identity_provider,
)
from tests.contract.api.people import add_person
from tests.contract.api.service import ACME, OTHER, Service

pytestmark = pytest.mark.filterwarnings("ignore::DeprecationWarning")  # of the provider's own code

ADA = {"email": "ada.byron@example.org", "email_verified": True, "name": "Ada Byron"}
START = "/console/sign-in/agency"


@pytest.fixture(scope="module")
def provider() -> Iterator[Provider]:
    with run_provider() as running:
        yield running


async def _leave(client: httpx2.AsyncClient, subject: str, start: str = START) -> str:
    """Sign in at the provider; return the address that it redirects to."""
    response = await client.get(start)
    assert response.status_code == 303, response.text
    answer = await client.post(response.headers["location"], data={"sub": subject})
    assert answer.status_code == 302, answer.text
    assert answer.headers["location"].startswith(CALLBACK)
    return str(answer.headers["location"])


async def _get_role(client: httpx2.AsyncClient) -> PersonRole | None:
    """Return the role in which the browser has signed in, or None if it has not."""
    for role, path in (("reviewer", "/v1/assignments"), ("other", "/v1/evaluations")):
        answer = await client.get(path)
        if answer.status_code == 401:
            return None
        if role == "reviewer" and (await client.get("/v1/evaluations")).status_code == 403:
            return "reviewer"
    if (await client.get("/v1/audit-log")).status_code == 403:
        return "officer"
    return "owner" if (await client.get("/v1/keys")).status_code == 200 else "auditor"


async def test_invited_member_signs_in_with_their_own_account(service: Service, provider: Provider) -> None:
    invited = await add_person(service, "reviewer")
    await provider.create_account("ada-1", **ADA)
    service = use_identity_provider(service, provider.url)
    async with open_browser_client(service) as client:
        page = await client.get("/console/sign-in?next=/console/queue")
        assert 'href="/console/sign-in/agency?next=%2Fconsole%2Fqueue"' in page.text
        assert "your agency&#39;s account" in page.text
        back = await _leave(client, "ada-1", f"{START}?next=%2Fconsole%2Fqueue")
        arrived = await client.get(back)
        assert (arrived.status_code, arrived.headers["location"]) == (303, "/console/queue")
        assert parse_qs(urlsplit(back).query)["code"][0] in provider.verified
        assert await _get_role(client) == "reviewer"
    member = await service.services.members.get(ACME, invited.member.id)
    assert member is not None
    assert member.can_sign_in
    bound = (await service.services.audit_log.list_entries(ACME))[-1]
    assert (bound.action, bound.actor, bound.subject) == ("account bound", "provider:agency", invited.member.id)
    assert bound.content is not None
    assert (bound.content["subject"], bound.content["email"]) == ("ada-1", ADA["email"])


async def test_bound_account_stays_recognized_after_its_address_changes(service: Service, provider: Provider) -> None:
    await add_person(service, "reviewer")
    await provider.create_account("ada-2", **ADA)
    service = use_identity_provider(service, provider.url)
    async with open_browser_client(service) as client:
        await client.get(await _leave(client, "ada-2"))
    await provider.create_account("ada-2", email="married@example.org", email_verified=True)
    await provider.create_account("thief-2", **ADA)
    async with open_browser_client(service) as client:
        assert (await client.get(await _leave(client, "ada-2"))).status_code == 303
    async with open_browser_client(service) as client:
        assert (await client.get(await _leave(client, "thief-2"))).status_code == 403


@pytest.mark.parametrize(
    "claims",
    [
        {"email": "nobody@example.org", "email_verified": True},
        {"email": "ada.byron@example.org", "email_verified": False},
        {"email": "ada.byron@example.org"},
        {"email": "ada.byron@example.org", "email_verified": "true"},
        {},
    ],
)
async def test_unknown_or_unverified_address_is_refused(
    service: Service, provider: Provider, claims: dict[str, Any]
) -> None:
    await add_person(service, "reviewer")
    subject = f"stranger-{secrets.token_hex(4)}"
    await provider.create_account(subject, **claims)
    async with open_browser_client(use_identity_provider(service, provider.url)) as client:
        answer = await client.get(await _leave(client, subject))
        assert answer.status_code == 403
        assert "not a member here" in answer.text
        assert await _get_role(client) is None


async def test_provider_signs_in_members_of_its_own_tenant_only(service: Service, provider: Provider) -> None:
    await add_person(service, "owner", tenant=OTHER)
    await provider.create_account("ada-3", **ADA)
    async with open_browser_client(use_identity_provider(service, provider.url)) as client:
        assert (await client.get(await _leave(client, "ada-3"))).status_code == 403


async def test_groups_determine_the_role_at_each_sign_in(service: Service, provider: Provider) -> None:
    roles = {"programme": "officer", "panel": "reviewer"}
    service = use_identity_provider(service, provider.url, roles=roles)
    expected: list[tuple[list[str], PersonRole | None]] = [
        (["panel", "canteen"], "reviewer"),
        (["panel", "programme"], "officer"),
        (["canteen"], None),
    ]
    for groups, role in expected:
        await provider.create_account("grace", email="grace@example.org", email_verified=True, groups=groups)
        async with open_browser_client(service) as client:
            await client.get(await _leave(client, "grace"))
            assert await _get_role(client) == role
    actions = [(entry.action, entry.actor) for entry in await service.services.audit_log.list_entries(ACME)]
    expected_acts = ["member invited", "account bound", "member changed"]
    assert actions == [(act, "provider:agency") for act in expected_acts]


async def test_removed_member_cannot_sign_in(service: Service, provider: Provider) -> None:
    invited = await add_person(service, "reviewer")
    await provider.create_account("ada-4", **ADA)
    service = use_identity_provider(service, provider.url)
    async with open_browser_client(service) as client:
        await client.get(await _leave(client, "ada-4"))
        async with service.open_caller("manage") as robot:
            await robot.delete(f"/v1/members/{invited.member.id}")
        assert await _get_role(client) is None
        assert (await client.get(await _leave(client, "ada-4"))).status_code == 403


async def test_removed_member_is_not_restored_by_a_group(service: Service, provider: Provider) -> None:
    service = use_identity_provider(service, provider.url, roles={"panel": "reviewer"})
    await provider.create_account("gus", email="gus@example.org", email_verified=True, groups=["panel"])
    async with open_browser_client(service) as client, service.open_caller("manage") as robot:
        await client.get(await _leave(client, "gus"))
        assert await _get_role(client) == "reviewer"
        (gus,) = await service.services.members.list(ACME)
        assert (await robot.delete(f"/v1/members/{gus.id}")).status_code == 200
        assert (await client.get(await _leave(client, "gus"))).status_code == 403
        assert await _get_role(client) is None
        again = {"name": "Gus", "email": "gus@example.org", "role": "officer"}
        assert (await robot.post("/v1/members", json=again)).status_code == 201
        assert (await client.get(await _leave(client, "gus"))).status_code == 303
        assert await _get_role(client) == "officer"


async def test_groups_do_not_change_the_role_of_an_invited_member(service: Service, provider: Provider) -> None:
    await add_person(service, "owner")
    await provider.create_account("ada-5", **ADA, groups=["panel"])
    async with open_browser_client(use_identity_provider(service, provider.url, roles={"panel": "reviewer"})) as client:
        await client.get(await _leave(client, "ada-5"))
        assert await _get_role(client) == "owner"


async def test_last_owner_keeps_the_role_despite_their_groups(service: Service, provider: Provider) -> None:
    service = use_identity_provider(service, provider.url, roles={"heads": "owner", "panel": "reviewer"})
    for groups in (["heads"], ["panel"]):
        await provider.create_account("olga", email="olga@example.org", email_verified=True, groups=groups)
        async with open_browser_client(service) as client:
            await client.get(await _leave(client, "olga"))
            assert await _get_role(client) == "owner"


async def test_callback_started_in_another_browser_is_rejected(service: Service, provider: Provider) -> None:
    """A mailed link with the sender's code does not sign the recipient in as the sender."""
    await add_person(service, "reviewer")
    await provider.create_account("ada-5", **ADA)
    service = use_identity_provider(service, provider.url)
    async with open_browser_client(service) as sender, open_browser_client(service) as victim:
        back = await _leave(sender, "ada-5")
        assert (await victim.get(back)).status_code == 400
        await victim.get(START)
        assert (await victim.get(back)).status_code == 400
        assert await _get_role(victim) is None


async def test_callback_works_only_once(service: Service, provider: Provider) -> None:
    await add_person(service, "reviewer")
    await provider.create_account("ada-6", **ADA)
    async with open_browser_client(use_identity_provider(service, provider.url)) as client:
        back = await _leave(client, "ada-6")
        cookie = client.cookies.get("assayer-sign-in") or ""
        assert (await client.get(back)).status_code == 303
        again = await client.get(back, headers={"Cookie": f"assayer-sign-in={cookie}"})
        assert again.status_code == 403


@pytest.mark.parametrize("column", ["nonce", "verifier", "state"])
async def test_changed_nonce_verifier_or_state_is_rejected(service: Service, provider: Provider, column: str) -> None:
    """Sign-in fails if nonce, verifier or state differ from those sent with the person."""
    await add_person(service, "reviewer")
    await provider.create_account("ada-7", **ADA)
    async with open_browser_client(use_identity_provider(service, provider.url)) as client:
        back = await _leave(client, "ada-7")
        cookie_content = json.loads(urlsafe_b64decode(client.cookies["assayer-sign-in"].strip('"')))
        forged = urlsafe_b64encode(json.dumps(cookie_content | {column: "x" * 43}).encode()).decode()
        client.cookies.clear()
        assert (await client.get(back, headers={"Cookie": f"assayer-sign-in={forged}"})).status_code in (400, 403)
        assert await _get_role(client) is None


@pytest.mark.parametrize("cookie", ["", "x", "e30=", "bm90IEpTT04=", "A" * 3_000])
async def test_malformed_sign_in_cookie_is_rejected(service: Service, provider: Provider, cookie: str) -> None:
    async with open_browser_client(use_identity_provider(service, provider.url)) as client:
        headers = {"Cookie": f"assayer-sign-in={cookie}"}
        assert (await client.get(CALLBACK, params={"code": "c", "state": "s"}, headers=headers)).status_code == 400


async def test_expired_sign_in_attempt_is_rejected(service: Service, provider: Provider) -> None:
    async with open_browser_client(use_identity_provider(service, provider.url)) as client:
        back = await _leave(client, "ada-8")
        cookie_content = json.loads(urlsafe_b64decode(client.cookies["assayer-sign-in"].strip('"')))
        over = urlsafe_b64encode(json.dumps(cookie_content | {"ends_at": "2020-01-01T00:00:00Z"}).encode()).decode()
        client.cookies.clear()
        assert (await client.get(back, headers={"Cookie": f"assayer-sign-in={over}"})).status_code == 400


async def test_denied_sign_in_is_reported_without_provider_details(service: Service, provider: Provider) -> None:
    async with open_browser_client(use_identity_provider(service, provider.url)) as client:
        location = (await client.get(START)).headers["location"]
        state = parse_qs(urlsplit(location).query)["state"][0]
        answer = await client.get(CALLBACK, params={"error": "access_denied", "session_state": "1", "state": state})
    assert answer.status_code == 403
    assert "Signing in with your organisation failed" in answer.text
    assert "access_denied" not in answer.text


async def test_unreachable_provider_is_502_and_unknown_provider_is_404(service: Service) -> None:
    async with open_browser_client(use_identity_provider(service, "http://127.0.0.1:9")) as client:
        assert (await client.get(START)).status_code == 502
        assert (await client.get("/console/sign-in/nobody")).status_code == 404


def test_providers_require_a_callback_address_and_https_issuer() -> None:
    chosen = IdentityProviderSettings(issuer="https://login.example.org", client_id="x", tenant="acme")
    with pytest.raises(ValidationError, match="ASSAYER_ACCESS__URL"):
        AccessSettings(providers={"agency": chosen})
    with pytest.raises(ValidationError):
        IdentityProviderSettings(issuer="http://login.example.org", client_id="x", tenant="acme")
