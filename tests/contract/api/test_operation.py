"""Operator views: health, readiness, metrics, access log."""

import asyncio
import logging

import pytest
from prometheus_client.parser import text_string_to_metric_families

from assayer.errors import StorageError
from orchestrator.problems import Check
from orchestrator.store import PgServiceMetrics, ServiceMetrics
from tests.contract.api.problems import check_problem
from tests.contract.api.service import ACME, BODY, TEXT, Service


async def test_health_check_succeeds_despite_failed_dependencies(service: Service) -> None:
    service.checks.append(Check(name="database", ok=False, detail="it is out of reach"))
    async with service.open_client() as client:
        assert (await client.get("/healthz")).json() == {"status": "alive", "checks": []}


async def test_readiness_names_the_failed_check(service: Service) -> None:
    at_once = service.with_services(settings=service.services.settings.model_copy(update={"ready_seconds": 0.0}))
    async with at_once.open_client() as client:
        assert (await client.get("/readyz")).json()["status"] == "ready"
        service.checks.append(Check(name="corpus", ok=False, detail="There is none at http://10.0.0.5:80/."))
        answer = await client.get("/readyz")
    document = check_problem(answer, 503, "not-ready")
    assert "retry-after" in answer.headers
    assert document.checks is not None
    assert [(check.name, check.ok) for check in document.checks] == [("database", True), ("corpus", False)]
    assert "corpus: There is none at (address withheld)." in document.detail


async def test_concurrent_readiness_requests_share_a_single_check(service: Service) -> None:
    looks = 0

    async def look() -> list[Check]:
        nonlocal looks
        looks += 1
        await service.database.ping()
        return service.checks

    many = service.with_services(ready=look)
    async with many.open_client() as client:
        answers = await asyncio.gather(*(client.get("/readyz") for _ in range(100)))
    assert {answer.status_code for answer in answers} == {200}
    assert looks == 1


async def test_metrics_report_jobs_costs_and_http_requests(service: Service) -> None:
    async with service.open_caller() as client, service.open_caller("admin") as admin:
        await client.post("/v1/evaluations", json=BODY)
        await service.finish()
        for _ in range(2):
            await client.post("/v1/evaluations", json=BODY | {"priority": "batch"})
        answer = await admin.get("/metrics")
    samples = {
        (sample.name, *sorted(sample.labels.items())): sample.value
        for family in text_string_to_metric_families(answer.text)
        for sample in family.samples
    }
    assert samples["assayer_jobs_queued", ("priority", "batch"), ("tenant", ACME)] == 2
    job_labels = (("kind", "evaluation"), ("state", "succeeded"), ("tenant", ACME))
    assert samples["assayer_jobs_ended_last_hour", *job_labels] == 1
    assert samples["assayer_jobs_cost_usd_last_hour", *job_labels] == 0.25
    request_labels = (("method", "POST"), ("route", "/v1/evaluations"), ("status", "202"))
    assert samples["assayer_http_requests_total", *request_labels] >= 3


async def test_metrics_can_be_served_without_authentication(service: Service) -> None:
    open_service = service.with_services(settings=service.services.settings.model_copy(update={"open_metrics": True}))
    async with open_service.open_client() as client:
        assert (await client.get("/metrics")).status_code == 200


async def test_metrics_without_a_database_still_report_process_counters(service: Service) -> None:
    class Gone(PgServiceMetrics):
        async def collect(self, *_: object) -> ServiceMetrics:
            raise StorageError("It is out of reach.")

    unavailable_service = service.with_services(metrics=Gone(service.database))
    async with unavailable_service.open_caller("admin") as admin:
        await admin.get("/healthz")
        metrics_text = (await admin.get("/metrics")).text
    assert "\nassayer_database_up 0.0\n" in metrics_text
    assert "assayer_jobs_queued" not in metrics_text
    assert 'assayer_http_requests_total{method="GET",route="/healthz",status="200"}' in metrics_text


async def test_access_log_names_request_tenant_and_job_but_no_idea_text(
    service: Service, caplog: pytest.LogCaptureFixture
) -> None:
    key = await service.create_key()
    with caplog.at_level(logging.INFO, "assayer.access"):
        async with service.open_client(key) as client:
            job = (await client.post("/v1/evaluations", json=BODY, headers={"X-Request-Id": "r-1"})).json()["id"]
            await client.get(f"/v1/evaluations/{job}", headers={"X-Request-Id": "not sane {}"})
    lines = [vars(record)["told"] for record in caplog.records if record.name == "assayer.access"]
    first, second = lines
    assert (first["request_id"], first["tenant"], first["jobs"]) == ("r-1", ACME, [job])
    assert (first["method"], first["route"], first["status"]) == ("POST", "/v1/evaluations", 202)
    assert (second["route"], second["id"]) == ("/v1/evaluations/{id}", job)
    assert second["request_id"].startswith("req_")
    assert key not in caplog.text
    assert TEXT[:40] not in caplog.text
