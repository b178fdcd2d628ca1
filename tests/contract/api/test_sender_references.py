"""What a sender calls a proposal: lists, results and rankings are asked by it, and answer with it."""

import csv
import io
import json
from collections.abc import AsyncIterator
from typing import Any

import httpx2
import pytest

from assayer_client import AsyncClient
from assayer_client.rankings import RankingBody
from tests.contract.api.people import asking, person
from tests.contract.api.service import OTHER, Service, served
from tests.contract.api.test_problems import problem
from tests.contract.api.test_rankings import finish, submit
from tests.unit.batch_bodies import WORDS, as_jsonl

ROWS = [
    {"id": "A-1", "title": "Bees read", "text": f"{WORDS} one"},
    {"id": "A-11", "title": "Bees write", "text": f"{WORDS} two"},
    {"title": "Bees count", "text": f"{WORDS} three"},
    {"id": "A-3", "title": "", "text": "too short"},
]


@pytest.fixture
async def client(service: Service) -> AsyncIterator[httpx2.AsyncClient]:
    async with service.caller() as opened:
        yield opened


async def send_rows(client: httpx2.AsyncClient, rows: list[dict[str, Any]]) -> str:
    answer = await client.post("/v1/batches", content=as_jsonl(rows), headers={"Content-Type": "application/jsonl"})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def send_one(client: httpx2.AsyncClient, source: str, text: str) -> str:
    answer = await client.post("/v1/evaluations", json={"idea": {"text": f"{WORDS} {text}"}, "source": source})
    assert answer.status_code == 202, answer.text
    return str(answer.json()["id"])


async def references(client: httpx2.AsyncClient, path: str) -> list[tuple[str, str]]:
    answer = await client.get(path)
    assert answer.status_code == 200, answer.text
    return [(one["title"], one["reference"]) for one in answer.json()["items"]]


async def test_evaluations_are_listed_by_the_senders_own_reference(
    service: Service, client: httpx2.AsyncClient
) -> None:
    batch = await send_rows(client, ROWS)
    await send_one(client, "A-1", "alone")
    await send_one(client, "folder/A-1", "another name")
    await send_one(client, "call (A-1)", "a third name")
    listed = await references(client, "/v1/evaluations?reference=A-1")
    assert sorted(reference for _, reference in listed) == ["A-1", "A-1"]
    assert await references(client, f"/v1/batches/{batch}/evaluations?reference=A-11") == [("Bees write", "A-11")]
    # A place is nobody's name, and a `%` no pattern.
    for other in ("row 3", "A-%", "a-1", "A-"):
        assert await references(client, f"/v1/evaluations?reference={other.replace('%', '%25')}") == []
    async with service.caller(tenant=OTHER) as stranger:
        assert await references(stranger, "/v1/evaluations?reference=A-1") == []
    problem(await client.get("/v1/evaluations?reference="), 422, "invalid-request")


@pytest.mark.parametrize(("reference", "rows"), [("A-11", [2]), ("A-3", [4]), ("B-1", [])])
async def test_results_of_a_batch_are_of_one_reference_where_asked(
    client: httpx2.AsyncClient, reference: str, rows: list[int]
) -> None:
    results = f"/v1/batches/{await send_rows(client, ROWS)}/results?reference={reference}"
    lines = [json.loads(line) for line in (await client.get(f"{results}&format=jsonl")).text.splitlines()]
    assert [one["row"] for one in lines] == rows
    table = (await client.get(f"{results}&format=csv")).text.removeprefix("\ufeff")
    assert [int(one["row"]) for one in csv.DictReader(io.StringIO(table))] == rows


async def test_rankings_are_listed_by_the_reference_of_an_idea(service: Service, client: httpx2.AsyncClient) -> None:
    done = await submit(client)
    await finish(service)
    waiting = await submit(client, ideas=[{"id": f"Q-{n}", "text": f"{WORDS} {n}"} for n in range(2)])
    both = await submit(client, ideas=[{"id": name, "text": f"{WORDS} {name}"} for name in ("Q-1", "P-1")])

    async def listed(reference: str) -> list[str]:
        answer = await client.get(f"/v1/rankings?reference={reference}")
        return [one["id"] for one in answer.json()["items"]]

    assert await listed("P-1") == [both.id, done.id]
    assert await listed("Q-1") == [both.id, waiting.id]
    assert await listed("P-") == []
    async with service.caller(tenant=OTHER) as stranger:
        assert (await stranger.get("/v1/rankings?reference=P-1")).json()["items"] == []


async def test_ranking_and_its_comparisons_name_ideas_as_their_sender_does(
    service: Service, client: httpx2.AsyncClient
) -> None:
    ranked = await submit(client)
    await finish(service)
    ideas = (await client.get(ranked.links.report)).json()["ideas"]
    assert [one["reference"] for one in ideas] == ["P-3", "P-2", "P-1", "P-0"]
    table = (await client.get(ranked.links.report, headers={"Accept": "text/csv"})).text
    assert [one["reference"] for one in csv.DictReader(io.StringIO(table))] == ["P-3", "P-2", "P-1", "P-0"]
    names = {one["id"]: one["reference"] for one in ideas}
    lines = [json.loads(line) for line in (await client.get(ranked.links.comparisons)).text.splitlines()]
    assert lines
    assert all(names[one["first"]] == one["first_reference"] for one in lines)
    assert all(names[one["second"]] == one["second_reference"] for one in lines)
    # They are handed in as they came, and the names teach the judge nothing.
    again = await submit(client, comparisons=lines)
    assert again.known == len(lines)
    work = await finish(service)
    assert "reference" not in "".join(one.model_dump_json() for one in work.known)


async def test_a_place_in_a_table_is_no_reference_in_a_ranking(service: Service, client: httpx2.AsyncClient) -> None:
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
    ranked = await submit(client, ideas=None, batch=batch)
    await finish(service)
    ideas = (await client.get(ranked.links.report)).json()["ideas"]
    assert sorted((one["source"], one["reference"]) for one in ideas) == [
        ("row 1 (A-1)", "A-1"),
        ("row 2", ""),
        ("row 3 (A-3)", "A-3"),
    ]


async def test_client_asks_by_reference_and_reads_it(service: Service) -> None:
    async with served(service.app) as url, AsyncClient(url, await service.key()) as client:
        ideas = tuple({"id": f"P-{n}", "text": f"Idea of worth {n}. {WORDS}"} for n in range(3))
        accepted = await client.rank(RankingBody.model_validate({"ideas": ideas}))
        await finish(service)
        assert [one.id for one in (await client.rankings(reference="P-1")).items] == [accepted.id]
        assert (await client.rankings(reference="P-9")).items == ()
        assert (await client.evaluations(reference="P-1")).items == ()
        report = await client.ranking_report(accepted.id)
        assert {one.reference for one in report.ideas} == {"P-0", "P-1", "P-2"}


async def test_reviewers_are_told_no_names(service: Service, client: httpx2.AsyncClient) -> None:
    ranked = await submit(client)
    await finish(service)
    async with asking(service, await person(service, "reviewer")) as reviewer:
        for path in (
            "/v1/evaluations?reference=P-1",
            "/v1/rankings?reference=P-1",
            ranked.links.report,
            ranked.links.comparisons,
        ):
            problem(await reviewer.get(path), 403, "forbidden")
