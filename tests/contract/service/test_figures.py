"""`/metrics` of a service that works: what the alerts and the dashboard rest on."""

from collections.abc import Mapping

import pytest
from prometheus_client.parser import text_string_to_metric_families

from cluster.settings import Settings
from orchestrator.jobs.models import TenantPlan
from orchestrator.store import PgTenants
from simulator.process import Simulator
from tests.contract.service.running_service import TENANT, RunningService, run_service
from tests.polling import wait_until_async

DONE = {"tenant": TENANT, "kind": "evaluation", "state": "succeeded"}


class Figures(dict[tuple[str, frozenset[tuple[str, str]]], float]):
    @classmethod
    async def read(cls, world: RunningService) -> "Figures":
        answer = await world.caller.client.get("/metrics")
        assert answer.status_code == 200, answer.text
        return cls(
            ((sample.name, frozenset(sample.labels.items())), sample.value)
            for family in text_string_to_metric_families(answer.text)
            for sample in family.samples
        )

    def get_value(self, name: str, labels: Mapping[str, str] | None = None) -> float:
        return self.get((name, frozenset((labels or {}).items())), 0.0)

    def get_total(self, name: str, **labels: str) -> float:
        return sum(value for (item, of), value in self.items() if item == name and labels.items() <= dict(of).items())


async def test_metrics_report_jobs_llm_requests_cost_and_cache_hits(settings: Settings, simulator: Simulator) -> None:
    async with run_service(settings) as world:
        await PgTenants(world.service.database).update(TENANT, TenantPlan(name="Default", monthly_usd=50.0))
        before = await Figures.read(world)
        stats_before = simulator.read_stats()
        evaluation = await world.caller.wait_until_ended(await world.caller.submit(source="mine.txt"))
        middle = await Figures.read(world)
        stats = simulator.read_stats()
        await world.caller.wait_until_ended(await world.caller.submit(source="yours.txt"))
        after = await Figures.read(world)

    def get_growth(name: str, **labels: str) -> float:
        return middle.get_total(name, **labels) - before.get_total(name, **labels)

    assert after.get_value("assayer_database_up") == 1
    assert after.get_value("assayer_jobs_ended_last_hour", DONE) == 2
    assert middle.get_value("assayer_jobs_cost_usd_last_hour", DONE) == pytest.approx(evaluation["cost_usd"])
    assert middle.get_value("assayer_job_seconds_last_hour", {**DONE, "quantile": "0.95"}) > 0
    assert middle.get_value("assayer_tenant_spent_usd_this_month", {"tenant": TENANT}) == pytest.approx(
        evaluation["cost_usd"]
    )
    assert middle.get_value("assayer_tenant_monthly_usd", {"tenant": TENANT}) == 50
    assert get_growth("assayer_outbound_requests_total", kind="llm") == stats.requests - stats_before.requests
    assert get_growth("assayer_llm_tokens_total", kind="prompt") == stats.prompt_tokens - stats_before.prompt_tokens
    assert get_growth("assayer_llm_cost_usd_total") == pytest.approx(evaluation["cost_usd"])
    assert (
        get_growth("assayer_llm_request_seconds_count")
        == get_growth("assayer_llm_requests_total", outcome="answered")
        > 0
    )
    assert get_growth("assayer_job_attempts_total", kind="evaluation", outcome="succeeded") == 1
    assert get_growth("assayer_job_attempt_seconds_count", kind="evaluation") == 1
    assert middle.get_value("assayer_llm_requests_pending") == middle.get_value("assayer_llm_requests_in_flight") == 0
    assert middle.get_value("assayer_llm_requests_limit") >= 1
    assert middle.get_value("assayer_worker_jobs") == 0
    assert after.get_total("assayer_stage_requests_last_5_minutes") >= 2 * get_growth("assayer_llm_requests_total")
    assert after.get_total("assayer_llm_requests_total", outcome="cached") > before.get_total(
        "assayer_llm_requests_total", outcome="cached"
    )


async def test_metrics_report_running_jobs_and_requests_in_flight(settings: Settings, simulator: Simulator) -> None:
    simulator.configure(latency_mean=5)
    async with run_service(settings) as world:
        id = await world.caller.submit()
        figures = await wait_until_async(
            lambda: Figures.read(world), lambda now: now.get_value("assayer_llm_requests_in_flight") > 0
        )
        await world.caller.cancel(id)
        await wait_until_async(world.count_running_jobs, lambda running_count: running_count == 0)
        ended = await Figures.read(world)
    assert figures.get_value("assayer_jobs_running", {"tenant": TENANT, "priority": "interactive"}) == 1
    assert figures.get_value("assayer_worker_jobs") == 1
    assert ended.get_value("assayer_llm_requests_in_flight") == ended.get_value("assayer_llm_requests_pending") == 0


async def test_metrics_count_faults_by_boundary_and_kind(settings: Settings, simulator: Simulator) -> None:
    simulator.configure(server_error_rate=1.0)
    assert settings.llm is not None
    hasty = settings.model_copy(
        update={"llm": settings.llm.model_copy(update={"max_attempts": 2, "backoff_initial_seconds": 0.01})}
    )
    async with run_service(hasty) as world:
        before = await Figures.read(world)
        await world.caller.submit()
        failed = {"boundary": "LlmError", "error": "LlmUnavailable"}
        figures = await wait_until_async(
            lambda: Figures.read(world),
            lambda now: (
                now.get_value("assayer_faults_total", failed) > before.get_value("assayer_faults_total", failed)
            ),
        )
    assert figures.get_total("assayer_llm_faults_total") > before.get_total("assayer_llm_faults_total")
    assert figures.get_total("assayer_llm_requests_total", outcome="failed") > 0
