"""Results of a call as files: with all that the table of the call shows, in words where people read them."""

import csv
import io
import json
from urllib.parse import quote

import httpx2
import pyarrow.parquet as pq
import pytest
from openpyxl import load_workbook

from tests.contract.api.evaluated_calls import ENTRANTS, call_with_reports, evaluate_call_of_six
from tests.contract.api.people import add_person
from tests.contract.api.ranking_jobs import create_ranked_call
from tests.contract.api.service import OTHER, Service


async def give_opinion(service: Service, call: str, row: int, score: int) -> None:
    reviewer = await add_person(service, "reviewer", f"Rita {score}")
    items = (await service.machine.get(f"/v1/batches/{call}/evaluations")).json()["items"]
    proposal = next(item["id"] for item in items if item["row"] == row)
    body = {"reviewers": [reviewer.member.id], "per_proposal": 1}
    answer = await service.machine.post(f"/v1/batches/{call}/assignments", json=body)
    assert answer.status_code in (200, 201), answer.text
    response = await reviewer.post(f"/v1/evaluations/{proposal}/opinions", json={"score": score, "note": "Well."})
    assert response.status_code in (200, 201), response.text


def parse_csv(answer: httpx2.Response) -> list[dict[str, str]]:
    return list(csv.DictReader(io.StringIO(answer.text.removeprefix("\ufeff"))))


async def test_results_export_has_score_certainty_and_outcome(service: Service) -> None:
    call = await call_with_reports(service)
    rows = parse_csv(await service.machine.get(f"/v1/batches/{call}/results?format=csv"))
    results = [
        json.loads(line) for line in (await service.machine.get(f"/v1/batches/{call}/results")).text.splitlines()
    ]
    assert [row["score"] for row in rows] == ["70.0", "25.0", "", "", ""]
    assert [row["certainty"] for row in rows] == ["low", "low", "", "", ""]
    assert [row["outcome"] for row in rows] == ["full", "full", "unscored", "failed", "refused"]
    assert rows[2]["score_absent"].startswith("The corpus does not cover its field.")
    assert [item["score"] for item in results] == [70.0, 25.0, None, None, None]
    assert [item["outcome"] for item in results] == [row["outcome"] for row in rows]


async def test_results_export_includes_the_newest_or_requested_ranking(service: Service) -> None:
    call, ranking = await create_ranked_call(service)
    rows = parse_csv(await service.machine.get(f"/v1/batches/{call}/results?format=csv"))
    same = parse_csv(await service.machine.get(f"/v1/batches/{call}/results?format=csv&ranking={ranking}"))
    none = await service.machine.get(f"/v1/batches/{call}/results?format=csv&ranking=rk_none")
    columns = await service.machine.get(f"/v1/batches/{call}/results?format=parquet")
    standings = (await service.machine.get(f"/v1/rankings/{ranking}/report")).json()["ideas"]
    assert rows == same
    assert none.status_code == 404
    assert sorted(int(row["rank"]) for row in rows) == list(range(1, ENTRANTS + 1))
    best = next(row for row in rows if row["rank"] == "1")
    assert best["ranking"] == ranking
    assert float(best["rank_low"]) == standings[0]["ranks"]["low"]
    assert float(best["rank_high"]) == standings[0]["ranks"]["high"]
    assert (best["band"], float(best["shortlist_probability"])) == (
        standings[0]["band"],
        standings[0]["shortlist_probability"],
    )
    table = pq.read_table(io.BytesIO(columns.content))
    assert str(table.schema.field("rank").type) == "int32"
    assert str(table.schema.field("shortlist_probability").type) == "double"


async def test_reviewer_scores_are_exported_to_officers_but_not_machines(service: Service) -> None:
    call = await evaluate_call_of_six(service)
    await give_opinion(service, call, 2, 4)
    officer = await add_person(service, "officer")
    rows = parse_csv(await officer.get(f"/v1/batches/{call}/results?format=csv"))
    results = [json.loads(line) for line in (await officer.get(f"/v1/batches/{call}/results")).text.splitlines()]
    assert [row["opinions"] for row in rows] == ["0", "1", "0", "0", "0", "0"]
    assert [row["reviewers_score"] for row in rows] == ["", "4.0", "", "", "", ""]
    assert results[1]["reviewers_score"] == 4.0
    for format in ("csv", "jsonl"):
        answer = await service.machine.get(f"/v1/batches/{call}/results?format={format}")
        export_rows = parse_csv(answer) if format == "csv" else [json.loads(line) for line in answer.text.splitlines()]
        assert {item["reviewers_score"] for item in export_rows} <= {"", None}
        assert {item["opinions"] for item in export_rows} <= {"", None}


async def test_workbook_uses_readable_column_names_and_states(service: Service, client: httpx2.AsyncClient) -> None:
    call = await call_with_reports(service)
    answer = await client.get(f"/v1/batches/{call}/results?format=xlsx")
    names, *rows = load_workbook(io.BytesIO(answer.content))["Results"].iter_rows(values_only=True)
    table = [dict(zip(names, row, strict=True)) for row in rows]
    assert {"Proposal", "Score (0 to 100)", "Certainty", "State", "Corpus fit", "Cost ($)"} <= set(names)
    assert not [name for name in names if "_" in str(name)]
    states = [row["State"] for row in table]
    assert states == ["scored in full", "scored in full", "no score", "failed", "refused"]
    assert table[0]["Soundness"] == 7.0
    assert str(table[2]["Why there is no score"]).startswith("The corpus does not cover its field.")


@pytest.mark.parametrize(
    ("name", "plain"),
    [
        ("Spring call 2026", "Spring call 2026.csv"),
        ('a/b\\c"; filename="evil.exe', "a b c filename= evil.exe.csv"),
        ("..", "{id}.csv"),
        ("Föhn 🚀", "Fohn.csv"),
        ("春の公募", "{id}.csv"),
    ],
)
async def test_export_file_name_is_a_safe_form_of_the_call_name(
    client: httpx2.AsyncClient, name: str, plain: str
) -> None:
    answer = await client.post(
        "/v1/batches", params={"name": name}, files=[("file", ("a.txt", b"An idea of corals. " * 30))]
    )
    call = answer.json()["id"]
    disposition = (await client.get(f"/v1/batches/{call}/results?format=csv")).headers["content-disposition"]
    assert f'filename="{plain.format(id=call)}"' in disposition
    if not name.isascii():
        assert f"filename*=UTF-8''{quote(name + '.csv', safe='')}" in disposition


async def test_rankings_and_results_of_another_tenant_are_not_exported(service: Service) -> None:
    call, ranking = await create_ranked_call(service)
    async with service.open_caller(tenant=OTHER) as other_tenant:
        answer = await other_tenant.post("/v1/batches", files=[("file", ("a.txt", b"An idea of corals. " * 30))])
        foreign_job = answer.json()["id"]
        assert (await other_tenant.get(f"/v1/batches/{foreign_job}/results?ranking={ranking}")).status_code == 404
        assert (await other_tenant.get(f"/v1/batches/{call}/results")).status_code == 404
