"""Applicants of proposals: kept from the table, shown and exported, told if they repeat a text, found when erasing."""

import csv
import io

from orchestrator.jobs.models import JobId
from tests.contract.api.browsing import EACH_LOOK, Look, look_over, open_console
from tests.contract.api.console_forms import open_session, submit_form
from tests.contract.api.people import Person
from tests.contract.api.service import Service
from tests.contract.pdf_files import read_pdf_text
from tests.unit.batch_bodies import WORDS

_TABLE = f"""id,title,text,applicant,institution,budget_usd,programme
A-1,Rehearsal,"{WORDS} One.",Ada Author,Yale University,"120,000",Memory
A-2,Ore from slag,"{WORDS} Two.",Ben Blum,University of Turin,80000,Metals
"""


async def _call(service: Service, officer: Person, table: str = _TABLE, name: str = "Spring") -> tuple[str, list[str]]:
    """Return a call of this table's rows, each with a report, and its proposals."""
    answer = await officer.post(f"/v1/batches?name={name}", files=[("file", ("call.csv", table.encode()))])
    assert answer.status_code == 202, answer.text
    batch = str(answer.json()["id"])
    for _ in range(answer.json()["accepted"]):
        await service.finish()
    items = (await officer.get(f"/v1/batches/{batch}/evaluations")).json()["items"]
    return batch, [item["id"] for item in sorted(items, key=lambda item: item["row"])]


async def test_columns_of_the_table_are_kept_shown_and_exported(service: Service, officer: Person) -> None:
    batch, (first, _) = await _call(service, officer)
    stored = (await officer.get(f"/v1/evaluations/{first}/applicant")).json()
    assert (stored["name"], stored["institution"], stored["amount"]) == ("Ada Author", "Yale University", 120_000)
    assert stored["columns"]["programme"] == "Memory"
    text = (await officer.get(f"/v1/batches/{batch}/results?format=csv")).content.decode("utf-8-sig")
    row = next(csv.DictReader(io.StringIO(text)))
    assert (row["applicant"], row["requested"], row["column_programme"]) == ("Ada Author", "120000.0", "Memory")
    async with open_session(service, officer.key) as browser:
        for path in (f"/console/calls/{batch}", f"/console/calls/{batch}/decisions", f"/console/proposals/{first}"):
            assert "Yale University" in (await browser.get(path)).text, path
        assert "Memory" in (await browser.get(f"/console/proposals/{first}")).text


async def test_reviewers_never_see_the_applicant(service: Service, officer: Person, ada: Person) -> None:
    batch, (first, _) = await _call(service, officer)
    await officer.post(f"/v1/batches/{batch}/assignments", json={"per_proposal": 1})
    assert (await ada.get(f"/v1/evaluations/{first}/applicant")).status_code == 403
    async with open_session(service, ada.key) as browser:
        page = await browser.get(f"/console/review/{first}")
        assert page.status_code == 200
        assert "Ada Author" not in page.text
        assert "Yale" not in page.text


async def test_requested_amount_is_awarded_unless_another_is_stated(service: Service, officer: Person) -> None:
    batch, (first, second) = await _call(service, officer)
    both = {"proposals": [{"evaluation": first}, {"evaluation": second}], "outcome": "fund"}
    decided = (await officer.post(f"/v1/batches/{batch}/decisions", json=both)).json()
    assert [item["amount"] for item in decided["decisions"]] == [120_000, 80_000]


async def test_applicant_is_changed_on_the_page_until_sign_off(
    service: Service, owner: Person, officer: Person
) -> None:
    batch, (first, second) = await _call(service, officer)
    path = f"/console/proposals/{first}"
    async with open_session(service, officer.key) as browser:
        fields = {"name": "Ada King", "institution": "", "amount": "75.000,50"}
        assert (await submit_form(browser, path, "/applicant", **fields)).status_code == 303
        wrong = await submit_form(browser, path, "/applicant", name="Ada", amount="a lot")
        assert wrong.status_code == 409
        stored = (await officer.get(f"/v1/evaluations/{first}/applicant")).json()
        assert (stored["name"], stored["amount"], stored["columns"]["programme"]) == ("Ada King", 75_000.5, "Memory")
        assert (await owner.post(f"/v1/batches/{batch}/sign-off", json={})).status_code == 200
        late = await officer.put(f"/v1/evaluations/{second}/applicant", json={"name": "Late"})
        assert late.status_code == 409


