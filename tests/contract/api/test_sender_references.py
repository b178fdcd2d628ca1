"""Sender references of proposals: lists, results and rankings filter by them and return them."""

import csv
import io
import json
from typing import Any

import httpx2
import pytest

from tests.contract.api.people import add_person
from tests.contract.api.problems import check_problem
from tests.contract.api.ranking_jobs import finish_ranking, submit_ranking
from tests.contract.api.service import OTHER, Service
from tests.unit.batch_bodies import WORDS, render_jsonl

ROWS = [
    {"id": "A-1", "title": "Bees read", "text": f"{WORDS} one"},
    {"id": "A-11", "title": "Bees write", "text": f"{WORDS} two"},
    {"title": "Bees count", "text": f"{WORDS} three"},
    {"id": "A-3", "title": "", "text": "too short"},
]


async def send_rows(client: httpx2.AsyncClient, rows: list[dict[str, Any]]) -> str:
    answer = await client.post("/v1/batches", content=render_jsonl(rows), headers={"Content-Type": "application/jsonl"})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def send_one(client: httpx2.AsyncClient, source: str, text: str) -> str:
    answer = await client.post("/v1/evaluations", json={"idea": {"text": f"{WORDS} {text}"}, "source": source})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def list_references(client: httpx2.AsyncClient, path: str) -> list[tuple[str, str]]:
    answer = await client.get(path)
    assert answer.status_code == 200, answer.text
    return [(item["title"], item["reference"]) for item in answer.json()["items"]]


async def test_evaluations_are_filtered_by_sender_reference(service: Service, client: httpx2.AsyncClient) -> None:
    batch = await send_rows(client, ROWS)
    await send_one(client, "A-1", "alone")
    await send_one(client, "folder/A-1", "another name")
    await send_one(client, "call (A-1)", "a third name")
    references = await list_references(client, "/v1/evaluations?reference=A-1")
    assert sorted(reference for _, reference in references) == ["A-1", "A-1"]
    assert await list_references(client, f"/v1/batches/{batch}/evaluations?reference=A-11") == [("Bees write", "A-11")]
    # A row number is not a reference, and `%` is not a wildcard.
    for other_reference in ("row 3", "A-%", "a-1", "A-"):
        assert await list_references(client, f"/v1/evaluations?reference={other_reference.replace('%', '%25')}") == []
    async with service.open_caller(tenant=OTHER) as other_tenant:
        assert await list_references(other_tenant, "/v1/evaluations?reference=A-1") == []
    check_problem(await client.get("/v1/evaluations?reference="), 422, "invalid-request")


@pytest.mark.parametrize(("reference", "rows"), [("A-11", [2]), ("A-3", [4]), ("B-1", [])])
async def test_batch_results_are_filtered_by_sender_reference(
    client: httpx2.AsyncClient, reference: str, rows: list[int]
) -> None:
    results = f"/v1/batches/{await send_rows(client, ROWS)}/results?reference={reference}"
    lines = [json.loads(line) for line in (await client.get(f"{results}&format=jsonl")).text.splitlines()]
    assert [item["row"] for item in lines] == rows
    table = (await client.get(f"{results}&format=csv")).text.removeprefix("\ufeff")
    assert [int(item["row"]) for item in csv.DictReader(io.StringIO(table))] == rows


async def test_rankings_are_filtered_by_idea_reference(service: Service, client: httpx2.AsyncClient) -> None:
    ranking = await submit_ranking(client)
    await finish_ranking(service)
    waiting = await submit_ranking(client, ideas=[{"id": f"Q-{n}", "text": f"{WORDS} {n}"} for n in range(2)])
    both = await submit_ranking(client, ideas=[{"id": name, "text": f"{WORDS} {name}"} for name in ("Q-1", "P-1")])

    async def list_rankings(reference: str) -> list[str]:
        answer = await client.get(f"/v1/rankings?reference={reference}")
        return [item["id"] for item in answer.json()["items"]]

    assert await list_rankings("P-1") == [both.id, ranking.id]
    assert await list_rankings("Q-1") == [both.id, waiting.id]
    assert await list_rankings("P-") == []
    async with service.open_caller(tenant=OTHER) as other_tenant:
        assert (await other_tenant.get("/v1/rankings?reference=P-1")).json()["items"] == []


async def test_ranking_and_comparisons_use_sender_references(service: Service, client: httpx2.AsyncClient) -> None:
    ranking = await submit_ranking(client)
    await finish_ranking(service)
    ideas = (await client.get(ranking.links.report)).json()["ideas"]
    assert [idea["reference"] for idea in ideas] == ["P-3", "P-2", "P-1", "P-0"]
    table = (await client.get(ranking.links.report, headers={"Accept": "text/csv"})).text
    assert [item["reference"] for item in csv.DictReader(io.StringIO(table))] == ["P-3", "P-2", "P-1", "P-0"]
    names = {idea["id"]: idea["reference"] for idea in ideas}
    lines = [json.loads(line) for line in (await client.get(ranking.links.comparisons)).text.splitlines()]
    assert lines
    assert all(names[item["first"]] == item["first_reference"] for item in lines)
    assert all(names[item["second"]] == item["second_reference"] for item in lines)
    # They are handed in as they came, and the names teach the judge nothing.
    again = await submit_ranking(client, comparisons=lines)
    assert again.known_comparisons == len(lines)
    work = await finish_ranking(service)
    assert "reference" not in "".join(item.model_dump_json() for item in work.known)


async def test_row_number_is_not_used_as_a_ranking_reference(service: Service, client: httpx2.AsyncClient) -> None:
    rows = [{"id": "A-1", "text": f"{WORDS} one"}, {"text": f"{WORDS} two"}, {"id": "A-3", "text": f"{WORDS} three"}]
    batch = await send_rows(client, rows)
    for _ in rows:
        await service.finish()
    for row in (1, 2, 3):
        await service.database.execute(
            "UPDATE evaluations SET report = jsonb_set(report, '{idea}', report -> 'idea' || jsonb_build_object("
            "'id', $1::text, 'text', 'Idea of worth ' || $2::integer || '.')) "
            'WHERE id = (SELECT run_id FROM jobs WHERE "row" = $2)',
            f"idea {row}",
            row,
        )
    ranking = await submit_ranking(client, ideas=None, batch=batch)
    await finish_ranking(service)
    ideas = (await client.get(ranking.links.report)).json()["ideas"]
    assert sorted((idea["source"], idea["reference"]) for idea in ideas) == [
        ("row 1 (A-1)", "A-1"),
        ("row 2", ""),
        ("row 3 (A-3)", "A-3"),
    ]


async def test_reviewers_cannot_query_sender_references(service: Service, client: httpx2.AsyncClient) -> None:
    ranking = await submit_ranking(client)
    await finish_ranking(service)
    reviewer = await add_person(service, "reviewer")
    for path in (
        "/v1/evaluations?reference=P-1",
        "/v1/rankings?reference=P-1",
        ranking.links.report,
        ranking.links.comparisons,
    ):
        check_problem(await reviewer.get(path), 403, "forbidden")
