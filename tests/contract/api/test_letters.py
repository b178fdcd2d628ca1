"""Letters to applicants: from templates, with released comments, sent once after sign-off; objections and answers."""

import io
import zipfile

import pytest

from tests.contract.api.browsing import EACH_LOOK, Look, look_over, open_console
from tests.contract.api.console_forms import open_session, submit_form
from tests.contract.api.funding_calls import ANSWERS, create_funding_call, create_reviewed_call, list_proposals
from tests.contract.api.people import Person
from tests.contract.api.service import Service
from tests.contract.pdf_files import read_pdf_text
from tests.unit.batch_bodies import WORDS


async def _decide_call(service: Service, officer: Person, ada: Person) -> tuple[str, str, str]:
    """Return a call with two decisions, and the proposals that are funded and declined."""
    batch, (first, second) = await create_reviewed_call(service, officer, ada)
    for evaluation in (first, second):
        body = {"score": 4, "answers": ANSWERS}
        assert (await ada.post(f"/v1/evaluations/{evaluation}/opinions", json=body)).status_code == 200
    for evaluation, outcome in ((first, "fund"), (second, "decline")):
        body = {"proposals": [{"evaluation": evaluation}], "outcome": outcome, "reason": "By rank.", "amount": 70_000}
        assert (await officer.post(f"/v1/batches/{batch}/decisions", json=body)).status_code == 200
    return batch, first, second


async def test_letter_has_decision_amount_and_only_released_comments(
    service: Service, officer: Person, ada: Person
) -> None:
    batch, first, second = await _decide_call(service, officer, ada)
    path = f"/v1/batches/{batch}/letters"
    before = {item["evaluation"]: item for item in (await officer.get(path)).json()["items"]}
    assert "70,000 EUR" in before[first]["text"]
    assert "70,000" not in before[second]["text"], "a declined proposal has no amount"
    assert "Name the users." not in before[first]["text"]
    assert (before[first]["comments"], before[first]["released_comments"]) == (1, 0)
    chosen = {"reviewers": [ada.member.id]}
    released = await officer.put(f"/v1/evaluations/{first}/released-comments", json=chosen)
    assert [item["text"] for item in released.json()["items"]] == ["Name the users."]
    after = {item["evaluation"]: item for item in (await officer.get(path)).json()["items"]}
    assert "By rank.\n\nFrom the reviews:\nName the users.\n" in after[first]["text"]
    assert "From the reviews" not in before[first]["text"]
    assert "Name the users." not in after[second]["text"]
    assert (await ada.get(path)).status_code == 403
    assert (await service.machine.get(path)).status_code == 403


async def test_released_comment_stays_as_it_was_when_the_review_is_revised(
    service: Service, officer: Person, ada: Person
) -> None:
    batch, first, _ = await _decide_call(service, officer, ada)
    await officer.put(f"/v1/evaluations/{first}/released-comments", json={"reviewers": [ada.member.id]})
    revised = {"score": 2, "answers": ANSWERS | {"to_applicant": "Do not bother."}}
    assert (await ada.patch(f"/v1/evaluations/{first}/opinions", json=revised)).status_code == 200
    (letter,) = [item for item in await _list_letters(officer, batch) if item["evaluation"] == first]
    assert "Name the users." in letter["text"]
    assert "Do not bother." not in letter["text"]


async def _list_letters(officer: Person, batch: str) -> list[dict[str, str]]:
    items: list[dict[str, str]] = (await officer.get(f"/v1/batches/{batch}/letters")).json()["items"]
    return items


