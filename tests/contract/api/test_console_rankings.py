"""Rankings of a call in the console: estimated, started, watched, and cut somewhere else."""

import re

import pytest

from orchestrator.jobs.requests import RankingRequest
from orchestrator.settings import QueueSettings
from orchestrator.store import PgLeases
from tests.contract.api.console_forms import open_session, submit_form
from tests.contract.api.evaluated_calls import ENTRANTS, NO_SCORE_REASON, evaluate_call_of_six
from tests.contract.api.ranking_jobs import finish_ranking
from tests.contract.api.service import Service


async def test_ranking_is_estimated_started_and_shown_with_another_cut(service: Service) -> None:
    call = await evaluate_call_of_six(service)
    here = f"/console/calls/{call}/rankings"
    async with open_session(service, await service.create_key()) as officer:
        assert "There are no rankings yet." in (await officer.get(here)).text
        estimate = await officer.get(here, params={"shortlist_size": "2", "comparisons_per_idea": "10"})
        assert f"{ENTRANTS} proposals, 30 comparisons; cost unknown" in estimate.text
        second_answer = await submit_form(
            officer, f"{here}?shortlist_size=2", here, shortlist_size="2", comparisons_per_idea="10"
        )
        assert second_answer.status_code == 303, second_answer.text
        path = second_answer.headers["location"]
        assert "The ranking is queued." in (await officer.get(path)).text
        lease = await service.lease_next()
        assert "The ranking has started." in (await officer.get(path)).text
        stages = [{"stage": "comparing", "done": 3, "total": 30}]
        await service.services.events.append(lease.job, "progress", {"stages": stages})
        assert "3 of 30 comparisons are done." in (await officer.get(f"{path}/progress")).text
        await PgLeases(service.database, QueueSettings()).give_back(
            lease, "Its worker stopped.", attempt_failed=False, after_seconds=0
        )
        work = await finish_ranking(service)
        assert (len(work.ideas), work.shortlist_size) == (ENTRANTS, 2)
        answer = await officer.get(path)
        assert "Cutoff at 2." in answer.text
        assert "are approximated" not in answer.text
        place_shown = ""
        assert "If you take the first 2 without reading any, expect to miss about" in answer.text
        # Confidence is 0.95: the rule, and figures in which it can be seen to hold.
        assert "95 % or more is “clearly in”, 5 % or less “clearly out”" in answer.text
        for band, row in re.findall(r'id="band-(\w+)"|data-label="Chance of being in">([\d.]+) %', answer.text):
            place_shown = band or place_shown
            if row:
                assert place_shown == ("in" if float(row) >= 95 else "out" if float(row) <= 5 else "human")
        rows = (await officer.get(f"/console/calls/{call}")).text
        reason = rows.partition('class="mark unscored">no score</span><span class="reason">')[2].partition("<")[0]
        if reason:
            assert answer.text.count(reason) == ENTRANTS
        else:
            assert len(re.findall(r'data-label="Report score">\d', answer.text)) == ENTRANTS
        response = await officer.get(path, params={"shortlist_size": "4"})
        assert "Cutoff at 4." in response.text
        assert "are approximated" in response.text
        assert "Cutoff at 5." in (await officer.get(path, params={"shortlist_size": "9999"})).text
        assert path in (await officer.get(here)).text


async def test_comparisons_of_an_earlier_ranking_are_reused(service: Service) -> None:
    call = await evaluate_call_of_six(service)
    start_path = f"/console/calls/{call}/rankings"
    async with open_session(service, await service.create_key()) as officer:
        assert "Earlier comparisons" not in (await officer.get(start_path)).text
        query = {"comparisons_per_idea": "2"}
        first = (await submit_form(officer, f"{start_path}?shortlist_size=2", start_path, **query)).headers["location"]
        await finish_ranking(service)
        earlier = first.rpartition("/")[2]
        await service.database.execute("DELETE FROM ranking_pairs WHERE place > 12")  # a smaller one
        more = await officer.get(start_path, params={"comparisons_per_idea": "4", "previous_ranking": earlier})
        assert f"{ENTRANTS} proposals, 24 comparisons, 12 of them already made; about $" in more.text
        assert f'<option value="{earlier}" selected>' in more.text
        same = await officer.get(start_path, params=query | {"previous_ranking": earlier})
        assert "12 comparisons, 12 of them already made; no further comparisons are needed" in same.text
        response = await submit_form(
            officer, f"{start_path}?shortlist_size=2", start_path, **query, previous_ranking=earlier
        )
        work = (await service.lease_next()).request
        unknown = await submit_form(
            officer, f"{start_path}?shortlist_size=2", start_path, **query, previous_ranking="rk_none"
        )
        bent = await officer.get(start_path, params=query | {"previous_ranking": "../../x"})
    assert response.status_code == 303
    assert isinstance(work, RankingRequest)
    assert len(work.known) == 12
    assert unknown.status_code == 404
    assert 'role="alert"' in bent.text


async def test_missing_score_or_uncovered_field_is_shown_before_and_after_ranking(service: Service) -> None:
    call = await evaluate_call_of_six(service, uncovered=2)
    start_path = f"/console/calls/{call}/rankings"
    async with open_session(service, await service.create_key()) as officer:
        estimate = await officer.get(start_path, params={"shortlist_size": "2", "comparisons_per_idea": "10"})
        assert "2 of the proposals have no score. They start in the middle of the order" in estimate.text
        path = (
            await submit_form(
                officer, f"{start_path}?shortlist_size=2", start_path, shortlist_size="2", comparisons_per_idea="10"
            )
        ).headers["location"]
        await finish_ranking(service)
        page = (await officer.get(path)).text
    assert "2 of the 6 have no score" in page
    assert "3 of the 6 lie in a field that the corpus does not cover" in page
    assert page.count('<span class="mark warn">no score</span>') == 2
    assert page.count(NO_SCORE_REASON) == 2
    assert page.count('<span class="mark warn">field not covered</span>') == 3


@pytest.mark.parametrize(
    ("query", "words"),
    [
        ({"shortlist_size": "many"}, "“Number to be chosen” must be a whole number of at least 1"),
        ({"shortlist_size": "6"}, "must be lower than the number"),
    ],
)
async def test_invalid_ranking_choice_is_explained_and_starts_nothing(
    service: Service, query: dict[str, str], words: str
) -> None:
    call = await evaluate_call_of_six(service)
    rankings_path = f"/console/calls/{call}/rankings"
    async with open_session(service, await service.create_key()) as officer:
        assert words in (await officer.get(rankings_path, params=query)).text
        answer = await submit_form(officer, f"{rankings_path}?shortlist_size=2", rankings_path, **query)
        assert answer.status_code == 422
        assert "There are no rankings yet." in (await officer.get(rankings_path)).text
