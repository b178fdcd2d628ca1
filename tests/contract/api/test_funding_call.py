"""A funding call as an object: set up, changed in two tabs, reviewed by its own form, decided under its budget.

Each test plays what an officer or a reviewer does, in Chromium where the browser matters."""

import asyncio

import pytest

from assayer_client.calls import CallTerms
from orchestrator.jobs.models import BatchId, JobId
from tests.contract.api.browsing import EACH_LOOK, Look, look_over, open_console
from tests.contract.api.console_forms import open_session, submit_form
from tests.contract.api.funding_calls import (
    ANSWERS,
    IMPACT,
    TERMS,
    add_proposals,
    create_funding_call,
    create_reviewed_call,
    list_proposals,
)
from tests.contract.api.people import Person, add_person, call_of
from tests.contract.api.service import ACME, Service
from tests.unit.batch_bodies import WORDS


async def test_call_is_created_without_proposals_and_accepts_them_later(service: Service, officer: Person) -> None:
    batch = await create_funding_call(officer)
    assert (await add_proposals(officer, batch, f"# One\n\n{WORDS}")).status_code == 202
    late = await add_proposals(officer, batch, f"# Two\n\n{WORDS}")
    assert (late.status_code, late.json()["next_row"]) == (202, 3)
    assert len(await list_proposals(officer, batch)) == 2
    same = [("file", ("x.txt", f"# Three\n\n{WORDS}".encode()))]
    answer = await officer.post(f"/v1/batches/{batch}/rows", params={"first_row": "3"}, files=same)
    assert answer.status_code == 409, "a closed batch takes rows only if it is asked to"


async def test_change_based_on_an_older_version_of_a_call_is_refused(service: Service, officer: Person) -> None:
    batch = await create_funding_call(officer)
    first = (await officer.get(f"/v1/batches/{batch}/terms")).json()
    assert (first["version"], first["changed_by"]) == (1, "Otto Officer")
    assert CallTerms.model_validate(first["terms"]) == TERMS
    changed = await officer.patch(f"/v1/batches/{batch}", json={"tags": ["round 3"], "version": 1})
    assert changed.status_code == 200, changed.text
    stale = await officer.patch(f"/v1/batches/{batch}", json={"name": "Autumn", "version": 1})
    assert stale.status_code == 409
    assert "Otto Officer changed this call" in stale.json()["detail"]
    assert (await officer.get(f"/v1/batches/{batch}")).json()["name"] == "Spring"


async def test_version_of_details_that_were_never_changed_is_refused_and_a_missing_call_is_missing(
    service: Service, officer: Person
) -> None:
    batch, _ = await call_of(service, "# One")
    for path, body in (
        ("", {"name": "Autumn", "version": 3}),
        ("/letter-templates", {"templates": {}, "version": 3}),
    ):
        method = officer.patch if not path else officer.put
        answer = await method(f"/v1/batches/{batch}{path}", json=body)
        assert answer.status_code == 409, answer.text
        assert "version is 0" in answer.json()["detail"]
        assert (await method(f"/v1/batches/bt_none{path}", json=body)).status_code == 404


async def test_criteria_cannot_change_once_a_review_is_given(service: Service, officer: Person, ada: Person) -> None:
    batch, (first, _) = await create_reviewed_call(service, officer, ada)
    body = {"score": 4, "note": "Sound.", "answers": ANSWERS}
    assert (await ada.post(f"/v1/evaluations/{first}/opinions", json=body)).status_code == 200
    fewer = TERMS.model_copy(update={"criteria": (IMPACT,)}).model_dump(mode="json")
    answer = await officer.patch(f"/v1/batches/{batch}", json={"terms": fewer})
    assert answer.status_code == 409
    assert "the criteria and the review form can no longer be changed" in answer.json()["detail"]
    more = TERMS.model_copy(update={"budget": 200_000.0}).model_dump(mode="json")
    assert (await officer.patch(f"/v1/batches/{batch}", json={"terms": more})).status_code == 200


@pytest.mark.parametrize(
    ("answers", "pointer"),
    [
        ({}, "/answers/criteria/Impact"),
        (ANSWERS | {"criteria": {"Impact": 8}}, "/answers/criteria/Cost"),
        (ANSWERS | {"criteria": {"Impact": 8, "Cost": 4, "Style": 3}}, "/answers/criteria/Style"),
        (ANSWERS | {"fields": {"Team": 9}}, "/answers/fields/Team"),
        (ANSWERS | {"fields": {"Team": "good"}}, "/answers/fields/Team"),
        (ANSWERS | {"confidence": None}, "/answers/confidence"),
    ],
)
async def test_review_that_does_not_answer_the_form_is_refused(
    service: Service, officer: Person, ada: Person, answers: dict[str, object], pointer: str
) -> None:
    _, (first, _) = await create_reviewed_call(service, officer, ada)
    answer = await ada.post(f"/v1/evaluations/{first}/opinions", json={"score": 4, "answers": answers})
    assert answer.status_code == 422, answer.text
    assert answer.json()["errors"][0]["pointer"] == pointer


