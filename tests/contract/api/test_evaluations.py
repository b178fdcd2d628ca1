"""Evaluations over HTTP, from the request to the report."""

import asyncio
import datetime as dt
import json
from collections.abc import Sequence
from html.parser import HTMLParser
from pathlib import Path

import httpx2
import pytest

from assayer.errors import StorageError
from assayer_client.evaluations import Accepted, Evaluation
from assayer_client.resources import Page
from cluster.clock import SystemClock
from cluster.service import build_api_services
from cluster.settings import Settings
from orchestrator.jobs.models import BatchId, JobId, Problem
from orchestrator.jobs.requests import EvaluationRequest
from orchestrator.problems import Check
from orchestrator.settings import QueueSettings
from orchestrator.store import Database, NotificationListener, PgJobs
from tests.contract.api.problems import check_problem
from tests.contract.api.service import ACME, BODY, TEXT, Service, serve
from tests.contract.store_jobs import build_job, create_tenant


async def submit(client: httpx2.AsyncClient, **more: object) -> Accepted:
    answer = await client.post("/v1/evaluations", json=BODY | more)
    assert answer.status_code == 202, answer.text
    accepted = Accepted.model_validate_json(answer.content)
    assert answer.headers["location"] == accepted.links.evaluation
    return accepted


async def test_queued_evaluation_keeps_its_requested_options(service: Service, client: httpx2.AsyncClient) -> None:
    body = {
        "idea": {"sections": [{"title": "Problem", "text": TEXT}, {"title": "Method", "text": TEXT}]},
        "source": "row-7",
        "method": "grapheval",
        "cutoff": "2024-05-01",
        "limits": {"max_usd": 0.5},
        "priority": "batch",
    }
    answer = await client.post("/v1/evaluations", json=body)
    accepted = Accepted.model_validate_json(answer.content)
    evaluation = Evaluation.model_validate_json((await client.get(accepted.links.evaluation)).content)
    work = await service.services.jobs.get_request(ACME, JobId(accepted.id))
    assert isinstance(work, EvaluationRequest)
    assert work.idea is not None
    assert [section.title for section in work.idea.sections] == ["Problem", "Method"]
    assert (work.method, work.cutoff, work.idea.cutoff) == ("grapheval", dt.date(2024, 5, 1), dt.date(2024, 5, 1))
    assert (work.limits.max_usd, work.source, evaluation.priority) == (0.5, "row-7", "batch")
    assert (evaluation.id, evaluation.state, evaluation.title) == (accepted.id, "queued", work.idea.title)
    assert evaluation.created_at.utcoffset() == dt.timedelta(0)
    assert (evaluation.cost_usd, evaluation.problem, evaluation.started_at) == (None, None, None)
    assert evaluation.waiting_reason is not None


async def test_board_size_is_accepted_only_for_innoeval_within_limits(service: Service) -> None:
    async with service.open_caller() as client:
        accepted = await submit(client, method="innoeval", board=3)
        usual = await submit(client, method="innoeval")
        other_problem = check_problem(
            await client.post("/v1/evaluations", json=BODY | {"board": 3}), 422, "invalid-request"
        )
        beyond = await client.post("/v1/evaluations", json=BODY | {"method": "innoeval", "board": 13})
        large = await client.post("/v1/evaluations", json=BODY | {"method": "innoeval", "board": 101})
    works = [await service.services.jobs.get_request(ACME, JobId(item.id)) for item in (accepted, usual)]
    assert [work.board for work in works if isinstance(work, EvaluationRequest)] == [3, None]
    assert other_problem.errors is not None
    assert other_problem.errors[0].pointer == "/board"
    assert "innoeval" in other_problem.errors[0].detail
    errors = check_problem(beyond, 422, "invalid-request").errors
    assert errors is not None
    assert errors[0].pointer == "/board"
    assert (
        errors[0].detail
        == "A board of 13 reviewers was requested, but there are only 12 personas. Request at most that many."
    )
    too_large = check_problem(large, 422, "invalid-request").errors
    assert too_large is not None
    assert too_large[0].pointer == "/board"


