"""Every page of the console and every change it makes, as each role: on one's own things, on another tenant's, on none.

Complete by walking the routes: one that is added later is tried too, or fails for want of a form to send.
"""

from collections.abc import Iterator
from typing import NamedTuple

import pytest
from fastapi.routing import APIRoute

from orchestrator.access.roles import PERMISSIONS, Act, PersonRole
from tests.contract.api.console_forms import fetch_csrf_token, open_session
from tests.contract.api.people import Person, add_person, call_of
from tests.contract.api.routes import iterate_console_routes
from tests.contract.api.service import ACME, OTHER, Service

ROLES: tuple[PersonRole, ...] = ("owner", "officer", "reviewer", "auditor")
_FORMS: dict[str, dict[str, str]] = {
    "/console/calls/{id}/assignments": {"per_proposal": "1", "shown": "another"},
    "/console/bids/{id}": {"bid-EVALUATION": "eager"},
    "/console/calls/{id}/assignments/bidding": {"open": "true"},
    "/console/calls/{id}/assignments/one": {"evaluation": "EVALUATION", "reviewer": "MEMBER"},
    "/console/calls/{id}/assignments/withdraw": {"evaluation": "EVALUATION", "reviewer": "MEMBER"},
    "/console/calls/{id}/assignments/conflicts": {
        "evaluation": "EVALUATION",
        "reviewer": "MEMBER",
        "reason": "a friend",
    },
    "/console/calls/{id}/assignments/conflicts/clear": {
        "evaluation": "EVALUATION",
        "reviewer": "MEMBER",
        "reason": "a friend",
    },
    "/console/calls/{id}/assignments/reviewers": {"everybody": "yes"},
    "/console/calls/{id}/assignments/invite": {"name": "New One", "email": "new@example.org"},
    "/console/calls/{id}/assignments/invitations": {"people": "New One, new@example.org"},
    "/console/calls/{id}/cancel": {},
    "/console/calls/{id}/archive": {"archived": "true"},
    "/console/calls/{id}/retry": {},
    "/console/calls/{id}/views": {"name": "mine"},
    "/console/calls/set-up": {"name": ""},
    "/console/calls/{id}/terms": {"name": "Other", "version": "0"},
    "/console/calls/{id}/letters/templates": {"fund": "Yes.", "reserve": "Wait.", "decline": "No."},
    "/console/calls/{id}/letters/release": {},
    "/console/calls/{id}/letters/sent": {"letter": "EVALUATION"},
    "/console/calls/{id}/letters/{evaluation}/comments": {"reviewer": "MEMBER"},
    "/console/calls/{id}/letters/{evaluation}/objections": {"text": "It was misread."},
    "/console/calls/{id}/letters/{evaluation}/objections/{number}": {"answer": "It was not."},
    "/console/calls/{id}/decisions": {"proposal": "EVALUATION:0", "outcome": "fund"},
    "/console/calls/{id}/override": {"evaluation": "EVALUATION", "score": "2", "reason": "because"},
    "/console/calls/{id}/panel/reminders": {},
    "/console/calls/{id}/sign-off": {"note": "done"},
    "/console/calls/{id}/rankings": {"comparisons_per_idea": "4"},
    "/console/compare": {"first": "EVALUATION", "second": "EVALUATION"},
    "/console/erase": {"batch": "CALL", "shown": "another"},
    "/console/expertise": {"keywords": "fossils"},
    "/console/members": {"name": "New One", "email": "new@example.org", "role": "reviewer"},
    "/console/members/{id}": {"name": "Other Name", "email": "other@example.org", "role": "reviewer"},
    "/console/members/{id}/expertise": {"keywords": "fossils"},
    "/console/members/{id}/key": {},
    "/console/members/{id}/remove": {},
    "/console/proposals/{id}/cancel": {},
    "/console/proposals/{id}/retry": {},
    "/console/proposals/{id}/applicant": {"name": "Ada Byron"},
    "/console/proposals/{id}/remarks": {"text": "Look at the budget."},
    "/console/review/{id}/opinion": {"score": "3"},
    "/console/review/{id}/judgement": {"point": "/summary/strengths/0", "agrees": "true", "reason": "because"},
    "/console/review/{id}/conflict": {"reason": "a friend"},
}
"""Fields that each change needs to be well-formed."""
_OPEN = {"/console", "/console/account", "/console/static/{name}"}
"""Pages open to every signed-in person, or to everyone."""


class _Resources(NamedTuple):
    """Ids of the objects that exist in a tenant."""

    call: str
    evaluation: str
    member: str

    def fill_in_names(self, text: str) -> str:
        for name, id in (("CALL", self.call), ("EVALUATION", self.evaluation), ("MEMBER", self.member)):
            text = text.replace(name, id)
        return text

    def build_form(self, route: str) -> dict[str, str]:
        return {self.fill_in_names(name): self.fill_in_names(value) for name, value in _FORMS.get(route, {}).items()}

    def build_path(self, route: str) -> str:
        ids = {
            "bids": self.call,
            "calls": self.call,
            "members": self.member,
            "proposals": self.evaluation,
            "review": self.evaluation,
        }
        path = route.replace("{id}", ids.get(route.split("/")[2] if route.count("/") > 1 else "", "none"))
        path = path.replace("{evaluation}", self.evaluation)
        return path.replace("{number}", "1").replace("{ranking}", "rk_none")


_NOWHERE = _Resources("bt_none", "ev_none", "mb_none")


