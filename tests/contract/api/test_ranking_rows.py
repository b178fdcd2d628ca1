"""A ranking is stored in rows, written with its verdict: no page reads all of it, and nothing outlives its job."""

from assayer_client import AsyncClient
from assayer_client.comparisons import NamedComparison
from assayer_client.rankings import Ranking
from orchestrator.jobs.models import BatchId, JobId
from orchestrator.store import Database
from orchestrator.store.call_tables import TableView
from orchestrator.store.pair_verdicts import PgPairVerdicts
from tests.contract.api.console_forms import open_session
from tests.contract.api.evaluated_calls import ENTRANTS, evaluate_call_of_six
from tests.contract.api.problems import check_problem
from tests.contract.api.ranking_jobs import list_proposal_ids, rank_call
from tests.contract.api.service import OTHER, Service, serve
from tests.contract.store_jobs import ACME
from tests.unit.batch_bodies import WORDS

TABLES = ("rankings", "ranking_ideas", "ranking_pairs", "ranking_calls")


async def count_rows_by_table(database: Database) -> dict[str, int]:
    return {
        table: (await database.fetch(f"SELECT count(*) AS n FROM {table}"))[0]["n"]  # noqa: S608 - of constants
        for table in TABLES
    }


async def test_reports_and_pages_of_a_ranking_are_assembled_from_its_rows(service: Service) -> None:
    call = await evaluate_call_of_six(service)
    ranking = await rank_call(service, call)
    pages = [await service.machine.get(f"/v1/rankings/{ranking}/report", headers={"Accept": "text/html"})]
    after = [
        (await service.machine.get(f"/v1/rankings/{ranking}/{part}", headers={"Accept": accept})).text
        for part, accept in (("report", "application/json"), ("report", "text/csv"), ("comparisons", "*/*"))
    ]
    ids = await list_proposal_ids(service.machine, call)
    assert Ranking.model_validate_json(after[0]).shortlist_size == 2
    assert [NamedComparison.model_validate_json(line) for line in after[2].splitlines()]
    assert "worth" in pages[0].text  # the judge's reasons, of a small group
    path = f"/console/calls/{call}"
    async with open_session(service, await service.create_key()) as officer:
        table = (await officer.get(path, params={"ranking": ranking, "sort": "rank"})).text
        assert [table.index(f"Idea of worth {n}") for n in (5, 4, 3)] == sorted(
            table.index(f"Idea of worth {n}") for n in (5, 4, 3)
        )
        assert f"Rank 1 of {ENTRANTS}" in (await officer.get(f"/console/proposals/{ids[-1]}")).text
        assert "The best 6" in (await officer.get(f"{path}/plots", params={"ranking": ranking})).text
        assert "Cutoff at 2." in (await officer.get(f"{path}/rankings/{ranking}")).text
        assert "Cutoff at 4." in (await officer.get(f"{path}/rankings/{ranking}", params={"shortlist_size": "4"})).text
        compared = (await officer.get("/console/compare", params={"id": ids[-2:]})).text
        assert ranking in compared


async def test_table_filters_by_ranking_band_or_unranked(service: Service) -> None:
    call = await evaluate_call_of_six(service)
    ids = await list_proposal_ids(service.machine, call)
    texts = [{"text": f"Idea of worth {n}. {WORDS}"} for n in range(ENTRANTS - 1)]
    ranking = await rank_call(service, call, batch=None, ideas=texts)
    tables = service.services.tables
    ids_by_filter: dict[str, list[str]] = {}
    for band in ("in", "human", "out", "unranked"):
        view = TableView.model_validate({"ranking": ranking, "sort": "rank", "band": [band]})
        page = await tables.get_page(ACME, BatchId(call), view)
        assert page.matching == len(page.rows)
        assert {row.rank.band if row.rank else "unranked" for row in page.rows} <= {band}
        ids_by_filter[band] = [row.id for row in page.rows]
    assert ids_by_filter["unranked"] == [ids[-1]]
    assert sorted(item for shown_ids in ids_by_filter.values() for item in shown_ids) == sorted(ids)
    unknown = TableView.model_validate({"band": ["in"]})
    assert (await tables.get_page(ACME, BatchId(call), unknown)).matching == ENTRANTS  # no ranking is chosen
    rank_of = TableView.model_validate({"ranking": ranking, "sort": "rank"})
    assert all(row.rank is None for row in (await tables.get_page(OTHER, BatchId(call), rank_of)).rows)


