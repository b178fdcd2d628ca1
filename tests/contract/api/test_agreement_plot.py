"""Whether people agree, with each other and with the program: drawn for officers, and told to no reviewer."""

import html
import re

import pytest

from tests.contract.api.console_forms import open_session
from tests.contract.api.reviewed_calls import call_with_opinions
from tests.contract.api.service import Service


async def test_agreement_plot_shows_chance_and_constant_score_baselines(service: Service) -> None:
    batch, grace, _ = await call_with_opinions(service)
    first = (await grace.get("/v1/assignments")).json()["items"][0]["evaluation"]
    revised = await grace.patch(f"/v1/evaluations/{first}/opinions", json={"score": 5})
    assert revised.status_code == 200, revised.text
    async with open_session(service, await service.create_key()) as officer:
        page = (await officer.get(f"/console/calls/{batch}/plots")).text
    cells = [re.sub("<[^>]*>", "|", row) for row in re.findall("<tr>.*?</tr>", page)]
    rows = [[cell.strip() for cell in row.split("|") if cell.strip()] for row in cells]
    assert ["the same score", "4"] in [row[:2] for row in rows]
    assert ["1", "3"] in [row[:2] for row in rows]
    assert ["2", "1"] in [row[:2] for row in rows]
    assert next(row for row in rows if row[0] == "First reviews")[1:] == ["50 %", "88 %", "82 %"]
    assert next(row for row in rows if row[0] == "By chance")[3] == "50 %"
    (machine,) = (row for row in rows if row[0] == "The report")
    assert machine[1:] == ["97 %", "38"]
    assert ["Chance, or the same score for every proposal", "50 %", "–"] in rows
    assert "2 reviews of proposals without a report score are not shown" in page
    assert ["90 to 100", "0", "0", "0", "0", "2"] in rows
    link = html.unescape(re.findall('<a href="([^"]*score_from=90[^"]*)"', page)[-1])
    async with open_session(service, await service.create_key()) as officer:
        assert "1 proposal<" in (await officer.get(link)).text


@pytest.mark.parametrize(
    ("opinion_count", "words"),
    [(0, "There are no first reviews yet."), (4, "Not enough reviews. Only 4 proposals have")],
)
async def test_agreement_plot_is_replaced_by_a_note_without_enough_opinions(
    service: Service, opinion_count: int, words: str
) -> None:
    batch, *_ = await call_with_opinions(service, opinion_count)
    async with open_session(service, await service.create_key()) as officer:
        page = (await officer.get(f"/console/calls/{batch}/plots")).text
    assert words in page
    assert "Agreement between reviewers" not in page
