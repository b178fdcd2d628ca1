"""Signing in to the console: credentials, length of a session, and forged requests from other sites."""

import datetime as dt
from collections.abc import AsyncIterator
from contextlib import asynccontextmanager
from dataclasses import dataclass
from typing import Any
from urllib.parse import quote

import httpx2
import pytest
from fastapi import APIRouter, Depends, Request

from assayer_client.accounts import Scope
from orchestrator.access.api_keys import Caller
from orchestrator.access.roles import ACTS, MEMBER_ONLY_ACTS, PERMISSIONS, Act
from orchestrator.access.sessions import NewSession, generate_token
from orchestrator.jobs.models import KeyId
from orchestrator.settings import AccessSettings
from orchestrator.web.csrf import get_csrf_token
from orchestrator.web.return_url import to_console_path
from orchestrator.web.signed_in import SignedInDependency, require_permission
from tests.contract.api.people import add_person, call_of
from tests.contract.api.problems import check_problem
from tests.contract.api.service import BODY, OTHER, Service

ORIGIN = {"Origin": "http://api"}


@pytest.fixture
def service(service: Service) -> Service:
    """Service with additional pages like those of the console."""
    routes = APIRouter(include_in_schema=False)

    @routes.get("/console/who")
    async def shown(request: Request, who: SignedInDependency) -> dict[str, Any]:
        return {"tenant": who.tenant, "subject": who.subject, "role": who.role, "csrf": get_csrf_token(request)}

    @routes.post("/console/who")
    async def changed(who: SignedInDependency) -> str:
        return who.role

    for act in ACTS:

        async def done(who: Caller = Depends(require_permission(act))) -> str:  # noqa: B008 - FastAPI's way
            return who.role

        routes.get(f"/console/acts/{act.replace(' ', '-')}")(done)
    service.app.include_router(routes)
    return service


@asynccontextmanager
async def open_session(service: Service, key: str, base: str = "http://api") -> AsyncIterator[httpx2.AsyncClient]:
    async with httpx2.AsyncClient(transport=httpx2.ASGITransport(app=service.app), base_url=base) as browser:
        answer = await browser.post("/console/sign-in", data={"key": key}, headers={"Origin": base})
        assert (answer.status_code, answer.headers["location"]) == (303, "/console"), answer.text
        yield browser


@pytest.mark.parametrize("scopes", [("submit",), ("read",), ("submit", "read"), ("metrics",)])
async def test_program_key_cannot_open_the_console(service: Service, scopes: tuple[Scope, ...]) -> None:
    async with service.open_client() as browser:
        answer = await browser.post("/console/sign-in", data={"key": await service.create_key(*scopes)}, headers=ORIGIN)
    assert (answer.status_code, "set-cookie" in answer.headers) == (403, False)
    assert "This key is for programs" in answer.text


async def test_session_ends_when_its_key_becomes_a_program_key(service: Service) -> None:
    async with open_session(service, await service.create_key("manage")) as browser:
        assert (await browser.get("/v1/batches")).status_code == 200
        await service.database.execute("UPDATE api_keys SET scopes = '{submit,read}'")
        assert (await browser.get("/console/who")).status_code == 303
        check_problem(await browser.get("/v1/batches"), 401, "unauthenticated")


async def test_wrong_key_is_explained_and_not_echoed(service: Service) -> None:
    wrong = "ak_0123_" + "x" * 43
    async with service.open_client() as browser:
        answer = await browser.post("/console/sign-in", data={"key": wrong}, headers=ORIGIN)
    assert (answer.status_code, "set-cookie" in answer.headers) == (401, False)
    assert "The key does not exist." in answer.text
    assert wrong not in answer.text


async def test_page_redirects_to_sign_in_and_back(service: Service) -> None:
    async with service.open_client() as browser:
        response = await browser.get("/console/who?sort=-score&page=2")
        assert response.status_code == 303
        page = await browser.get(response.headers["location"])
        assert 'value="/console/who?sort=-score&amp;page=2"' in page.text
        body = {"key": await service.create_key("manage"), "next": "/console/who?sort=-score&page=2"}
        answer = await browser.post("/console/sign-in", data=body, headers=ORIGIN)
    assert answer.headers["location"] == "/console/who?sort=-score&page=2"


