"""A ranking stands beside its comparisons, in rows that the database writes with the verdict: no page reads all of it,
whoever wrote it, and nothing of it outlives its job."""

import json
from typing import Any

import httpx2
import pytest
from pydantic import SecretStr

from assayer.models.ranking import NamedComparison, Ranking
from assayer_client import AsyncClient
from orchestrator.jobs.models import BatchId, JobId
from orchestrator.store import Database, DatabaseSettings
from orchestrator.store.call_tables import TableView
from orchestrator.store.pair_verdicts import PgPairVerdicts
from orchestrator.store.rankings import PgRankings
from tests.contract.api.service import OTHER, Service, served
from tests.contract.api.test_console_rankings import ENTRANTS, ended_call
from tests.contract.api.test_console_tables import signed_in
from tests.contract.api.test_problems import problem
from tests.contract.api.test_rankings import finish
from tests.contract.store_jobs import ACME
from tests.contract.tables_of import tables_of
from tests.unit.batch_bodies import WORDS

TABLES = ("rankings", "ranked_ideas", "pair_verdicts", "ranking_calls")


async def rows(database: Database) -> dict[str, int]:
    return {
        table: (await database.fetch(f"SELECT count(*) AS n FROM {table}"))[0]["n"]  # noqa: S608 - of constants
        for table in TABLES
    }


async def ranked(service: Service, call: str, **body: Any) -> str:
    """Of a call, through the API; finished."""
    async with service.caller() as owner:
        made = await owner.post("/v1/rankings", json={"batch": call, "cut": 2} | body)
    assert made.status_code == 202, made.text
    await finish(service)
    return str(made.json()["id"])


async def proposals(client: httpx2.AsyncClient, call: str) -> list[str]:
    """By their rows."""
    listed = (await client.get(f"/v1/batches/{call}/evaluations")).json()["items"]
    return [one["id"] for one in sorted(listed, key=lambda one: one["row"])]


async def test_no_page_reads_the_whole_ranking(service: Service) -> None:
    call = await ended_call(service)
    ranking = await ranked(service, call)
    async with service.caller() as owner:
        before = [
            (await owner.get(f"/v1/rankings/{ranking}/{part}", headers={"Accept": accept})).text
            for part, accept in (("report", "application/json"), ("report", "text/csv"), ("comparisons", "*/*"))
        ]
        await service.database.execute("UPDATE jobs SET result = NULL WHERE id = $1", ranking)
        pages = [await owner.get(f"/v1/rankings/{ranking}/report", headers={"Accept": "text/html"})]
        after = [
            (await owner.get(f"/v1/rankings/{ranking}/{part}", headers={"Accept": accept})).text
            for part, accept in (("report", "application/json"), ("report", "text/csv"), ("comparisons", "*/*"))
        ]
        ids = await proposals(owner, call)
    assert after == before
    assert Ranking.model_validate_json(after[0]).cut == 2
    assert [NamedComparison.model_validate_json(line) for line in after[2].splitlines()]
    assert "worth" in pages[0].text  # the judge's reasons, of a small group
    here = f"/console/calls/{call}"
    async with signed_in(service, await service.key()) as officer:
        table = (await officer.get(here, params={"ranking": ranking, "sort": "rank"})).text
        assert [table.index(f"Idea of worth {n}") for n in (5, 4, 3)] == sorted(
            table.index(f"Idea of worth {n}") for n in (5, 4, 3)
        )
        assert f"Rank 1 of {ENTRANTS}" in (await officer.get(f"/console/proposals/{ids[-1]}")).text
        assert "The best 6" in (await officer.get(f"{here}/plots", params={"ranking": ranking})).text
        assert "Cut at 2." in (await officer.get(f"{here}/rankings/{ranking}")).text
        assert "Cut at 4." in (await officer.get(f"{here}/rankings/{ranking}", params={"cut": "4"})).text
        compared = (await officer.get("/console/compare", params={"id": ids[-2:]})).text
        assert ranking in compared