async def test_call_lists_rankings_with_at_least_two_of_its_proposals(service: Service) -> None:
    call = await evaluate_call_of_six(service)
    texts = [{"text": f"Idea of worth {n}. {WORDS}"} for n in range(ENTRANTS)]
    strangers = [{"text": f"Idea of worth {n + 50}. {WORDS}"} for n in range(3)]
    by_batch = await rank_call(service, call)
    by_texts = await rank_call(service, call, batch=None, ideas=[*texts[:3], *strangers])
    async with service.open_caller() as owner:
        waiting = (await owner.post("/v1/rankings", json={"batch": call})).json()["id"]
        of_others = (await owner.post("/v1/rankings", json={"ideas": [texts[0], *strangers]})).json()["id"]
        rankings = (await owner.get("/v1/rankings", params={"batch": call})).json()["items"]
        first = (await owner.get("/v1/rankings", params={"batch": call, "limit": 2})).json()
        next_page = (await owner.get("/v1/rankings", params={"batch": call, "limit": 2, "after": first["next"]})).json()
        check_problem(await owner.get("/v1/rankings", params={"batch": "bt_none"}), 404, "not-found")
    assert [item["id"] for item in rankings] == [waiting, by_texts, by_batch]
    assert [item["id"] for item in (*first["items"], *next_page["items"])] == [waiting, by_texts, by_batch]
    async with serve(service.app) as url, AsyncClient(url, await service.create_key()) as client:
        ranking_page = await client.rankings.list(batch=call)
        assert [item.id for item in ranking_page.items] == [waiting, by_texts, by_batch]
    async with open_session(service, await service.create_key()) as officer:
        page = (await officer.get(f"/console/calls/{call}/rankings")).text
        assert all(item in page for item in (waiting, by_texts, by_batch))
        assert of_others not in page
        table = (await officer.get(f"/console/calls/{call}")).text
        assert by_texts in table
        assert waiting not in table  # nothing to sort by yet
    async with service.open_caller(tenant=OTHER) as other_tenant:
        check_problem(await other_tenant.get("/v1/rankings", params={"batch": call}), 404, "not-found")


async def test_ranking_rows_are_deleted_with_the_ranking(service: Service) -> None:
    call = await evaluate_call_of_six(service)
    ranking = await rank_call(service, call)
    row_counts = await count_rows_by_table(service.database)
    assert row_counts["ranking_ideas"] == ENTRANTS
    assert min(row_counts.values()) > 0
    ids = await list_proposal_ids(service.machine, call)
    answer = await service.machine.delete(f"/v1/evaluations/{ids[0]}", params={"erase": True})
    assert answer.status_code == 204, answer.text
    assert (
        await count_rows_by_table(service.database) == row_counts
    )  # of the ranking; that of one applicant erases it as a whole
    assert (await service.machine.delete(f"/v1/rankings/{ranking}", params={"erase": True})).status_code == 204
    assert await count_rows_by_table(service.database) == dict.fromkeys(TABLES, 0)


async def test_pair_verdicts_use_the_latest_rankings_of_the_pair(service: Service) -> None:
    call = await evaluate_call_of_six(service)
    rankings = [await rank_call(service, call) for _ in range(4)]
    strangers = [{"text": f"Idea of worth {n + 50}. {WORDS}"} for n in range(3)]
    await rank_call(service, call, batch=None, ideas=strangers)
    ranking = await service.services.rankings.get_ranking(ACME, JobId(rankings[0]))
    assert ranking is not None
    pair = [idea.id for idea in ranking.ideas[:2]]
    comparisons = await PgPairVerdicts(service.database).list_comparisons(ACME, pair)
    assert {item.job for item in comparisons} == set(rankings[1:])
    assert all({item.answer.first, item.answer.second} == set(pair) for item in comparisons)
    assert await PgPairVerdicts(service.database).list_comparisons(OTHER, pair) == []