async def test_panel_states_the_mean_of_each_criterion(service: Service, officer: Person, ada: Person) -> None:
    batch, (first, _) = await create_reviewed_call(service, officer, ada)
    ben = await add_person(service, "reviewer", "Ben Blum")
    answer = await officer.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 2})
    assert answer.status_code == 200, answer.text
    for person, impact in ((ada, 8), (ben, 5)):
        answers = ANSWERS | {"criteria": {"Impact": impact, "Cost": 4}}
        response = await person.post(f"/v1/evaluations/{first}/opinions", json={"score": 4, "answers": answers})
        assert response.status_code == 200, response.text
    panel = (await officer.get(f"/v1/batches/{batch}/panel")).json()
    (row,) = [row for row in panel["rows"] if row["evaluation"] == first]
    assert row["criteria"] == {"Impact": 6.5, "Cost": 4.0}
    terms = (await ada.get(f"/v1/evaluations/{first}/terms")).json()
    assert [item["name"] for item in terms["criteria"]] == ["Impact", "Cost"]
    other_tenant = await add_person(service, "reviewer", "Carl Cox")
    assert (await other_tenant.get(f"/v1/evaluations/{first}/terms")).status_code == 404


async def test_decisions_use_the_budget_and_refuse_a_stale_one(service: Service, officer: Person, ada: Person) -> None:
    batch, (first, second) = await create_reviewed_call(service, officer, ada)
    path = f"/v1/batches/{batch}/decisions"
    fund = {"proposals": [{"evaluation": first}], "outcome": "fund", "amount": 70_000, "reason": "Best."}
    decided = await officer.post(path, json=fund)
    assert decided.status_code == 200, decided.text
    use = decided.json()["budget"]
    assert (use["awarded"], use["over_budget"], use["undecided"], use["currency"]) == (70_000, False, 1, "EUR")
    assert (await officer.post(path, json=fund)).status_code == 409, "the decision has a version by now"
    both = {"proposals": [{"evaluation": first, "version": 1}, {"evaluation": second}], "outcome": "fund"}
    over = (await officer.post(path, json=both | {"amount": 60_000})).json()["budget"]
    assert (over["awarded"], over["over_budget"], over["funded"]) == (120_000, True, 2)
    unknown_body = {"proposals": [{"evaluation": "ev_none"}], "outcome": "decline"}
    assert (await officer.post(path, json=unknown_body)).status_code == 404
    assert (await service.machine.get(path)).status_code == 403, "machines never see people's decisions"


async def test_sign_off_needs_a_decision_on_each_proposal_and_empties_queues(
    service: Service, owner: Person, officer: Person, ada: Person
) -> None:
    batch, (first, second) = await create_reviewed_call(service, officer, ada)
    path = f"/v1/batches/{batch}"
    await officer.post(f"{path}/decisions", json={"proposals": [{"evaluation": first}], "outcome": "fund"})
    answer = await owner.post(f"{path}/sign-off", json={"allow_missing_opinions": True})
    assert answer.status_code == 409
    assert "1 proposal has no decision" in answer.json()["detail"]
    await officer.post(f"{path}/decisions", json={"proposals": [{"evaluation": second}], "outcome": "decline"})
    assert (await owner.post(f"{path}/sign-off", json={"allow_missing_opinions": True})).status_code == 200
    assert (await ada.get("/v1/assignments")).json()["items"] == []
    late = await officer.post(f"{path}/decisions", json={"proposals": [{"evaluation": second}], "outcome": "fund"})
    assert late.status_code == 409
    async with open_session(service, ada.key) as browser:
        page = (await browser.get(f"/console/review/{first}")).text
        assert "Reviews can no longer be submitted or changed" in page
        assert "Give first review" not in page


