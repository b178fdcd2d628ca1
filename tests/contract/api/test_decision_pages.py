"""Deciding in the console: claims judged by reviewers, scores set with a reason, a call signed off."""

import httpx2
import pytest

from orchestrator.jobs.models import BatchId, JobId
from orchestrator.reviewing.models import ScoreOverride
from tests.contract.api.browsing import PHONE, PHONE_AND_DESK, Look, look_over, open_console
from tests.contract.api.console_forms import open_session, submit_form
from tests.contract.api.people import Person, add_person, call_of
from tests.contract.api.reviewed_calls import call_with_reviewer
from tests.contract.api.service import ACME, OTHER, Service


async def _give_opinion(service: Service, person: Person, evaluation: str | JobId, score: int) -> None:
    answer = await person.post(f"/v1/evaluations/{evaluation}/opinions", json={"score": score})
    assert answer.status_code == 200, answer.text


async def test_a_reviewer_sees_and_judges_no_claim_before_the_first_opinion(service: Service) -> None:
    ada, _, (first,) = await call_with_reviewer(service, "# One")
    path, fields = f"/console/review/{first}", {"point": "/summary/strengths/0", "agrees": "false", "reason": "It is."}
    async with open_session(service, ada.key) as browser:
        before = (await browser.get(path)).text
        assert "Report findings" not in before
        assert (await submit_form(browser, path, "/judgement", **fields)).status_code == 403
        await _give_opinion(service, ada, first, 4)
        after = (await browser.get(path)).text
        assert "Report findings" in after
        assert (
            await submit_form(browser, path, "/judgement", **fields | {"point": "/summary/none/0"})
        ).status_code == 422
        answer = await submit_form(browser, path, "/judgement", **fields, claim="1")
        assert (answer.status_code, answer.headers["location"]) == (303, f"{path}#claim-1")
        assert "You disagree" in (await browser.get(path)).text
    (judgement,) = await service.services.reviewing.opinions.list_judgements(ACME, JobId(first))
    assert (judgement.point, judgement.agrees, judgement.reason) == ("/summary/strengths/0", False, "It is.")


async def test_officer_overrides_a_score_with_a_reason_and_other_tenants_cannot(service: Service) -> None:
    ada, batch, (first, _) = await call_with_reviewer(service, "# One", "# Two")
    await _give_opinion(service, ada, first, 4)
    other_batch, _ = await call_of(service, "# Elsewhere")
    here, fields = f"/console/calls/{batch}", {"evaluation": first, "score": "2", "reason": "The budget is missing."}
    async with open_session(service, (await add_person(service, "officer", "Ophelia Officer")).key) as officer:
        panel = (await officer.get(f"{here}/panel")).text
        assert "Ada Byron: 4" in panel
        token_page = f"{here}/panel"
        assert (await _post_form(officer, token_page, f"{here}/override", **fields | {"reason": "  x  "})) == 409
        assert (await _post_form(officer, token_page, f"/console/calls/{other_batch}/override", **fields)) == 404
        assert (await _post_form(officer, token_page, f"{here}/override", **fields)) == 303
        for path in (f"{here}/panel", f"/console/proposals/{first}"):
            assert "The budget is missing." in (await officer.get(path)).text
        assert (await _post_form(officer, token_page, f"{here}/sign-off")) == 403
    set_score = await service.services.reviewing.decisions.get_override(ACME, JobId(first))
    assert isinstance(set_score, ScoreOverride)
    assert (set_score.score, set_score.overridden_by) == (2, "Ophelia Officer")
    async with open_session(service, (await add_person(service, "auditor", "Eva Auditor")).key) as auditor:
        panel_page = (await auditor.get(f"{here}/panel")).text
        assert "Change the final score" not in panel_page
        assert "Sign off this call" not in panel_page
        assert (await _post_form(auditor, f"{here}/panel", f"{here}/override", **fields)) == 403
    async with open_session(service, (await add_person(service, "owner", tenant=OTHER)).key) as other_tenant:
        for act in ("override", "sign-off"):
            assert (await _post_form(other_tenant, "/console", f"{here}/{act}", **fields)) == 404


async def test_an_owner_signs_off_and_then_nothing_changes(service: Service) -> None:
    ada, batch, (first, second) = await call_with_reviewer(service, "# One", "# Two")
    await _give_opinion(service, ada, first, 4)
    call_path = f"/console/calls/{batch}"
    async with open_session(service, (await add_person(service, "owner", "Olga Owner")).key) as owner:
        assert "Although 1 review is missing" in (await owner.get(f"{call_path}/panel")).text
        answer = await submit_form(owner, f"{call_path}/panel", f"{call_path}/sign-off", note="All in order.")
        assert answer.status_code == 409
        assert "1 assigned opinion is missing" in answer.text
        assert "1 evaluation has not ended" in answer.text
        assert "`" not in answer.text, "the fields of the API are not named"
        assert "Although 1 evaluation has not ended" in answer.text
        fields = {"note": "All in order.", "allow_missing_opinions": "true"}
        assert (await _post_form(owner, f"{call_path}/panel", f"{call_path}/sign-off", **fields)) == 409
        fields["allow_unfinished_evaluations"] = "true"
        assert (await _post_form(owner, f"{call_path}/panel", f"{call_path}/sign-off", **fields)) == 303
        head = await service.services.audit_log.get_head(ACME)
        panel_page = (await owner.get(f"{call_path}/panel")).text
        assert f"{head.number}:{head.hash}" in panel_page
        assert "Sign off this call" not in panel_page
        late = {"evaluation": second, "score": "5", "reason": "Too late."}
        assert (await _post_form(owner, f"{call_path}/panel", f"{call_path}/override", **late)) == 409
    async with open_session(service, ada.key) as reviewer:
        answer = await submit_form(reviewer, f"/console/review/{second}", "/opinion", score="1")
        assert answer.status_code == 409
        assert "signed off" in answer.text


