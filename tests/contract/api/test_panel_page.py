"""The panel of a call in the console: the program's results beside the reviews, and the way from proposal to
proposal."""

import csv
import io
import json
import re

from openpyxl import load_workbook

from tests.contract.api.browsing import PHONE_AND_DESK, look_over, open_console
from tests.contract.api.console_forms import open_session
from tests.contract.api.people import Person
from tests.contract.api.ranking_jobs import create_ranked_call, list_proposal_ids
from tests.contract.api.reviewed_calls import assign_reviewers, call_with_opinions, invite_reviewers
from tests.contract.api.service import Service


async def test_panel_shows_ranks_and_leads_from_proposal_to_proposal(service: Service, owner: Person) -> None:
    batch, _ = await create_ranked_call(service)
    (grace,) = await invite_reviewers(service, "Grace Hopper")
    await assign_reviewers(owner, batch, per_proposal=1)
    evaluations = await list_proposal_ids(owner, batch)
    for place, evaluation in enumerate(evaluations[:4]):
        answer = await grace.post(f"/v1/evaluations/{evaluation}/opinions", json={"score": 5 - place})
        assert answer.status_code == 200, answer.text
    lines = (await owner.get(f"/v1/batches/{batch}/results?format=jsonl")).text.splitlines()
    rank = next(line["rank"] for line in map(json.loads, lines) if line["id"] == evaluations[0])
    look = PHONE_AND_DESK[1]
    async with open_console(service, owner.key, look) as (page, url):
        await page.goto(f"{url}/console/calls/{batch}/panel?sort=mean")
        best = page.locator("tbody tr").first
        assert await best.locator("[data-label='Report score']").inner_text() == "–", "no score"
        assert (await best.locator("[data-label='Rank']").inner_text()).split()[0] == str(rank)
        headings = await page.locator("thead th").all_inner_texts()
        assert headings[-2:] == ["Report score, 0 to 100", "Rank"], "people lead"
        await look_over(page, "panel-ranked", look)
        titles = await page.locator("tbody th").all_inner_texts()
        await best.get_by_role("link").first.press("Enter")
        await page.get_by_role("heading", name=titles[0], exact=True).wait_for()
        assert await page.get_by_role("link", name="Previous proposal").count() == 0
        await page.get_by_role("link", name="Next proposal").press("Enter")
        await page.get_by_role("heading", name=titles[1], exact=True).wait_for()
        await look_over(page, "proposal-in-panel", look)
        await page.get_by_role("link", name="Previous proposal").press("Enter")
        await page.get_by_role("heading", name=titles[0], exact=True).wait_for()
        await page.get_by_role("link", name="Back to the reviews").press("Enter")
        await page.get_by_role("heading", name=f"{len(titles)} proposals").wait_for()
        assert "sort=mean" in page.url
    async with open_session(service, grace.key) as reviewer:
        assert (await reviewer.get(f"/console/calls/{batch}/panel")).status_code == 403


async def test_panel_shows_the_programs_scores_after_the_reviews(service: Service, owner: Person) -> None:
    batch, *_ = await call_with_opinions(service)
    async with open_session(service, owner.key) as browser:
        page = (await browser.get(f"/console/calls/{batch}/panel")).text
    cells = re.findall(r'data-label="Mean">([\d.]+)<|data-label="Report score">(\d+|–)<', page)
    assert [mean for mean, _ in cells[::2]] == ["1.0", "1.5", "2.0", "3.5", "3.5", "4.0", "5.0", "2.0"]
    assert [score for _, score in cells[1::2]] == ["5", "15", "35", "45", "65", "75", "95", "–"]
    assert "Rank</a></th>" not in page


async def test_anonymous_reviews_show_the_text_but_not_the_author(service: Service, owner: Person) -> None:
    batch, grace, ben = await call_with_opinions(service, opinions=7)
    last = (await owner.get(f"/v1/batches/{batch}/evaluations")).json()["items"]
    last_id = next(item["id"] for item in last if item["row"] == 8)
    for person, score in ((grace, 2), (ben, 4)):
        note = f"=Weak, says Grace HOPPER; Dr Blum agrees. Write to {person.member.email}. Grace is no blumen."
        answer = await person.post(f"/v1/evaluations/{last_id}/opinions", json={"score": score, "note": note})
        assert answer.status_code == 200, answer.text
    path = f"/console/calls/{batch}/panel/anonymous-reviews"
    async with open_console(service, owner.key, PHONE_AND_DESK[1]) as (page, url):
        await page.goto(f"{url}/console/calls/{batch}")
        await page.get_by_text("Export …").press("Enter")
        async with page.expect_download() as loading:
            await page.get_by_role("link", name="Anonymous reviews as CSV").press("Enter")
        text = (await (await loading.value).path()).read_text("utf-8-sig")
    rows = list(csv.DictReader(io.StringIO(text)))
    assert len(rows) == 16
    assert {row["Reviewer"] for row in rows} == {"Reviewer 1", "Reviewer 2"}
    (first, second) = rows[-2:]
    assert (first["Row"], first["Score (1 to 5)"], second["Score (1 to 5)"]) == ("8", "4", "2")
    assert first["Comments"] == (
        "'=Weak, says [reviewer]; Dr [reviewer] agrees. Write to [reviewer]. [reviewer] is no blumen."
    )
    for known in (
        *(str(text) for person in (grace, ben) for text in (person.member.id, person.member.email)),
        "Grace",
        "Blum",
    ):
        assert known not in text
    async with open_session(service, owner.key) as browser:
        sheet = await browser.get(path, params={"format": "xlsx"})
    names, *cells = load_workbook(io.BytesIO(sheet.content))["Reviews"].iter_rows(values_only=True)
    assert list(names) == list(rows[0])
    assert cells[-2][list(names).index("Comments")] == first["Comments"].removeprefix("'")
    async with open_session(service, grace.key) as reviewer:
        assert (await reviewer.get(path)).status_code == 403
    entries = (await owner.get("/v1/audit-log")).json()["items"]
    assert [entry["content"]["what"] for entry in entries if entry["action"] == "exported"] == ["anonymous reviews"] * 2