async def test_a_table_shows_one_band_of_a_ranking_or_what_it_does_not_hold(service: Service) -> None:
    call = await ended_call(service)
    async with service.caller() as owner:
        ids = await proposals(owner, call)
    texts = [{"text": f"Idea of worth {n}. {WORDS}"} for n in range(ENTRANTS - 1)]
    ranking = await ranked(service, call, batch=None, ideas=texts)
    tables = service.services.tables
    found: dict[str, list[str]] = {}
    for band in ("in", "human", "out", "unranked"):
        view = TableView.model_validate({"ranking": ranking, "sort": "rank", "band": [band]})
        page = await tables.page(ACME, BatchId(call), view)
        assert page.matching == len(page.rows)
        assert {row.rank.band if row.rank else "unranked" for row in page.rows} <= {band}
        found[band] = [row.id for row in page.rows]
    assert found["unranked"] == [ids[-1]]
    assert sorted(one for shown in found.values() for one in shown) == sorted(ids)
    unknown = TableView.model_validate({"band": ["in"]})
    assert (await tables.page(ACME, BatchId(call), unknown)).matching == ENTRANTS  # no ranking is chosen
    rank_of = TableView.model_validate({"ranking": ranking, "sort": "rank"})
    assert all(row.rank is None for row in (await tables.page(OTHER, BatchId(call), rank_of)).rows)


async def test_rankings_of_a_call_are_all_of_its_proposals_whoever_started_them(service: Service) -> None:
    call = await ended_call(service)
    texts = [{"text": f"Idea of worth {n}. {WORDS}"} for n in range(ENTRANTS)]
    strangers = [{"text": f"Idea of worth {n + 50}. {WORDS}"} for n in range(3)]
    by_batch = await ranked(service, call)
    by_texts = await ranked(service, call, batch=None, ideas=[*texts[:3], *strangers])
    async with service.caller() as owner:
        waiting = (await owner.post("/v1/rankings", json={"batch": call})).json()["id"]
        of_others = (await owner.post("/v1/rankings", json={"ideas": [texts[0], *strangers]})).json()["id"]
        listed = (await owner.get("/v1/rankings", params={"batch": call})).json()["items"]
        first = (await owner.get("/v1/rankings", params={"batch": call, "limit": 2})).json()
        rest = (await owner.get("/v1/rankings", params={"batch": call, "limit": 2, "after": first["next"]})).json()
        problem(await owner.get("/v1/rankings", params={"batch": "bt_none"}), 404, "not-found")
    assert [one["id"] for one in listed] == [waiting, by_texts, by_batch]
    assert [one["id"] for one in (*first["items"], *rest["items"])] == [waiting, by_texts, by_batch]
    async with served(service.app) as url, AsyncClient(url, await service.key()) as client:
        found = await client.rankings(batch=call)
        assert [one.id for one in found.items] == [waiting, by_texts, by_batch]
    async with signed_in(service, await service.key()) as officer:
        page = (await officer.get(f"/console/calls/{call}/rankings")).text
        assert all(one in page for one in (waiting, by_texts, by_batch))
        assert of_others not in page
        table = (await officer.get(f"/console/calls/{call}")).text
        assert by_texts in table
        assert waiting not in table  # nothing to sort by yet
    async with service.caller(tenant=OTHER) as stranger:
        problem(await stranger.get("/v1/rankings", params={"batch": call}), 404, "not-found")


async def test_rows_of_a_ranking_go_with_it(service: Service) -> None:
    call = await ended_call(service)
    ranking = await ranked(service, call)
    kept = await rows(service.database)
    assert kept["ranked_ideas"] == ENTRANTS
    assert min(kept.values()) > 0
    async with service.caller() as owner:
        ids = await proposals(owner, call)
        gone = await owner.delete(f"/v1/evaluations/{ids[0]}", params={"erase": True})
        assert gone.status_code == 204, gone.text
        assert await rows(service.database) == kept  # of the ranking; that of one applicant erases it as a whole
        assert (await owner.delete(f"/v1/rankings/{ranking}", params={"erase": True})).status_code == 204
    assert await rows(service.database) == dict.fromkeys(TABLES, 0)


async def test_verdicts_on_a_pair_are_those_of_the_latest_rankings_that_compared_it(service: Service) -> None:
    call = await ended_call(service)
    made = [await ranked(service, call) for _ in range(4)]
    strangers = [{"text": f"Idea of worth {n + 50}. {WORDS}"} for n in range(3)]
    for _ in range(3):
        await ranked(service, call, batch=None, ideas=strangers)
    ranking = await service.services.rankings.whole(ACME, JobId(made[0]))
    assert ranking is not None
    pair = [one.id for one in ranking.ideas[:2]]
    found = await PgPairVerdicts(service.database).between(ACME, pair)
    assert {one.job for one in found} == set(made[1:])
    assert all({one.answer.first, one.answer.second} == set(pair) for one in found)
    assert await PgPairVerdicts(service.database).between(OTHER, pair) == []