async def test_board_models_must_be_permitted_for_the_method(service: Service) -> None:
    permitting_service = service.with_services(board_models=("large", "other"))
    async with permitting_service.open_caller() as client:
        accepted = await submit(client, method="innoeval", board_models=["other", "large"])
        problem = check_problem(
            await client.post("/v1/evaluations", json=BODY | {"method": "innoeval", "board_models": ["gpt-dear"]}),
            *(422, "invalid-request"),
        )
        unknown_problem = check_problem(
            await client.post("/v1/evaluations", json=BODY | {"board_models": ["large"]}), 422, "invalid-request"
        )
        rows = await client.post(
            "/v1/batches?method=innoeval&board_models=large,nobody",
            content=json.dumps({"text": TEXT}),
            headers={"Content-Type": "application/jsonl"},
        )
        methods = {item["name"]: item["board_models"] for item in (await client.get("/v1/methods")).json()["items"]}
    work = await service.services.jobs.get_request(ACME, JobId(accepted.id))
    assert isinstance(work, EvaluationRequest)
    assert work.board_models == ("other", "large")
    assert problem.errors is not None
    assert (problem.errors[0].pointer, problem.errors[0].detail) == (
        "/board_models",
        "The model 'gpt-dear' is not permitted for boards. Permitted: large, other.",
    )
    assert unknown_problem.errors is not None
    assert "Only the method innoeval has a board" in unknown_problem.errors[0].detail
    assert "'nobody' is not permitted" in rows.text
    assert methods == {"grapheval": [], "innoeval": ["large", "other"], "review": []}
    async with service.open_caller() as client:
        answer = await client.post("/v1/evaluations", json=BODY | {"method": "innoeval", "board_models": ["large"]})
    assert (answer.status_code, "ASSAYER_EVALUATION__BOARD_MODELS" in answer.text) == (422, True)


CRITERION: dict[str, object] = {
    "name": "Impact",
    "question": "Would it change practice?",
    "anchors": {"1": "no", "10": "yes"},
}


async def test_valid_criteria_reach_the_job_and_invalid_criteria_are_rejected(service: Service) -> None:
    toml = '[[criteria]]\nname = "Impact"\nquestion = "Would it change practice?"\n'

    async def get_refusal(*criteria: dict[str, object]) -> str | None:
        response = await service.machine.post("/v1/evaluations", json=BODY | {"criteria": criteria})
        errors = check_problem(response, 422, "invalid-request").errors
        assert errors is not None
        return errors[0].pointer

    accepted = await submit(service.machine, criteria=[CRITERION])
    assert await get_refusal(CRITERION | {"anchors": {"12": "more"}}) == "/criteria/0/anchors"
    assert await get_refusal(CRITERION, CRITERION) == "/criteria/1/name"
    assert await get_refusal(CRITERION | {"weight": 0}) == "/criteria/0/weight"
    batch, faulty = [
        await service.machine.post(
            "/v1/batches",
            params={"criteria": text},
            content=json.dumps({"text": TEXT}),
            headers={"Content-Type": "application/jsonl"},
        )
        for text in (toml, f"{toml}size = 3")
    ]
    work = await service.services.jobs.get_request(ACME, JobId(accepted.id))
    assert isinstance(work, EvaluationRequest)
    assert [(item.name, item.anchors) for item in work.criteria] == [("Impact", {1: "no", 10: "yes"})]
    rules = await service.services.call_details.get_rules(ACME, BatchId(batch.json()["id"]))
    assert rules is not None
    assert rules.criteria == ("Impact",)
    assert (faulty.status_code, "size" in faulty.text) == (422, True)


async def test_waiting_reason_uses_the_configured_cost_limit(
    database: Database, listener: NotificationListener, tmp_path: Path
) -> None:
    await create_tenant(database, monthly_usd=1.0)
    settings = Settings(home=tmp_path, queue=QueueSettings(max_usd=5.0))
    jobs = build_api_services(settings, database, listener, SystemClock(), None, ready=_never_ready).jobs
    await jobs.add(ACME, [build_job("ev_a")])
    assert "It may cost 5 USD, but only 1.00 USD remains" in str(await jobs.explain_waiting(ACME, JobId("ev_a")))


async def _never_ready() -> Sequence[Check]:
    return []


@pytest.mark.parametrize(
    ("detail", "is_accepted"),
    [
        ("00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01", True),
        ("00-00000000000000000000000000000000-00f067aa0ba902b7-01", False),
        ("00-4BF92F3577B34DA6A3CE929D0E0E4736-00f067aa0ba902b7-01", False),
        ("'; DROP TABLE jobs", False),
    ],
)
async def test_valid_trace_header_is_stored_with_the_job(service: Service, detail: str, is_accepted: bool) -> None:
    service.machine.headers["traceparent"] = detail
    await submit(service.machine)
    rows = {"Content-Type": "application/jsonl"}
    batch = await service.machine.post("/v1/batches", content=f'{{"title": "A", "text": "{TEXT}"}}', headers=rows)
    assert batch.status_code == 202, batch.text
    trace_rows = await service.database.fetch("SELECT traceparent FROM jobs")
    assert [row["traceparent"] for row in trace_rows] == [detail if is_accepted else None] * 2