async def _create_resources(service: Service, owner: Person, *, is_foreign: bool) -> _Resources:
    tenant = OTHER if is_foreign else ACME
    call, (evaluation, _) = await call_of(service, "# One", "# Two", tenant=tenant)
    reviewer = await add_person(service, "reviewer", "Grace Hopper", tenant=tenant)
    await owner.post(f"/v1/batches/{call}/assignments", json={"per_proposal": 1, "reviewers": [reviewer.member.id]})
    answer = await owner.put(f"/v1/batches/{call}/bidding", json={"open": True})
    assert answer.status_code == 200, answer.text
    return _Resources(call, evaluation, str(reviewer.member.id))


def _iterate_pages(service: Service) -> Iterator[tuple[APIRoute, str, Act | None]]:
    for route, act in iterate_console_routes(service):
        if route.path not in _OPEN and not route.path.startswith(("/console/sign-", "/console/callback")):
            for method in sorted((route.methods or set()) - {"HEAD"}):
                yield route, method, act


@pytest.mark.parametrize("role", ROLES)
async def test_pages_are_refused_by_role_and_hide_other_tenants(service: Service, role: PersonRole) -> None:
    of_acme, of_other = [await add_person(service, "owner", "Olga Owner", tenant=item) for item in (ACME, OTHER)]
    own, foreign = (
        await _create_resources(service, of_acme, is_foreign=False),
        await _create_resources(service, of_other, is_foreign=True),
    )
    colleague, tried_paths = await add_person(service, role, "Somebody Else"), set[str]()
    before = await _fetch_everything(service)
    async with open_session(service, colleague.key) as browser:
        token = await fetch_csrf_token(browser, "/console/queue" if role == "reviewer" else "/console")
        for route, method, act in _iterate_pages(service):
            assert act is not None, f"{route.path} is guarded by no act"
            tried_paths.add(route.path)
            for item_ids in (foreign, _NOWHERE):
                if method == "POST":
                    assert route.path in _FORMS, f"{route.path} has no form to be tried with"
                answer = await browser.request(
                    method,
                    item_ids.build_path(route.path),
                    data={"csrf_token": token, **item_ids.build_form(route.path)} if method == "POST" else None,
                    headers={"Origin": "http://api"} if method == "POST" else {},
                    params={"comparisons_per_idea": "4"} if route.path.endswith("/rankings") else None,
                )
                context = (role, method, route.path, answer.text[:300])
                if role not in PERMISSIONS[act]:
                    assert answer.status_code == 403, context
                elif "{" in route.path:
                    assert answer.status_code == 404, context
                else:
                    assert answer.status_code != 403, context
            if role not in PERMISSIONS[act]:
                refusal = await browser.request(
                    method,
                    own.build_path(route.path),
                    data={"csrf_token": token, **own.build_form(route.path)} if method == "POST" else None,
                    headers={"Origin": "http://api"} if method == "POST" else {},
                )
                assert refusal.status_code == 403, (role, method, route.path)
    assert len(tried_paths) > 30
    after = await _fetch_everything(service)
    # Inviting names no id: who may invites one of their own, in their own tenant.
    new = [row for row in after if row not in before]
    assert [row[1] for row in new] == ([ACME] if role in PERMISSIONS["invite people"] else [])


@pytest.mark.parametrize("role", ROLES)
async def test_permitted_roles_can_open_each_page(service: Service, owner: Person, role: PersonRole) -> None:
    call, (evaluation, _) = await call_of(service, "# One", "# Two")
    colleague = await add_person(service, role, "Somebody Else")
    if role == "reviewer":
        await owner.post(f"/v1/batches/{call}/assignments", json={"per_proposal": 1})
        await owner.put(f"/v1/batches/{call}/bidding", json={"open": True})
    await service.finish()
    own_ids = _Resources(call, evaluation, str((await add_person(service, "reviewer", "Grace Hopper")).member.id))
    async with open_session(service, colleague.key) as browser:
        for route, method, act in _iterate_pages(service):
            if method != "GET" or act is None or role not in PERMISSIONS[act]:
                continue
            if any(part in route.path for part in ("{number}", "{ranking}", "/original")):
                continue  # there are none
            params = {"id": [evaluation, evaluation]} if route.path == "/console/compare" else None
            page = await browser.get(own_ids.build_path(route.path), params=params)
            expected = 422 if route.path == "/console/compare" else 200  # twice the same one is one
            assert page.status_code == expected, (role, route.path, page.text[:300])


async def test_no_page_is_open_without_signing_in(service: Service) -> None:
    async with service.open_client() as anonymous:
        for route, method, _ in _iterate_pages(service):
            answer = await anonymous.request(method, _NOWHERE.build_path(route.path), headers={"Origin": "http://api"})
            assert answer.status_code == 303, (method, route.path)
            assert answer.headers["location"].startswith("/console/sign-in")


async def _fetch_everything(service: Service) -> list[tuple[object, ...]]:
    members = await service.database.fetch("SELECT id, tenant, name, role, removed_at FROM members ORDER BY id")
    jobs = await service.database.fetch("SELECT id, tenant, state FROM jobs ORDER BY id")
    assignments = await service.database.fetch("SELECT evaluation, member, assigned_at FROM assignments ORDER BY 1, 2")
    decided = [
        await service.database.fetch(f"SELECT * FROM {table}")  # noqa: S608 - our own names
        for table in (
            "opinions",
            "conflicts",
            "remarks",
            "score_overrides",
            "sign_offs",
            "point_judgements",
            "call_reviewers",
            "applicants",
            "call_terms",
            "decisions",
            "letter_templates",
            "letters",
            "objections",
            "released_comments",
            "open_bidding",
            "bid_searches",
            "bids",
        )
    ]
    return [tuple(row) for row in (*members, *jobs, *assignments, *(item for rows in decided for item in rows))]
