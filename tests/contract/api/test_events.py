"""Events of an evaluation as a stream: whole, resumable, bounded, and over when the evaluation is."""

import asyncio
import json
from collections.abc import AsyncIterator

import httpx2
import pytest

from assayer.errors import StorageError
from assayer_client.reports import Timeline
from orchestrator.jobs.models import JobId
from orchestrator.store import PgEvents
from tests.contract.api.problems import check_problem, get_first_error
from tests.contract.api.service import BODY, OTHER, Service, serve
from tests.unit.job_timelines import make_stage_progress


async def submit_evaluation(client: httpx2.AsyncClient) -> str:
    job: str = (await client.post("/v1/evaluations", json=BODY)).json()["id"]
    return job


async def parse_events(lines: AsyncIterator[str]) -> AsyncIterator[dict[str, str]]:
    """Events of a stream; comments are left out."""
    event: dict[str, str] = {}
    async for line in lines:
        if line.startswith(":"):
            continue
        if not line and event:
            yield event
            event = {}
        name, _, value = line.partition(": ")
        if name:
            event[name] = value


async def read_events(client: httpx2.AsyncClient, job: str, last: int | None = None) -> list[dict[str, str]]:
    """Return the events of a stream that ends by itself."""
    headers = {} if last is None else {"Last-Event-ID": str(last)}
    async with client.stream("GET", f"/v1/evaluations/{job}/events", headers=headers) as answer:
        assert answer.status_code == 200
        assert answer.headers["content-type"].startswith("text/event-stream")
        return [event async for event in parse_events(answer.aiter_lines())]


async def test_stream_sends_events_live_and_ends_with_the_verdict(service: Service) -> None:
    async with (
        serve(service.app) as url,
        service.open_client(await service.create_key(), url) as client,
        asyncio.timeout(60),
    ):
        job = await submit_evaluation(client)
        async with client.stream("GET", f"/v1/evaluations/{job}/events") as answer:
            stream = parse_events(answer.aiter_lines())
            first = await anext(stream)
            await service.services.events.append(
                JobId(job), "progress", {"stages": [{"stage": "reading", "done": 1, "total": 2}]}
            )
            second = await anext(stream)
            await service.finish()
            remaining = [event async for event in stream]
    kinds = [event["event"] for event in (first, second, *remaining)]
    assert (kinds[0], kinds[1], kinds[-1]) == ("queued", "progress", "succeeded")
    assert [int(event["id"]) for event in (first, second, *remaining)] == list(range(1, len(kinds) + 1))
    assert json.loads(second["data"])["data"]["stages"][0]["stage"] == "reading"


async def test_reader_resumes_after_its_last_event(service: Service, client: httpx2.AsyncClient) -> None:
    job = await submit_evaluation(client)
    await service.finish()
    all_events = await read_events(client, job)
    remaining = await read_events(client, job, last=1)
    over = await client.get(f"/v1/evaluations/{job}/events", headers={"Last-Event-ID": all_events[-1]["id"]})
    assert remaining == all_events[1:]
    assert all_events[-1]["event"] == "succeeded"
    assert over.status_code == 204


async def test_a_silent_stream_is_kept_open_by_heartbeats(service: Service) -> None:
    quick = service.with_services(settings=service.services.settings.model_copy(update={"heartbeat_seconds": 0.01}))
    async with serve(quick.app) as url, quick.open_client(await quick.create_key(), url) as client, asyncio.timeout(60):
        job = await submit_evaluation(client)
        async with client.stream("GET", f"/v1/evaluations/{job}/events") as answer:
            beats = 0
            async for line in answer.aiter_lines():
                beats += line.startswith(": ping")
                if beats == 3:
                    break
    assert beats == 3


async def test_stream_ends_after_its_time_limit(service: Service) -> None:
    short = service.with_services(
        settings=service.services.settings.model_copy(update={"stream_seconds": 0.05, "poll_seconds": 0.02})
    )
    async with short.open_caller() as client:
        job = await submit_evaluation(client)
        assert [event["event"] for event in await read_events(client, job)] == ["queued"]


async def test_stream_limit_counts_all_keys_of_a_tenant_but_not_other_tenants(service: Service) -> None:
    narrow_service = service.with_services(
        settings=service.services.settings.model_copy(update={"max_streams_per_tenant": 1})
    )
    async with (
        serve(narrow_service.app) as url,
        narrow_service.open_client(await narrow_service.create_key(), url) as client,
        narrow_service.open_client(await narrow_service.create_key(), url) as colleague,
        narrow_service.open_client(await narrow_service.create_key(tenant=OTHER), url) as other_tenant,
        asyncio.timeout(60),
    ):
        job = await submit_evaluation(client)
        path = f"/v1/evaluations/{job}/events"
        async with client.stream("GET", path) as held_stream:
            stream = parse_events(held_stream.aiter_lines())  # held: a garbage-collected reader closes the connection
            await anext(stream)
            refusal = await colleague.get(path)
            other_path = f"/v1/evaluations/{await submit_evaluation(other_tenant)}/events"
            async with other_tenant.stream("GET", other_path) as other_stream:
                assert other_stream.status_code == 200
        assert check_problem(refusal, 429, "too-many-streams").retry_after == int(refusal.headers["retry-after"])
        await service.finish()
        while (again := await client.get(path)).status_code == 429:
            pass  # the server has not noticed yet that the first reader left
        assert "event: succeeded" in again.text


async def test_stream_ends_without_error_when_the_database_fails(service: Service) -> None:
    class Going(PgEvents):
        reads = 0

        async def list_after(self, job: JobId, number: int, limit: int = 100) -> list[object]:  # type: ignore[override]
            self.reads += 1
            if self.reads > 1:
                raise StorageError("It is out of reach.")
            return list(await super().list_after(job, number, limit))

    going = service.with_services(events=Going(service.database))
    async with going.open_caller() as client:
        job = await submit_evaluation(client)
        assert [event["event"] for event in await read_events(client, job)] == ["queued"]


@pytest.mark.parametrize("last", ["x", "-1", "99999999999"])
async def test_invalid_last_event_id_is_rejected(client: httpx2.AsyncClient, last: str) -> None:
    job = await submit_evaluation(client)
    answer = await client.get(f"/v1/evaluations/{job}/events", headers={"Last-Event-ID": last})
    error = get_first_error(answer)
    assert error.parameter == "last-event-id"


async def test_timeline_shows_queue_wait_and_stages(service: Service, client: httpx2.AsyncClient) -> None:
    job = await submit_evaluation(client)
    lease = await service.lease_next()
    for done_count in (1, 2):
        data = make_stage_progress("reading", done_count, 2, began=service.services.clock.now())
        await service.services.events.append(lease.job, "progress", data)
    answer = await client.get(f"/v1/evaluations/{job}/timeline")
    timeline = Timeline.model_validate_json(answer.content)
    assert (timeline.id, timeline.state) == (job, "running")
    assert [(span.name, span.kind) for span in timeline.spans] == [("in the queue", "wait"), ("reading", "stage")]