async def test_paging_has_no_gaps_while_evaluations_are_added(client: httpx2.AsyncClient) -> None:
    ids = [(await submit(client)).id for _ in range(5)]
    seen: list[str] = []
    after: str | None = None
    for _ in range(3):
        query = {"limit": "2"} | ({"after": after} if after else {})
        answer = await client.get("/v1/evaluations", params=query)
        page = Page[Evaluation].model_validate_json(answer.content)
        seen += [item.id for item in page.items]
        after = page.next
        await submit(client)
    assert seen == ids[::-1]
    assert after is None


@pytest.mark.parametrize(
    ("accept", "media"),
    [
        (None, "application/json"),
        ("*/*", "application/json"),
        ("text/markdown", "text/markdown"),
        ("text/html,application/xhtml+xml,*/*;q=0.8", "text/html"),
        ("text/*;q=0.3, application/json;q=0.2", "text/markdown"),
        ("application/json;q=0, text/html;q=0.1", "text/html"),
    ],
)
async def test_report_format_follows_the_accept_header(service: Service, accept: str | None, media: str) -> None:
    accepted = await submit(service.machine)
    await service.finish()
    headers = {} if accept is None else {"Accept": accept}
    answer = await service.machine.get(accepted.links.report, headers=headers)
    assert answer.status_code == 200
    assert answer.headers["content-type"].partition(";")[0] == media
    assert answer.headers["vary"] == "Accept"


async def test_html_report_has_a_content_security_policy_that_forbids_framing(service: Service) -> None:
    class Styles(HTMLParser):
        policy = ""

        def handle_starttag(self, tag: str, attrs: list[tuple[str, str | None]]) -> None:
            attributes = dict(attrs)
            if tag == "meta" and attributes.get("http-equiv") == "Content-Security-Policy":
                self.policy = attributes["content"] or ""

    accepted = await submit(service.machine)
    await service.finish()
    answer = await service.machine.get(accepted.links.report, headers={"Accept": "text/html"})
    page = Styles()
    page.feed(answer.text)
    policy_parts = {part.strip() for part in answer.headers["content-security-policy"].split(";")}
    assert {part.strip() for part in page.policy.split(";")} <= policy_parts
    assert "frame-ancestors 'none'" in policy_parts
    assert answer.headers["x-content-type-options"] == "nosniff"


async def test_report_in_an_unsupported_format_returns_406(service: Service, client: httpx2.AsyncClient) -> None:
    accepted = await submit(client)
    await service.finish()
    answer = await client.get(accepted.links.report, headers={"Accept": "application/pdf"})
    assert "text/markdown" in check_problem(answer, 406, "not-acceptable").detail


async def test_missing_report_explains_the_state_of_the_evaluation(
    service: Service, client: httpx2.AsyncClient
) -> None:
    accepted = await submit(client)
    queued = await client.get(accepted.links.report)
    await service.finish(Problem(type="budget-exhausted", title="The budget is spent", detail="It cost too much."))
    failed = await client.get(accepted.links.report)
    other_job = await submit(client)
    await client.delete(other_job.links.evaluation)
    cancelled = await client.get(other_job.links.report)
    assert check_problem(queued, 409, "not-finished").state == "queued"
    document = check_problem(failed, 409, "budget-exhausted")
    assert (document.state, document.title, document.detail) == ("failed", "The budget is spent", "It cost too much.")
    assert check_problem(cancelled, 409, "cancelled").state == "cancelled"


async def test_a_report_that_was_deleted_is_gone(service: Service, client: httpx2.AsyncClient) -> None:
    accepted = await submit(client)
    await service.finish()
    await service.database.execute("DELETE FROM evaluations")
    check_problem(await client.get(accepted.links.report), 410, "gone")


async def test_cancelling_a_running_evaluation_clears_its_lease(service: Service, client: httpx2.AsyncClient) -> None:
    accepted = await submit(client)
    lease = await service.lease_next()
    answer = await client.delete(accepted.links.evaluation)
    again = await client.delete(accepted.links.evaluation)
    assert answer.json()["state"] == again.json()["state"] == "cancelled"
    (row,) = await service.database.fetch("SELECT lease FROM jobs WHERE id = $1", lease.job)
    assert row["lease"] is None