async def test_panel_shows_comments_beside_the_scores(service: Service) -> None:
    ada, batch, (first,) = await call_with_reviewer(service, "# One")
    answer = await ada.post(f"/v1/evaluations/{first}/opinions", json={"score": 4, "note": "Sound, <b>cheap</b>."})
    assert answer.status_code == 200, answer.text
    owner = await add_person(service, "owner", "Olga Owner")
    async with open_console(service, owner.key, Look(PHONE, "dark")) as (page, url):
        await page.goto(f"{url}/console/calls/{batch}/panel")
        await page.get_by_label("Comments by Ada Byron").press("Enter")
        await page.get_by_text("Sound, <b>cheap</b>.").wait_for()
        await look_over(page, "panel-comments", Look(PHONE, "dark"))


async def test_panel_can_be_sorted_by_reviewer_disagreement(service: Service) -> None:
    people = [await add_person(service, "reviewer", name) for name in ("Ada Byron", "Bob Noyce")]
    officer = await add_person(service, "officer", "Otto Officer")
    batch, _ = await call_of(service, *(f"# Proposal {place}" for place in range(60)))
    evaluations = list(await service.services.reviewing.assignments.get_proposal_versions(ACME, BatchId(batch)))
    await officer.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 2})
    for person, score in zip(people, (1, 5), strict=True):
        await _give_opinion(service, person, evaluations[59], score)
    await _give_opinion(service, people[0], evaluations[3], 3)
    async with open_session(service, officer.key) as browser:
        plain = (await browser.get(f"/console/calls/{batch}/panel")).text
        last = await _get_title(service, evaluations[59])
        assert f">{last}<" not in plain
        assert "Page 1 of 2" in plain
        apart = (await browser.get(f"/console/calls/{batch}/panel", params={"sort": "spread"})).text
        assert apart.index(f">{last}<") < apart.index(f">{await _get_title(service, evaluations[0])}<")
        assert (await browser.get(f"/console/calls/{batch}/panel", params={"sort": "nothing"})).status_code == 422


@pytest.mark.slow
@pytest.mark.parametrize("look", PHONE_AND_DESK, ids=str)
async def test_reviewer_and_owner_complete_their_decisions_in_the_browser(service: Service, look: Look) -> None:
    ada, batch, _ = await call_with_reviewer(service, "# Rehearsal by risk", "# Ore from slag")
    async with open_console(service, ada.key, look) as (page, _url):
        await look_over(page, "queue", look)
        await page.locator("ol.queue a").first.press("Enter")
        await look_over(page, "review-blind", look)
        await page.get_by_label("4", exact=True).check()
        await page.get_by_label("Why").first.fill("Sound, and cheap.")
        await page.get_by_role("button", name="Give first review").press("Enter")
        await page.get_by_role("heading", name="Report findings").wait_for()
        await page.get_by_label("Disagree with claim 1", exact=True).press("Enter")
        await page.locator("#claim-1").get_by_label("Why").fill("They did compare with it.")
        await page.locator("#claim-1").get_by_role("button", name="I disagree").press("Enter")
        await page.locator("#claim-1").get_by_text("You disagree").wait_for()
        await look_over(page, "review-judged", look)
    owner = await add_person(service, "owner", "Olga Owner")
    async with open_console(service, owner.key, look) as (page, url):
        await page.goto(f"{url}/console/calls/{batch}")
        await page.get_by_role("link", name="Reviews", exact=True).press("Enter")
        await page.get_by_label("Change the final score of Rehearsal by risk").press("Enter")
        await page.locator("tr", has_text="Rehearsal").get_by_label("3", exact=True).check()
        await page.locator("tr", has_text="Rehearsal").get_by_label("Why").fill("One baseline is missing.")
        await look_over(page, "panel", look)
        await page.locator("tr", has_text="Rehearsal").get_by_role("button", name="Set the final score").press("Enter")
        await page.get_by_text("set by Olga Owner").wait_for()
        assert page.url.partition("#")[0].endswith(f"/console/calls/{batch}/panel"), "the panel stays open"
        await page.get_by_role("link", name="Rehearsal by risk").click()
        await page.get_by_text("Final score: 3 of 5").wait_for()
        assert await page.get_by_text("Ada Byron disagrees").count() == 1
        await look_over(page, "proposal-decided", look)
        await page.goto(f"{url}/console/calls/{batch}/panel")
        await page.get_by_label("Note on the decision (optional)").fill("Rehearsal by risk is funded.")
        await page.get_by_label("Although 1 review is missing").check()
        await page.get_by_label("they can no longer be cancelled").check()
        await page.get_by_role("button", name="Sign off this call").press("Enter")
        await page.get_by_text("Receipt (the head of the audit log)").wait_for()
        await look_over(page, "signed-off", look)
        assert await page.get_by_label("Change the final score of Rehearsal by risk").count() == 0


async def _get_title(service: Service, evaluation: JobId) -> str:
    job = await service.services.jobs.get(ACME, evaluation)
    assert job is not None
    return job.subject


async def _post_form(browser: httpx2.AsyncClient, page: str, path: str, **fields: str) -> int:
    return int((await submit_form(browser, page, path, **fields)).status_code)