async def test_same_text_is_reported_within_a_call_and_across_calls(service: Service, officer: Person) -> None:
    same = _TABLE.replace("Two.", "One.").replace("Ore from slag", "Rehearsal")
    batch, (first, second) = await _call(service, officer, same)
    # Reports of one run are shared, so the same text has the same idea.
    await service.database.execute("UPDATE evaluations SET idea_id = 'same'")
    other_batch, (third, *_) = await _call(service, officer, name="Autumn")
    await service.database.execute("UPDATE evaluations SET idea_id = 'same'")
    same_text = (await officer.get(f"/v1/evaluations/{first}/applicant")).json()["same_text"]
    assert [item["evaluation"] for item in same_text[:2]] == [second, third]
    assert same_text[1]["call"] == "Autumn"
    async with open_session(service, officer.key) as browser:
        assert "same text as row 2" in (await browser.get(f"/console/calls/{batch}")).text
        assert "same text as in Spring" in (await browser.get(f"/console/calls/{other_batch}")).text


async def test_applicant_is_erased_by_name(service: Service, owner: Person, officer: Person) -> None:
    _, (first, second) = await _call(service, officer)
    preview = await owner.post("/v1/erasures", json={"source": "ada author", "dry_run": True})
    assert [job["id"] for job in preview.json()["jobs"]] == [first]
    answer = await owner.post("/v1/erasures", json={"source": "Ada Author"})
    assert answer.status_code == 200, answer.text
    assert (await officer.get(f"/v1/evaluations/{first}")).status_code == 410
    assert (await officer.get(f"/v1/evaluations/{second}")).status_code == 200
    applicant_rows = await service.database.fetch("SELECT evaluation FROM applicants")
    assert [row["evaluation"] for row in applicant_rows] == [JobId(second)]


@EACH_LOOK
async def test_erase_page_lists_proposals_in_which_a_name_occurs(
    service: Service, owner: Person, officer: Person, look: Look
) -> None:
    text = f"# Rehearsal by risk\n\nBy Ada Author, Yale University\n\n{WORDS}"
    answer = await officer.post("/v1/batches", files=[("file", ("one.md", text.encode()))])
    assert answer.status_code == 202, answer.text
    async with open_console(service, owner.key, look) as (page, url):
        await page.goto(f"{url}/console/erase")
        await page.get_by_label("Applicant’s name").fill("Ada Author")
        await page.get_by_role("button", name="Show what would be deleted").click()
        await page.get_by_role("heading", name="also occurs in 1 proposal").wait_for()
        await look_over(page, "erase-named", look)
        await page.locator("section[aria-labelledby=named] a").first.click()
        await page.get_by_role("button", name="Delete it").wait_for()


async def test_dossier_is_ordered_by_decision_and_states_it(service: Service, owner: Person, officer: Person) -> None:
    batch, (first, second) = await _call(service, officer)
    for evaluation, outcome in ((first, "decline"), (second, "fund")):
        body = {"proposals": [{"evaluation": evaluation}], "outcome": outcome, "reason": f"We {outcome} it."}
        assert (await officer.post(f"/v1/batches/{batch}/decisions", json=body)).status_code == 200
    note = {"note": "Fund row 2."}
    assert (await owner.post(f"/v1/batches/{batch}/sign-off", json=note)).status_code == 200
    pdf = (await officer.get(f"/v1/batches/{batch}/dossier")).content
    report_text = " ".join(read_pdf_text(pdf).split())
    for words in ("Sorted by decision", "Fund row 2.", "fund 80,000", "decline: We"):
        assert words in report_text, words
    assert report_text.index("fund 80,000") < report_text.index("decline: We")