async def test_erasing_requires_the_manage_scope_and_deletes_the_evaluation(service: Service) -> None:
    async with service.open_caller("submit", "read") as client, service.open_caller() as manager:
        accepted = await submit(client)
        await service.finish()
        path = f"{accepted.links.evaluation}?erase=true"
        assert check_problem(await client.delete(path), 403, "forbidden").scope == "manage"
        assert (await manager.delete(path)).status_code == 204
        check_problem(await client.get(accepted.links.evaluation), 410, "gone")


@pytest.mark.parametrize(
    ("source", "found"),
    [("A-7", ["call.jsonl:1 (A-7)"]), ("one.txt", ["one.txt"]), ("call.jsonl:2", ["call.jsonl:2"]), ("A-", [])],
)
async def test_evaluation_is_found_by_its_source(client: httpx2.AsyncClient, source: str, found: list[str]) -> None:
    rows = "\n".join(json.dumps(row) for row in ({"id": "A-7", "text": TEXT}, {"text": f"{TEXT} again"}))
    files = [("file", ("call.jsonl", rows.encode())), ("file", ("one.txt", f"{TEXT} more".encode()))]
    assert (await client.post("/v1/batches", files=files)).status_code == 202
    assert (await client.post("/v1/evaluations", json=BODY)).status_code == 202
    answer = await client.get("/v1/evaluations", params={"source": source})
    assert [item["source"] for item in answer.json()["items"]] == found
    assert {item["source"] for item in (await client.get("/v1/evaluations")).json()["items"]} == {
        "",
        "call.jsonl:1 (A-7)",
        "call.jsonl:2",
        "one.txt",
    }


async def test_prefer_wait_returns_the_finished_evaluation(service: Service) -> None:
    async with (
        serve(service.app) as url,
        service.open_client(await service.create_key(), url) as client,
        asyncio.TaskGroup() as tasks,
    ):
        task = tasks.create_task(client.post("/v1/evaluations", json=BODY, headers={"Prefer": "wait=60"}))
        while not (await service.machine.get("/v1/evaluations")).json()["items"]:
            pass
        await service.finish()
        answer = await task
    assert answer.status_code == 200
    assert answer.headers["preference-applied"] == "wait=60"
    evaluation = Evaluation.model_validate_json(answer.content)
    assert evaluation.state == "succeeded"
    assert answer.headers["location"] == evaluation.links.evaluation


async def test_database_failure_while_waiting_still_returns_the_acceptance(service: Service) -> None:
    class Gone(PgJobs):
        async def get(self, *_: object) -> None:
            raise StorageError("It is out of reach.")

    unavailable_service = service.with_services(jobs=Gone(service.database))
    async with unavailable_service.open_caller() as client:
        answer = await client.post("/v1/evaluations", json=BODY, headers={"Prefer": "wait=60"})
    assert answer.status_code == 202


async def test_wait_timeout_returns_the_acceptance(service: Service) -> None:
    impatient_service = service.with_services(
        settings=service.services.settings.model_copy(update={"max_wait_seconds": 0.05})
    )
    async with impatient_service.open_caller() as client:
        answer = await client.post("/v1/evaluations", json=BODY, headers={"Prefer": "respond-async, wait=60"})
    assert answer.status_code == 202
    assert answer.headers["preference-applied"] == "wait=0.05"
    assert Accepted.model_validate_json(answer.content).state == "queued"


async def test_limit_in_dollars_is_refused_when_sent_if_a_price_is_unknown(service: Service) -> None:
    unpriced = service.with_services(unpriced_models=("local",), methods_without_llm=frozenset({"check"}))
    limits = {"limits": {"max_usd": 0.5}}
    item = {"question": TEXT, "idea": TEXT, "abstract": TEXT}
    async with unpriced.open_caller() as client:
        for path, body in (("/v1/evaluations", BODY), ("/v1/rewards", {"items": [item]})):
            problem = check_problem(await client.post(path, json=body | limits), 501, "not-configured")
            assert "ASSAYER_LLM__PRICES" in problem.detail, path
            assert (await client.post(path, json=body)).status_code == 202, path
        rows = (f'{{"text": "{TEXT}"}}'.encode(), {"Content-Type": "application/jsonl"})
        answer = await client.post("/v1/batches?max_usd=1", content=rows[0], headers=rows[1])
        check_problem(answer, 501, "not-configured")
