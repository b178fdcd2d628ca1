"""Lease properties that affect how a job is processed reach the engine."""

import datetime as dt
from typing import Any, cast
from uuid import UUID

import pytest

from assayer.errors import BudgetExhausted
from assayer.ideas.parsing import parse_idea
from assayer.models import EvaluationId, Idea
from assayer.ports import Progress
from assayer.run.context_variables import is_urgent
from cluster.engine import Engine
from cluster.job_performer import EnginePerformer
from cluster.run_request import RunRequest
from cluster.settings import Settings
from orchestrator.jobs.models import JobId, Lease, Priority, TenantId
from orchestrator.jobs.requests import EvaluationRequest, Limits
from tests.unit.twins import Watcher
from workers.documents import DocumentLimits

IDEA = parse_idea("We will measure how pollinators respond to flower strips in fields and in gardens. " * 3, "idea.txt")


class RefusingEngine:
    """Engine that records its requests and fails with an exhausted budget."""

    def __init__(self) -> None:
        self.settings = Settings()
        self.run_requests: list[RunRequest] = []
        self.waiting: list[bool] = []

    async def evaluate(
        self, idea: Idea, method: str, cutoff: dt.date | None, progress: Progress, run_request: RunRequest
    ) -> None:
        self.run_requests.append(run_request)
        self.waiting.append(is_urgent())
        raise BudgetExhausted("Nothing is left.")


async def fail_on_start(run: EvaluationId, request: dict[str, Any]) -> None:
    raise AssertionError


REQUEST = EvaluationRequest(idea=IDEA, limits=Limits(max_usd=2.0))


def make_lease(priority: Priority = "batch", pinned: dict[str, Any] | None = None) -> Lease:
    return Lease(
        job=JobId("ev_1"),
        tenant=TenantId("acme"),
        token=UUID(int=1),
        attempt=1,
        priority=priority,
        request=REQUEST,
        document=None,
        max_usd=1.5,
        paid_usd=0.5,
        paid_prompt_tokens=100,
        pinned=pinned,
        submitted_at=dt.datetime(2026, 11, 20, tzinfo=dt.UTC),
    )


def make_performer(engine: "RefusingEngine") -> EnginePerformer:
    unused: Any = None
    return EnginePerformer(cast(Engine, engine), unused, unused, unused, DocumentLimits())


@pytest.mark.parametrize(("pinned", "corpus"), [(None, ""), ({"corpus": "v1"}, "v1"), ({"corpus": None}, "")])
async def test_restarted_job_uses_its_pinned_corpus_version(pinned: dict[str, Any] | None, corpus: str) -> None:
    engine = RefusingEngine()
    performer = make_performer(engine)
    with pytest.raises(BudgetExhausted):
        await performer.perform(make_lease(pinned=pinned), Watcher(), fail_on_start)
    assert [item.corpus for item in engine.run_requests] == [corpus]


@pytest.mark.parametrize("priority", ["interactive", "batch"])
async def test_only_interactive_jobs_are_urgent(priority: Priority) -> None:
    engine = RefusingEngine()
    performer = make_performer(engine)

    with pytest.raises(BudgetExhausted):
        await performer.perform(make_lease(priority), Watcher(), fail_on_start)

    (run_request,) = engine.run_requests
    assert (run_request.job, run_request.max_usd, run_request.limits) == ("ev_1", 1.5, REQUEST.limits)
    assert (run_request.paid_usd, run_request.paid_prompt_tokens) == (0.5, 100)
    assert engine.waiting == [priority == "interactive"]
    assert not is_urgent()
