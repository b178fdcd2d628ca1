"""A refusal on a page of the console: a page for people in browsers, a problem document for programs."""

import httpx2
import pytest

from tests.contract.api.console_forms import fetch_csrf_token, open_session
from tests.contract.api.people import Person, add_person, call_of
from tests.contract.api.service import Service

BROWSER = {"Accept": "text/html,application/xhtml+xml,*/*;q=0.8", "Origin": "http://api"}
WORDS = "We fund <script>alert(1)</script> & nine more."
ESCAPED = "We fund &lt;script&gt;alert(1)&lt;/script&gt; &amp; nine more."


def _is_page(answer: httpx2.Response, status: int) -> str:
    assert (answer.status_code, answer.headers["content-type"]) == (status, "text/html; charset=utf-8")
    assert "script-src 'self'" in answer.headers["content-security-policy"]
    assert answer.headers["cache-control"] == "no-store"
    assert answer.headers["x-request-id"]
    assert "API key" not in answer.text
    assert int(answer.headers["content-length"]) == len(answer.content)
    return answer.text


@pytest.mark.parametrize("path", ["/console/nothing", "/console/calls/bt_none", "/console/review/ev_none"])
async def test_missing_page_shows_an_error_page_with_a_link_back(service: Service, path: str) -> None:
    async with open_session(service, (await add_person(service, "reviewer")).key) as browser:
        page = _is_page(await browser.get(path, headers=BROWSER), 403 if "calls" in path else 404)
        assert 'href="/console"' in page
        program = await browser.get(path)
    assert program.headers["content-type"] == "application/problem+json"


async def test_forbidden_action_is_explained_for_the_role(service: Service) -> None:
    async with open_session(service, (await add_person(service, "reviewer")).key) as browser:
        page = _is_page(await browser.get("/console/members", headers=BROWSER), 403)
    assert "You are not allowed to do this" in page
    assert "A reviewer cannot see people" in page
    assert "Your queue" in page


async def test_opening_a_form_only_address_shows_an_error_page(service: Service) -> None:
    async with open_session(service, await service.create_key("manage")) as browser:
        _is_page(await browser.get("/console/sign-out", headers=BROWSER), 405)


async def test_rejected_sign_off_or_opinion_keeps_the_entered_text(
    service: Service, officer: Person, ada: Person
) -> None:
    owner = await add_person(service, "owner", "Olga Owner")
    batch, (first,) = await call_of(service, "# One")
    await officer.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    panel, review = f"/console/calls/{batch}/panel", f"/console/review/{first}"
    async with open_session(service, owner.key) as owners, open_session(service, ada.key) as reviewer:
        form = {"csrf_token": await fetch_csrf_token(owners, panel), "note": WORDS}
        answer = await owners.post(f"/console/calls/{batch}/sign-off", data=form, headers=BROWSER)
        assert f">{ESCAPED}</textarea>" in _is_page(answer, 409)
        opinion = {"csrf_token": await fetch_csrf_token(reviewer, review), "score": "4", "note": WORDS}
        form |= {"allow_missing_opinions": "true", "allow_unfinished_evaluations": "true"}
        sign_off = await owners.post(f"/console/calls/{batch}/sign-off", data=form, headers=BROWSER)
        assert sign_off.status_code == 303
        late = _is_page(await reviewer.post(f"{review}/opinion", data=opinion, headers=BROWSER), 409)
        assert f"{ESCAPED}</textarea>" in late
        assert 'value="4" required checked' in late
        conflict = {"csrf_token": opinion["csrf_token"], "reason": WORDS}
        answer = await reviewer.post(f"{review}/conflict", data=conflict, headers=BROWSER)
        assert ESCAPED in _is_page(answer, 409)


async def test_rejected_form_returns_the_entered_text(service: Service) -> None:
    _, (first,) = await call_of(service, "# One")
    path = f"/console/proposals/{first}"
    async with open_session(service, (await add_person(service, "officer", "Otto Officer")).key) as browser:
        form = {"csrf_token": await fetch_csrf_token(browser, path), "text": WORDS + "x" * 10_000}
        headers = {**BROWSER, "Referer": f"http://api{path}"}
        page = _is_page(await browser.post(f"{path}/remarks", data=form, headers=headers), 422)
        assert ESCAPED in page
        assert f'href="{path}">Go back' in page
        assert "Text: " in page
        foreign = {**headers, "Origin": "http://evil.example", "Referer": "http://evil.example/console"}
        foreign_answer = _is_page(await browser.post(f"{path}/remarks", data=form, headers=foreign), 403)
        assert "We fund" not in foreign_answer
        stale = _is_page(await browser.post(f"{path}/remarks", data=form | {"csrf_token": "x"}, headers=headers), 403)
    assert "The page was out of date" in stale
    assert ESCAPED in stale


async def test_partial_page_request_receives_a_problem_document(service: Service) -> None:
    async with open_session(service, await service.create_key("manage")) as browser:
        part = await browser.get("/console/calls/bt_none/progress", headers={**BROWSER, "HX-Request": "true"})
    assert part.headers["content-type"] == "application/problem+json"


async def test_signing_out_everywhere_ends_only_sessions_of_that_person(service: Service) -> None:
    grace, ada = await add_person(service, "reviewer", "Grace Hopper"), await add_person(service, "reviewer")
    async with (
        open_session(service, grace.key) as first_session,
        open_session(service, grace.key) as second_session,
        open_session(service, ada.key) as other_session,
    ):
        form = {"csrf_token": await fetch_csrf_token(first_session, "/console/account")}
        answer = await first_session.post("/console/sign-out-everywhere", data=form, headers=BROWSER)
        assert answer.headers["location"] == "/console/sign-in"
        assert (await second_session.get("/console/account")).status_code == 303
        assert (await other_session.get("/console/account")).status_code == 200


@pytest.mark.parametrize("part", ["dossier", "results?format=csv", "panel"])
async def test_missing_export_shows_an_error_page(service: Service, part: str) -> None:
    async with open_session(service, (await add_person(service, "officer", "Otto Officer")).key) as browser:
        page = _is_page(await browser.get(f"/v1/batches/bt_none/{part}", headers=BROWSER), 404)
        program = await browser.get(f"/v1/batches/bt_none/{part}", headers={"Accept": "application/json"})
        either = await browser.get(f"/v1/batches/bt_none/{part}")
    assert "Page not found" in page
    assert "Otto Officer, officer" in page
    for answer in (program, either):
        assert (answer.status_code, answer.headers["content-type"]) == (404, "application/problem+json")


async def test_forbidden_or_unfinished_export_shows_an_error_page(service: Service) -> None:
    _, (waits,) = await call_of(service, "# One")
    async with open_session(service, (await add_person(service, "officer", "Otto Officer")).key) as officer:
        early = _is_page(await officer.get(f"/v1/evaluations/{waits}/contestation", headers=BROWSER), 409)
    assert "This cannot be done now" in early
    async with open_session(service, (await add_person(service, "reviewer")).key) as reviewer:
        refusal = _is_page(await reviewer.get(f"/v1/evaluations/{waits}/contestation", headers=BROWSER), 403)
    assert "You are not allowed to do this" in refusal


async def test_unauthenticated_export_request_shows_an_error_page(service: Service) -> None:
    async with service.open_client(url=None) as browser:
        page = _is_page(await browser.get("/v1/batches/bt_none/dossier", headers=BROWSER), 401)
    assert "You are not signed in" in page
    assert 'href="/console"' in page
