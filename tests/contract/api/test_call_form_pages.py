"""The form of a funding call in Chromium: rows for criteria without saving first, and faults in plain words."""

from orchestrator.jobs.models import BatchId
from tests.contract.api.browsing import EACH_LOOK, Look, look_over, open_console
from tests.contract.api.console_forms import open_session, submit_form
from tests.contract.api.funding_calls import ANSWERS, create_reviewed_call
from tests.contract.api.people import Person
from tests.contract.api.service import ACME, Service

_QUESTION = "Would the results change what others do?"


@EACH_LOOK
async def test_officer_adds_criteria_without_saving_and_sees_what_is_wrong(
    service: Service, officer: Person, look: Look
) -> None:
    async with open_console(service, officer.key, look, is_refused=True) as (page, url):
        await page.goto(f"{url}/console/calls/set-up")
        await page.get_by_label("Name", exact=True).first.fill("Spring call")
        await page.get_by_label("Currency, such as EUR").fill("eur")
        await page.get_by_text("More criteria …").click()
        for number, name in enumerate(("Impact", "Cost", "Team", "Risk"), 1):
            row = page.get_by_role("group", name=f"Criterion {number}", exact=True)
            await row.get_by_label("Name").fill(name)
            await row.get_by_label("Question").fill("Why?" if name == "Team" else _QUESTION)
        await page.get_by_text("More questions …").click()
        question = page.get_by_role("group", name="Question 3", exact=True)
        await question.get_by_label("Name").fill("Ethics")
        await page.get_by_role("button", name="Create the call").click()
        await page.get_by_text("Criterion 3, question: It must have at least 10 characters.").wait_for()
        await page.get_by_text("Currency: It must be three capital letters, such as EUR.").wait_for()
        row = page.get_by_role("group", name="Criterion 3", exact=True)
        assert await row.get_by_label("Question").input_value() == "Why?", "what was typed is kept, and in sight"
        await look_over(page, "call-form-faults", look)
        await row.get_by_label("Question").fill(_QUESTION)
        await page.get_by_label("Currency, such as EUR").fill("EUR")
        await page.get_by_role("button", name="Create the call").click()
        await page.get_by_role("heading", name="Spring call").wait_for()
    (batch,) = await service.services.jobs.list_batches(ACME)
    terms = (await service.services.call_details.get(ACME, BatchId(batch.id))).terms
    assert [criterion.name for criterion in terms.criteria] == ["Impact", "Cost", "Team", "Risk"]
    assert [field.name for field in terms.form.fields] == ["Ethics"]


async def test_faults_of_forms_of_reviewers_are_in_plain_words(service: Service, officer: Person, ada: Person) -> None:
    _, (first, _) = await create_reviewed_call(service, officer, ada)
    review: dict[str, str] = {
        "score": "4",
        "confidence": "4",
        "to_applicant": str(ANSWERS["to_applicant"]),
        "note": "x" * 20_001,
    }
    async with open_session(service, ada.key) as browser:
        expertise = await submit_form(browser, "/console/expertise", version="0", keywords="x" * 300)
        assert "Keywords: It may have at most 200 characters." in expertise.text
        long = await submit_form(browser, f"/console/review/{first}", "/opinion", **review)
        assert "Comments to the panel: It may have at most 20,000 characters." in long.text
        high = review | {"note": "", "criterion-0": "11", "criterion-1": "4"}
        high_score = await submit_form(browser, f"/console/review/{first}", "/opinion", **high)
        assert "Impact: It must be at most 10." in high_score.text