async def test_partial_page_request_redirects_the_whole_page_to_sign_in(service: Service) -> None:
    async with service.open_client() as browser:
        headers = {"HX-Request": "true", "HX-Current-URL": "http://api/console/calls/x?page=2"}
        answer = await browser.get("/console/who", headers=headers)
    back = "/console/sign-in?next=%2Fconsole%2Fcalls%2Fx%3Fpage%3D2"
    assert (answer.status_code, answer.headers["hx-redirect"]) == (401, back)


@pytest.mark.parametrize(
    ("referer", "back"),
    [
        ("http://api/console/who?page=2", "/console/who?page=2"),
        ("http://api/console/review/ev_1/opinion", "/console/review/ev_1"),  # a refusal, shown at the form's address
        ("http://api/console/sign-out", "/console"),
        ("http://evil.example/console/who", "/console"),
        ("http://api/v1/evaluations", "/console"),
        (None, "/console"),
    ],
)
async def test_form_after_session_expiry_returns_to_its_page(service: Service, referer: str | None, back: str) -> None:
    async with service.open_client() as browser:
        answer = await browser.post("/console/who", headers={**ORIGIN, **({"Referer": referer} if referer else {})})
    assert (answer.status_code, answer.headers["location"]) == (303, f"/console/sign-in?next={quote(back, safe='')}")


@pytest.mark.parametrize(
    "token_kind",
    [
        "https://evil.example/",
        "//evil.example",
        "/console/../v1/members",
        "/console/..",
        "/console/calls/./x",
        "/console/..?a=b",
        "/console//evil.example",
        "/console/..//evil.example",
        "/console/x\n",
        "/consoles",
        "/v1/keys",
        "\\x",
    ],
)
def test_unsafe_redirect_targets_are_replaced_by_the_console(token_kind: str) -> None:
    assert to_console_path(token_kind) == "/console"


async def test_session_cookie_is_host_only_and_http_only(service: Service) -> None:
    key = await service.create_key("manage")
    async with service.open_client() as browser:
        plain = (await browser.post("/console/sign-in", data={"key": key}, headers=ORIGIN)).headers["set-cookie"]
    async with open_session(service, key, "https://api") as browser:
        assert (await browser.get("/console/who")).status_code == 200
        secure = next(iter(browser.cookies.jar))
    for attribute in ("HttpOnly", "SameSite=lax", "Path=/", "Max-Age=43200"):
        assert attribute in plain
    assert "Secure" not in plain
    assert (secure.name, secure.secure, secure.domain_specified) == ("__Host-assayer-session", True, False)


async def test_over_tls_only_the_host_prefixed_cookie_is_accepted(service: Service) -> None:
    behind = service.with_services(access=AccessSettings(url="https://assayer.example.org"))
    token = generate_token()
    new = NewSession(OTHER, "owner", "Eve", key=KeyId(_get_key_id(await service.create_key("manage", tenant=OTHER))))
    await service.services.sessions.begin(token, new, service.services.clock.now())
    async with behind.open_client() as browser:
        for name, status in (("assayer-session", 303), ("__Host-assayer-session", 200)):
            assert (await browser.get("/console", headers=_build_cookie_header({name: token}))).status_code == status
        for name, status in (("assayer-session", 401), ("__Host-assayer-session", 200)):
            assert (await browser.get("/v1/batches", headers=_build_cookie_header({name: token}))).status_code == status
    async with service.open_client() as browser:
        assert (
            await browser.get("/console", headers=_build_cookie_header({"__Host-assayer-session": token}))
        ).status_code == 303


async def test_signing_out_invalidates_copied_cookies(service: Service) -> None:
    async with open_session(service, await service.create_key("manage")) as browser:
        stolen_cookies = dict(browser.cookies)
        token = (await browser.get("/console/who")).json()["csrf"]
        answer = await browser.post("/console/sign-out", data={"csrf_token": token}, headers=ORIGIN)
        assert (answer.status_code, answer.headers["location"]) == (303, "/console/sign-in")
        assert not browser.cookies
    async with service.open_client() as thief:
        assert (await thief.get("/console/who", headers=_build_cookie_header(stolen_cookies))).status_code == 303