async def test_letters_are_sent_once_and_only_after_sign_off(
    service: Service, owner: Person, officer: Person, ada: Person
) -> None:
    batch, first, _ = await _decide_call(service, officer, ada)
    body = {"evaluations": [first]}
    early = await officer.post(f"/v1/batches/{batch}/letters/sent", json=body)
    assert early.status_code == 409
    assert "after sign-off" in early.json()["detail"]
    assert (await owner.post(f"/v1/batches/{batch}/sign-off", json={})).status_code == 200
    assert (await officer.post(f"/v1/batches/{batch}/letters/sent", json=body)).status_code == 200
    templates = {"templates": {"fund": "Changed."}, "version": 0}
    assert (await officer.put(f"/v1/batches/{batch}/letter-templates", json=templates)).status_code == 200
    by_id = {item["evaluation"]: item for item in await _list_letters(officer, batch)}
    assert "70,000 EUR" in by_id[first]["text"], "what was sent stays"
    assert by_id[first]["sent_by"] == "Otto Officer"


@pytest.mark.parametrize("template", ["Dear {applicnt}", "{title.__class__}", "{0}"])
async def test_template_with_an_unknown_placeholder_is_refused(
    service: Service, officer: Person, ada: Person, template: str
) -> None:
    batch, _, _ = await _decide_call(service, officer, ada)
    answer = await officer.put(f"/v1/batches/{batch}/letter-templates", json={"templates": {"fund": template}})
    assert answer.status_code == 422
    assert "Unknown placeholders:" in answer.json()["detail"]


async def test_templates_changed_in_a_second_tab_are_not_overwritten(
    service: Service, officer: Person, ada: Person
) -> None:
    batch, _, _ = await _decide_call(service, officer, ada)
    path, form = f"/console/calls/{batch}/letters", {"reserve": "Wait.", "decline": "No.", "version": "0"}
    async with open_session(service, officer.key) as browser:
        assert (await submit_form(browser, path, "/templates", fund="First tab.", **form)).status_code == 303
        stale = await submit_form(browser, path, "/templates", fund="Second tab.", **form)
        assert stale.status_code == 409
        assert "Second tab." in stale.text, "what was typed is kept"
    stored = (await officer.get(f"/v1/batches/{batch}/letter-templates")).json()
    assert (stored["version"], stored["templates"]["fund"]) == (1, "First tab.")


async def test_letters_download_as_pdf_and_zip(service: Service, officer: Person, ada: Person) -> None:
    batch, _, _ = await _decide_call(service, officer, ada)
    pdf = await officer.get(f"/v1/batches/{batch}/letters", params={"format": "pdf"})
    assert "70,000 EUR" in read_pdf_text(pdf.content)
    archive = await officer.get(f"/v1/batches/{batch}/letters", params={"format": "zip"})
    names = zipfile.ZipFile(io.BytesIO(archive.content)).namelist()
    assert sorted(name.partition("/")[0] for name in names) == ["decline", "fund"]
    only = await officer.get(f"/v1/batches/{batch}/letters", params={"outcome": "decline"})
    assert len(only.json()["items"]) == 1


@EACH_LOOK
async def test_closing_that_the_officer_writes_ends_every_letter(
    service: Service, officer: Person, ada: Person, look: Look
) -> None:
    batch, first, _ = await _decide_call(service, officer, ada)
    assert {item["text"].rstrip().rpartition("\n")[2] for item in await _list_letters(officer, batch)} == {
        "Yours sincerely"
    }
    async with open_console(service, officer.key, look) as (page, url):
        await page.goto(f"{url}/console/calls/{batch}/letters")
        closing = page.get_by_label("Closing for all letters")
        await closing.fill("With best wishes\nOtto Officer, call {call}")
        await look_over(page, "letter-templates", look)
        await page.get_by_role("button", name="Save the templates").click()
        await page.get_by_text("Version 1, saved by Otto Officer").wait_for()
        assert await closing.input_value() == "With best wishes\nOtto Officer, call {call}"
        await page.goto(f"{url}/console/calls/{batch}/letters/{first}")
        await page.get_by_text("Otto Officer, call Spring").wait_for()
    assert all(
        item["text"].endswith("\n\nWith best wishes\nOtto Officer, call Spring\n")
        for item in await _list_letters(officer, batch)
    )