@EACH_LOOK
async def test_officer_sets_up_a_call_and_a_second_tab_cannot_overwrite_it(
    service: Service, officer: Person, look: Look
) -> None:
    async with open_console(service, officer.key, look, is_refused=True) as (page, _url):
        await page.get_by_role("link", name="New funding call").click()
        await page.get_by_role("button", name="Create the call").click()
        await page.get_by_text("Name: give the call a name").wait_for()
        await page.get_by_label("Name", exact=True).first.fill("Spring call")
        await page.get_by_label("Call text").fill("We fund work on forgetting.")
        await page.get_by_label("Budget").fill("100000")
        first = page.get_by_role("group", name="Criterion 1")
        await first.get_by_label("Name").fill("Impact")
        await first.get_by_label("Question").fill("Would the results change what others do?")
        await first.get_by_label("What some scores mean").fill("1 no user is named\n10: the field changes")
        await look_over(page, "call-terms-new", look)
        await page.get_by_role("button", name="Create the call").click()
        await page.get_by_role("heading", name="Spring call").wait_for()
        await look_over(page, "call-empty", look)
        assert await page.get_by_role("table").count() == 0, "there is nothing to search or sort yet"
        await page.get_by_role("link", name="The call", exact=True).click()
        other_page = await page.context.new_page()
        await other_page.goto(page.url)
        await other_page.get_by_label("Call text").fill("We fund work on memory.")
        await other_page.get_by_role("button", name="Save").click()
        await other_page.get_by_text("Version 2").wait_for()
        await page.get_by_label("Budget").fill("250000")
        await page.get_by_role("button", name="Save").click()
        await page.get_by_text("Not saved: Otto Officer changed this call").wait_for()
        assert await page.get_by_label("Budget").input_value() == "250000", "what was typed is kept"
        assert await page.get_by_text("We fund work on memory.").count() == 1, "what differs is shown"
        await look_over(page, "call-terms-stale", look)
        await page.get_by_role("button", name="Save").click()
        await page.get_by_text("Version 3").wait_for()
    (batch,) = await service.services.jobs.list_batches(ACME)
    stored = (await service.services.call_details.get(ACME, batch.id)).terms
    assert (stored.budget, stored.criteria[0].anchors) == (250_000, IMPACT.anchors | {"10": "the field changes"})


@EACH_LOOK
async def test_reviewer_answers_the_form_of_the_call(
    service: Service, officer: Person, ada: Person, look: Look
) -> None:
    _, (first, _) = await create_reviewed_call(service, officer, ada)
    async with open_console(service, ada.key, look, is_refused=True) as (page, url):
        await look_over(page, "queue-by-call", look)
        await page.goto(f"{url}/console/review/{first}")
        await page.get_by_text("Declare co-authors of the last five years.").wait_for()
        form = page.locator("form[action$='/opinion']")
        await form.get_by_role("group", name="Impact").get_by_label("8", exact=True).check()
        await form.get_by_role("group", name="Cost").get_by_label("4", exact=True).check()
        await form.get_by_role("group", name="Team").get_by_label("3", exact=True).check()
        await form.get_by_role("group", name="Overall score").get_by_label("4", exact=True).check()
        await form.get_by_role("group", name="How certain").get_by_label("5", exact=True).check()
        await page.get_by_label("Comments to the panel").fill("Sound, and cheap.")
        await page.get_by_label("Comments to the applicant").fill("Name the users.")
        await look_over(page, "review-form", look)
        await page.get_by_role("button", name="Save and next").press("Enter")
        await page.wait_for_url(lambda url: first not in url)
    (opinion,) = await service.services.reviewing.opinions.list_opinions(ACME, evaluation=JobId(first))
    assert opinion.answers.criteria == {"Impact": 8, "Cost": 4}
    assert (opinion.answers.fields, opinion.answers.confidence) == ({"Team": 3}, 5)
    assert (opinion.note, opinion.answers.to_applicant) == ("Sound, and cheap.", "Name the users.")


@EACH_LOOK
async def test_reviewer_still_sees_their_answers_after_sign_off(
    service: Service, owner: Person, officer: Person, ada: Person, look: Look
) -> None:
    batch, (first, _) = await create_reviewed_call(service, officer, ada)
    body = {"score": 4, "note": "Sound.", "answers": ANSWERS}
    assert (await ada.post(f"/v1/evaluations/{first}/opinions", json=body)).status_code == 200
    proposals = [{"evaluation": id} for id in await list_proposals(officer, batch)]
    await officer.post(f"/v1/batches/{batch}/decisions", json={"proposals": proposals, "outcome": "decline"})
    assert (await owner.post(f"/v1/batches/{batch}/sign-off", json={"allow_missing_opinions": True})).status_code == 200
    async with open_console(service, ada.key, look) as (page, url):
        await page.goto(f"{url}/console/review/{first}")
        review = page.get_by_role("region", name="Your review")
        review_text = " ".join((await review.inner_text()).split())
        for answer in ("Overall score 4 of 5", "Impact 8 of 10", "Cost 4 of 10", "Team 3 of 5", "Certainty 4 of 5"):
            assert answer in review_text
        assert "Comments to the panel Sound. Comments to the applicant Name the users." in review_text
        assert await review.get_by_role("radio").count() == 0, "nothing can be changed"
        assert await page.get_by_text("state whether you agree").count() == 0
        await look_over(page, "review-signed-off", look)