async def test_signing_in_again_makes_a_new_session_and_ends_the_old(service: Service) -> None:
    async with open_session(service, await service.create_key("manage")) as browser:
        before = dict(browser.cookies)
        await browser.post("/console/sign-in", data={"key": await service.create_key("manage")}, headers=ORIGIN)
        assert dict(browser.cookies) != before
        assert (await browser.get("/console/who")).json()["role"] == "owner"
    async with service.open_client() as other_client:
        assert (await other_client.get("/console/who", headers=_build_cookie_header(before))).status_code == 303


async def test_planted_session_token_is_never_adopted(service: Service) -> None:
    planted = {"assayer-session": "A" * 43}
    async with service.open_client() as browser:
        answer = await browser.post(
            "/console/sign-in",
            data={"key": await service.create_key("manage")},
            headers=ORIGIN | _build_cookie_header(planted),
        )
    assert "A" * 43 not in answer.headers["set-cookie"]


async def test_a_session_ends_with_its_key(service: Service) -> None:
    key = await service.create_key("manage")
    async with open_session(service, key) as browser, service.open_caller("manage") as manager:
        assert (await browser.get("/console/who")).status_code == 200
        await manager.delete(f"/v1/keys/{_get_key_id(key)}")
        assert (await browser.get("/console/who")).status_code == 303


@dataclass
class _Clock:
    """Moved by hand."""

    at: dt.datetime = dt.datetime(2026, 11, 23, 9, tzinfo=dt.UTC)

    def now(self) -> dt.datetime:
        return self.at


@pytest.mark.parametrize(("every", "until"), [(50, 720), (61, 0)])
async def test_session_ends_when_idle_or_after_twelve_hours(service: Service, every: int, until: int) -> None:
    """Looked at so often, in minutes, it lasts that long."""
    clock = _Clock()
    service = service.with_services(clock=clock)
    routes = APIRouter()

    @routes.get("/console/who")
    async def shown(who: SignedInDependency) -> str:
        return who.role

    service.app.include_router(routes)
    async with open_session(service, await service.create_key("manage")) as browser:
        lasted = 0
        while True:
            clock.at += dt.timedelta(minutes=every)
            cookies = _build_cookie_header(dict(browser.cookies))
            if (await browser.get("/console/who", headers=cookies)).status_code != 200:
                break
            lasted += every
    assert lasted <= until < lasted + every


async def test_only_a_hash_of_the_token_is_stored(service: Service) -> None:
    async with open_session(service, await service.create_key("manage")) as browser:
        (token,) = dict(browser.cookies).values()
        row = await service.database.fetch_one("SELECT sessions::text AS stored FROM sessions")
    assert row is not None
    assert token not in row["stored"]
    assert token.encode().hex() not in row["stored"]


@pytest.mark.parametrize(
    ("origin", "token", "allowed"),
    [
        ("http://api", "right", True),
        ("http://api", "wrong", False),
        ("http://api", None, False),
        ("http://evil.example", "right", False),
        ("null", "right", False),
        (None, "right", False),
    ],
)
@pytest.mark.parametrize("way", ["form", "header"])
async def test_state_change_requires_own_origin_and_csrf_token(
    service: Service, origin: str | None, token: str | None, allowed: bool, way: str
) -> None:
    async with open_session(service, await service.create_key("manage")) as browser:
        right = (await browser.get("/console/who")).json()["csrf"]
        token_value = {"right": right, "wrong": "0" * len(right), None: None}[token]
        headers = {} if origin is None else {"Origin": origin}
        if way == "header":
            answer = await browser.post(
                "/console/who", headers=headers | ({"X-CSRF-Token": token_value} if token_value is not None else {})
            )
        else:
            answer = await browser.post("/console/who", headers=headers, data={"csrf_token": token_value or ""})
    assert answer.status_code == (200 if allowed else 403)


@pytest.mark.parametrize(
    ("origin", "site", "allowed"),
    [
        ("null", "same-origin", True),
        (None, "same-origin", True),
        ("http://api", "same-origin", True),
        ("null", "cross-site", False),
        ("null", "same-site", False),
        ("http://api", "cross-site", False),
        ("http://evil.example", "same-origin", False),
    ],
)
async def test_sec_fetch_site_header_is_checked_too(
    service: Service, origin: str | None, site: str, allowed: bool
) -> None:
    """Pages that give no referrer name no origin."""
    async with open_session(service, await service.create_key("manage")) as browser:
        token = (await browser.get("/console/who")).json()["csrf"]
        sent_headers = {} if origin is None else {"Origin": origin}
        headers = sent_headers | {"Sec-Fetch-Site": site, "X-CSRF-Token": token}
        assert (await browser.post("/console/who", headers=headers)).status_code == (200 if allowed else 403)