async def test_letters_carry_the_number_that_a_column_of_the_table_gives(service: Service, officer: Person) -> None:
    batch = await create_funding_call(officer)
    rows = "\n".join(f'Forgetting {number},"{WORDS} {number}",NSF 26/{number},2026' for number in (7, 8))
    table = f"title,abstract,Award ID,reference\n{rows}\n".encode()
    form = [("file", ("table.csv", table))]
    added = await officer.post(f"/v1/batches/{batch}/rows", params={"first_row": "1", "reopen": "true"}, files=form)
    assert added.status_code == 202, added.text
    proposals = [{"evaluation": id} for id in await list_proposals(officer, batch)]
    await officer.post(f"/v1/batches/{batch}/decisions", json={"proposals": proposals, "outcome": "decline"})
    assert [item["reference"] for item in await _list_letters(officer, batch)] == ["NSF_26_7", "NSF_26_8"]
    archive = await officer.get(f"/v1/batches/{batch}/letters", params={"format": "zip"})
    names = zipfile.ZipFile(io.BytesIO(archive.content)).namelist()
    assert [name.partition("-")[0] for name in sorted(names)] == ["decline/NSF_26_7", "decline/NSF_26_8"]
    answer = await officer.get("/v1/evaluations", params={"reference": "NSF_26_8"})
    assert [item["id"] for item in answer.json()["items"]] == [proposals[1]["evaluation"]]


@EACH_LOOK
async def test_officer_releases_comments_sends_letters_and_answers_an_objection(
    service: Service, owner: Person, officer: Person, ada: Person, look: Look
) -> None:
    batch, first, _ = await _decide_call(service, officer, ada)
    async with open_console(service, officer.key, look) as (page, url):
        await page.goto(f"{url}/console/calls/{batch}/letters")
        await page.get_by_role("button", name="Release the comments on 2 proposals").click()
        await page.get_by_text("1 of 1").first.wait_for()
        assert await page.get_by_role("button", name="Mark the ticked letters as sent").count() == 0
        await page.goto(f"{url}/console/calls/{batch}/letters/{first}")
        await page.get_by_text("Letter, as it would be sent now").wait_for()
        assert await page.get_by_text("70,000 EUR").count() == 1
        await look_over(page, "letter", look)
        assert (await owner.post(f"/v1/batches/{batch}/sign-off", json={})).status_code == 200
        await page.goto(f"{url}/console/calls/{batch}")
        await page.locator(".call-head").get_by_role("link", name="Letters").click()
        await page.get_by_role("button", name="Tick all 2").click()
        await page.get_by_role("button", name="Untick all").wait_for()
        await look_over(page, "letters", look)
        await page.get_by_role("button", name="Mark the ticked letters as sent").click()
        await page.get_by_text("Otto Officer", exact=True).nth(1).wait_for()
        assert await page.get_by_role("button", name="Mark the ticked letters as sent").count() == 0, "all are sent"
        await page.goto(f"{url}/console/calls/{batch}/letters/{first}")
        await page.get_by_text("Record an objection …").click()
        await page.get_by_label("What the applicant objects to").fill("The budget was misread.")
        await page.get_by_role("button", name="Record the objection").click()
        await page.get_by_label("Answer").fill("It was read as submitted.")
        await page.get_by_role("button", name="Record the answer").click()
        await page.get_by_text("Answered by Otto Officer").wait_for()
        await look_over(page, "letter-objection", look)
    objections = (await officer.get(f"/v1/evaluations/{first}/objections")).json()["items"]
    assert [(item["text"], item["answer"]) for item in objections] == [
        ("The budget was misread.", "It was read as submitted.")
    ]
    number = objections[0]["id"]
    again = await officer.post(f"/v1/evaluations/{first}/objections/{number}/answer", json={"answer": "It was read."})
    assert (again.status_code, again.json()["detail"]) == (
        409,
        f"Objection {number} already has an answer. An answer cannot be changed.",
    )
    missing = await officer.post(f"/v1/evaluations/{first}/objections/999/answer", json={"answer": "It was read."})
    assert (missing.status_code, missing.json()["detail"]) == (404, "The proposal has no objection 999.")