@EACH_LOOK
async def test_first_review_in_a_second_tab_is_refused_and_its_text_kept(
    service: Service, officer: Person, ada: Person, look: Look
) -> None:
    batch = await create_funding_call(officer, CallTerms())
    await add_proposals(officer, batch, f"# One\n\n{WORDS}")
    await service.finish()
    await officer.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    (first,) = await list_proposals(officer, batch)
    async with open_console(service, ada.key, look, is_refused=True) as (page, url):
        other_page = await page.context.new_page()
        for tab in (page, other_page):
            await tab.goto(f"{url}/console/review/{first}")
        await page.get_by_label("5", exact=True).check()
        await page.get_by_role("button", name="Give first review").click()
        await page.get_by_text("First review (cannot be changed)").wait_for()
        await other_page.get_by_label("1", exact=True).check()
        await other_page.get_by_label("Why").fill("Written in the second tab.")
        await other_page.get_by_role("button", name="Give first review").click()
        await other_page.get_by_text("You have already given your first").wait_for()
        assert await other_page.get_by_label("Why").input_value() == "Written in the second tab."
        await look_over(other_page, "review-second-tab", look)
    (opinion,) = await service.services.reviewing.opinions.list_opinions(ACME, evaluation=JobId(first))
    assert (opinion.score, opinion.revised_at) == (5, None)


@EACH_LOOK
async def test_officer_decides_under_the_budget_and_is_warned(
    service: Service, officer: Person, ada: Person, look: Look
) -> None:
    batch, (first, second) = await create_reviewed_call(service, officer, ada)
    for evaluation, score in ((first, 5), (second, 3)):
        body = {"score": score, "answers": ANSWERS}
        assert (await ada.post(f"/v1/evaluations/{evaluation}/opinions", json=body)).status_code == 200
    async with open_console(service, officer.key, look, is_refused=True) as (page, url):
        await page.goto(f"{url}/console/calls/{batch}")
        await look_over(page, "call-table", look)
        await page.locator(".call-head").get_by_role("link", name="Decide").click()
        boxes = page.get_by_role("checkbox", name="Choose")
        await boxes.nth(0).check()
        await page.get_by_label("Amount per proposal").fill("70000")
        await page.get_by_label("Reason").fill("Best of the round.")
        await page.get_by_role("button", name="Decide on the ticked proposals").click()
        await page.get_by_text("30,000 left").wait_for()
        await page.get_by_role("button", name="Tick all 2").click()
        assert await boxes.nth(0).is_checked()
        await boxes.nth(0).uncheck()
        await page.get_by_label("Amount per proposal").fill("60000")
        await page.get_by_role("button", name="Decide on the ticked proposals").click()
        await page.get_by_text("30,000 over budget").wait_for()
        await look_over(page, "decisions", look)
        await page.goto(f"{url}/console/calls/{batch}/panel")
        await look_over(page, "panel-criteria", look)
    decisions = await service.services.reviewing.proposal_decisions.list_decisions(ACME, BatchId(batch))
    assert [(item.evaluation, item.outcome, item.amount) for item in decisions] == [
        (first, "fund", 70_000),
        (second, "fund", 60_000),
    ]


async def test_two_tabs_do_not_decide_over_each_other(service: Service, officer: Person, ada: Person) -> None:
    batch, (first, _) = await create_reviewed_call(service, officer, ada)
    path = f"/console/calls/{batch}/decisions"
    async with open_session(service, officer.key) as browser:
        fields = {"proposal": f"{first}:0", "outcome": "fund", "amount": "10", "reason": "One"}
        assert (await submit_form(browser, path, **fields)).status_code == 303
        stale = await submit_form(browser, path, **fields | {"outcome": "decline", "reason": "Two"})
        assert stale.status_code == 409
        assert "Otto Officer decided on 1 of these proposals after you opened the page" in stale.text
        assert 'value="Two"' in stale.text, "what was typed is kept"


async def test_late_changes_from_many_tabs_leave_one_version_each(service: Service, officer: Person) -> None:
    batch = await create_funding_call(officer)
    changes = [officer.patch(f"/v1/batches/{batch}", json={"name": f"Name {n}", "version": 1}) for n in range(5)]
    answers = [answer.status_code for answer in await asyncio.gather(*changes)]
    assert sorted(answers) == [200, 409, 409, 409, 409]