async def test_csrf_token_is_rejected_in_another_session(service: Service) -> None:
    async with (
        open_session(service, await service.create_key("manage")) as own_session,
        open_session(service, await service.create_key("manage")) as yours,
    ):
        token = (await own_session.get("/console/who")).json()["csrf"]
        answer = await yours.post("/console/who", headers=ORIGIN | {"X-CSRF-Token": token})
    check_problem(answer, 403, "forbidden")


async def test_sign_in_from_a_foreign_origin_is_rejected(service: Service) -> None:
    async with service.open_client() as browser:
        body = {"key": await service.create_key("manage")}
        check_problem(
            await browser.post("/console/sign-in", data=body, headers={"Origin": "https://evil.example"}),
            403,
            "forbidden",
        )


async def test_configured_public_address_is_used_behind_a_proxy(service: Service) -> None:
    access = AccessSettings(url="https://assayer.example.org")
    behind = service.with_services(access=access)
    async with behind.open_client() as browser:
        body = {"key": await service.create_key("manage")}
        answer = await browser.post("/console/sign-in", data=body, headers={"Origin": "https://assayer.example.org"})
        check_problem(await browser.post("/console/sign-in", data=body, headers=ORIGIN), 403, "forbidden")
    assert answer.status_code == 303
    assert answer.headers["set-cookie"].startswith("__Host-assayer-session=")
    assert "Secure" in answer.headers["set-cookie"]


async def test_machine_key_opens_the_console_but_makes_no_decisions(service: Service) -> None:
    batch, (evaluation,) = await call_of(service, "# One")
    async with open_session(service, await service.create_key("manage", "submit", "read")) as browser:
        token = (await browser.get("/console/who")).json()["csrf"]
        for act in ACTS:
            expected = 200 if "owner" in PERMISSIONS[act] and act not in MEMBER_ONLY_ACTS else 403
            assert (await browser.get(_act_path(act))).status_code == expected, act
        headers = ORIGIN | {"X-CSRF-Token": token}
        for method, path, body in (
            ("POST", f"/v1/batches/{batch}/sign-off", {}),
            ("POST", f"/v1/evaluations/{evaluation}/override", {"score": 0.5, "reason": "Because."}),
            ("POST", f"/v1/evaluations/{evaluation}/remarks", {"text": "A remark."}),
        ):
            answer = await browser.request(method, path, json=body, headers=headers)
            assert "does not belong to a member" in check_problem(answer, 403, "forbidden").detail


async def test_page_uses_its_session_for_api_requests(service: Service) -> None:
    async with open_session(service, (await add_person(service, "officer")).key) as browser:
        token = (await browser.get("/console/who")).json()["csrf"]
        assert (await browser.get("/v1/evaluations")).status_code == 200
        assert check_problem(await browser.get("/v1/keys"), 403, "forbidden").scope == "manage"
        check_problem(await browser.post("/v1/evaluations", json=BODY), 403, "forbidden")
        check_problem(await browser.post("/v1/evaluations", json=BODY, headers=ORIGIN), 403, "forbidden")
        answer = await browser.post("/v1/evaluations", json=BODY, headers=ORIGIN | {"X-CSRF-Token": token})
        assert answer.status_code == 202
        await browser.post("/console/sign-out", data={"csrf_token": token}, headers=ORIGIN)
        check_problem(
            await browser.get("/v1/evaluations", headers=_build_cookie_header({"assayer-session": "A" * 43})),
            401,
            "unauthenticated",
        )


def _get_key_id(key: str) -> str:
    return "_".join(key.split("_")[:2])


def _act_path(act: Act) -> str:
    return f"/console/acts/{act.replace(' ', '-')}"


def _build_cookie_header(cookies: dict[str, str]) -> dict[str, str]:
    return {"Cookie": "; ".join(f"{name}={value}" for name, value in cookies.items())}
