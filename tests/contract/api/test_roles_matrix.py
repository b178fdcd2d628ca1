"""Every route that people use, called with each role: exactly the permitted roles are accepted."""

from collections.abc import Iterator
from typing import Any

import pytest
from fastapi.dependencies.models import Dependant
from fastapi.routing import APIRoute

from orchestrator.access.audit_chain import ActBy, Actor
from orchestrator.access.roles import PERMISSIONS, ROLES, Act, Role
from orchestrator.reviewing.models import ReviewRefused
from tests.contract.api.people import add_person, call_of
from tests.contract.api.service import ACME, Service

_BODY = {
    "name": "Somebody",
    "email": "somebody@example.org",
    "role": "reviewer",
    "score": 3,
    "point": "/parts/0",
    "agrees": True,
    "reason": "because it is",
    "text": "Look at the budget.",
    "reviewers": None,
    "proposals": [{"evaluation": "ev_none"}],
    "outcome": "fund",
    "templates": {},
    "evaluations": ["ev_none"],
    "received_on": "2026-01-31",
    "answer": "It was read.",
    "open": True,
    "bids": {"ev_none": "eager"},
}
_FIELDS = {
    "/v1/members": ("name", "email", "role"),
    "/v1/members/{id}": ("name",),
    "POST /v1/batches/{id}/reviewers": ("name", "email"),
    "PUT /v1/batches/{id}/reviewers": ("reviewers",),
    "PUT /v1/batches/{id}/bidding": ("open",),
    "PUT /v1/batches/{id}/bids": ("bids",),
    "/v1/evaluations/{id}/opinions": ("score",),
    "/v1/evaluations/{id}/judgements": ("point", "agrees", "reason"),
    "/v1/evaluations/{id}/override": ("score", "reason"),
    "/v1/evaluations/{id}/conflicts": ("reason",),
    "/v1/evaluations/{id}/remarks": ("text",),
    "/v1/calls": ("name",),
    "PUT /v1/evaluations/{id}/applicant": ("name",),
    "PUT /v1/batches/{id}/letter-templates": ("templates",),
    "/v1/batches/{id}/letters/sent": ("evaluations",),
    "PUT /v1/evaluations/{id}/released-comments": ("reviewers",),
    "POST /v1/evaluations/{id}/objections": ("text", "received_on"),
    "/v1/evaluations/{id}/objections/{number}/answer": ("answer",),
    "POST /v1/batches/{id}/decisions": ("proposals", "outcome"),
}

_PARAMETERS: dict[tuple[str, str], dict[str, str]] = {
    ("DELETE", "/v1/evaluations/{id}/assignments"): {},
    ("DELETE", "/v1/evaluations/{id}/conflicts"): {"reason": "because"},
}
"""Beside the reviewer whom they name."""


def _iterate_acts(dependant: Dependant) -> Iterator[tuple[Act, ...]]:
    yield from (dependency_acts for dependency_acts in [getattr(dependant.call, "acts", None)] if dependency_acts)
    for dependency in dependant.dependencies:
        yield from _iterate_acts(dependency)


def _iterate_routes(service: Service) -> Iterator[tuple[str, str, tuple[Act, ...]]]:
    routers = [item.original_router for item in service.app.router.routes if hasattr(item, "original_router")]
    for route in (route for router in routers for route in router.routes):
        if isinstance(route, APIRoute):
            for acts in _iterate_acts(route.dependant):
                for method in sorted((route.methods or set()) - {"HEAD"}):
                    yield method, route.path, acts


@pytest.mark.parametrize("role", ROLES)
async def test_each_role_is_allowed_or_refused_as_in_the_permissions_table(service: Service, role: Role) -> None:
    batch, (evaluation, _) = await call_of(service, "# One", "# Two")
    if role == "machine":
        key = await service.create_key("read", "submit", "manage")
        member = (await add_person(service, "reviewer", "Bob Noyce")).member.id
    else:
        asks = await add_person(service, role)
        key, member = asks.key, (await add_person(service, "reviewer", "Bob Noyce")).member.id
    checked_count = 0
    for method, path, acts in _iterate_routes(service):
        resource_id = {"batches": batch, "evaluations": evaluation, "members": member}.get(path.split("/")[2], "")
        body: dict[str, Any] = {name: _BODY[name] for name in _FIELDS.get(f"{method} {path}", _FIELDS.get(path, ()))}
        if (path.endswith("/conflicts") and role != "reviewer") or path == "/v1/evaluations/{id}/assignments":
            body["reviewer"] = member
        role_body = {"reviewer": member} | _PARAMETERS[method, path] if (method, path) in _PARAMETERS else {}
        async with service.open_client(key) as client:
            answer = await client.request(
                method,
                path.replace("{id}", resource_id).replace("{number}", "1"),
                json=body if method in ("POST", "PUT", "PATCH") else None,
                params=role_body,
            )
        allowed = any(role in PERMISSIONS[act] for act in acts)
        assert (answer.status_code == 403) == (not allowed), (method, path, answer.text)
        assert answer.status_code != 422 or not allowed, (method, path, answer.text)
        checked_count += 1
    assert checked_count > 15


def test_every_permission_guards_a_route_with_two_known_exceptions(service: Service) -> None:
    guarded = {act for _, _, acts in _iterate_routes(service) for act in acts}
    # Whether an address changes, the route sees only in its body: the next test.
    assert PERMISSIONS.keys() - guarded == {"erase", "change addresses"}


@pytest.mark.parametrize("role", ROLES)
async def test_only_permitted_roles_can_change_the_address_of_a_member(service: Service, role: Role) -> None:
    """The first person who signs in with an address becomes the member with that address."""
    ada = (await add_person(service, "reviewer", "Ada Byron")).member
    own = (
        await service.create_key("read", "submit", "manage")
        if role == "machine"
        else (await add_person(service, role, "Olga Other")).key
    )
    async with service.open_client(own) as client:
        answer = await client.patch(f"/v1/members/{ada.id}", json={"email": "friend@example.org", "name": "A Friend"})
        response = await client.patch(
            f"/v1/members/{ada.id}", json={"email": "Ada.Byron@example.org", "name": "Ada King"}
        )
    changed = await service.services.members.get(ACME, ada.id)
    assert changed is not None
    if role in PERMISSIONS["change addresses"]:
        assert (answer.status_code, response.status_code) == (200, 200)
        return
    assert answer.status_code == 403
    assert changed.email.lower() == "ada.byron@example.org"
    assert response.status_code == (200 if role in PERMISSIONS["invite people"] else 403)
    account = ("https://login.example.org", "friend", "friend@example.org")
    provider = ActBy(Actor("provider:agency", "agency", "machine"), service.services.clock.now())
    member = await service.services.members.find_or_bind_identity(ACME, *account, provider)
    assert member is None


async def test_address_change_by_a_demoted_owner_is_rejected(service: Service) -> None:
    ada, olga = (
        (await add_person(service, "reviewer", "Ada Byron")).member,
        (await add_person(service, "officer", "Olga")).member,
    )
    members, now = service.services.members, service.services.clock.now()
    with pytest.raises(ReviewRefused, match="Only an owner"):
        await members.change(
            ACME, ada.id, {"email": "friend@example.org"}, ActBy(Actor(olga.id, olga.name, "owner"), now)
        )