BEFORE = """
    INSERT INTO tenants (id, name) VALUES ('acme', 'acme');
    INSERT INTO batches (id, tenant, name, rows) VALUES ('bt_1', 'acme', 'Spring', 2);
    INSERT INTO evaluations (id, idea_id, method, request, report, cited)
    SELECT 'run_' || n, 'idea_' || n, 'scholareval', '{}', '{}', '{}' FROM generate_series(1, 2) AS n;
    INSERT INTO jobs (id, tenant, batch, "row", kind, priority, state, subject, request, run_id, finished_at)
    SELECT 'ev_' || n, 'acme', 'bt_1', n, 'evaluation', 1, 'done', '', '{}', 'run_' || n, now()
    FROM generate_series(1, 2) AS n
"""
RANKING = """
    INSERT INTO jobs (id, tenant, kind, priority, state, subject, request)
    VALUES ($1, 'acme', 'ranking', 1, 'queued', '2 ideas', '{"ideas": [{"id": "idea_1"}, {"id": "idea_2"}]}')
"""
VERDICT = "UPDATE jobs SET state = 'done', result = $2, finished_at = now() WHERE id = $1"
"""As a process of the version before writes it."""


def result() -> str:
    judge = dict.fromkeys(
        ("comparisons", "handed_in", "failed", "ties", "asked_both_ways", "contradictions", "triangles", "cycles"), 1
    )
    answer = {"first": "idea_2", "second": "idea_1", "verdicts": []}
    ideas = [
        {
            "id": f"idea_{2 - place}",
            "title": f"Idea {2 - place}",
            "rank": place + 1,
            "ranks": {"low": 1, "high": 2},
            "strength": 0.5 - place,
            "strengths": {"low": -1, "high": 1},
            "comparisons": 1,
            "chance_in": None,
            "band": None,
        }
        for place in range(2)
    ]
    head = {
        "dimension": "overall",
        "cut": None,
        "confidence": 0.95,
        "seeded": False,
        "stopped": None,
        "cost_usd": 1.5,
        "judge": judge | {"bias": 0.0, "bias_interval": {"low": 0, "high": 0}},
    }
    return json.dumps({"kind": "ranking", "ranking": head | {"ideas": ideas}, "comparisons": [answer]})


async def test_rankings_of_a_version_before_are_read_also_while_its_processes_still_write(
    empty_database_url: str,
) -> None:
    await tables_of("0032", empty_database_url)
    async with Database(DatabaseSettings(url=SecretStr(empty_database_url))) as database:
        for statement in BEFORE.split(";"):
            await database.execute(statement)
        for one in ("rk_before", "rk_meanwhile"):
            await database.execute(RANKING, one)
        await database.execute(VERDICT, "rk_before", result())
        await database.migrate()
        await database.execute(VERDICT, "rk_meanwhile", result())
        await database.execute(RANKING, "rk_after")
        await database.execute(VERDICT, "rk_after", result())
        everything = {"rk_before", "rk_meanwhile", "rk_after"}
        rankings = PgRankings(database)
        assert {one.id for one in await rankings.listed(ACME, batch=BatchId("bt_1"))} == everything
        for one in everything:
            summary = await rankings.summary(ACME, JobId(one))
            assert summary is not None
            assert summary.cost_usd == 1.5
            standings = await rankings.standings(ACME, BatchId("bt_1"), JobId(one))
            assert standings is not None
            assert standings.proposals == ["ev_2", "ev_1"]
            assert standings.ranks == [1, 2]
        verdicts = await PgPairVerdicts(database).between(ACME, ["idea_1", "idea_2"])
        assert {one.job for one in verdicts} == everything
    await tables_of("0032", empty_database_url, back=True)
    async with Database(DatabaseSettings(url=SecretStr(empty_database_url))) as database:
        await database.execute(VERDICT, "rk_before", result())
        await database.migrate()
        assert {one.id for one in await PgRankings(database).listed(ACME, batch=BatchId("bt_1"))} == everything


@pytest.mark.parametrize("broken", ["{}", '{"ranking": null}', '{"ranking": {"ideas": 3}, "comparisons": "none"}'])
async def test_a_result_without_a_ranking_ends_its_job_all_the_same(service: Service, broken: str) -> None:
    async with service.caller() as owner:
        ideas = [{"text": f"Idea of worth {n}. {WORDS}"} for n in range(2)]
        made = (await owner.post("/v1/rankings", json={"ideas": ideas})).json()["id"]
        await service.database.execute(VERDICT, made, broken)
        assert (await owner.get(f"/v1/rankings/{made}")).json()["state"] == "done"
    assert (await rows(service.database))["rankings"] == 0
