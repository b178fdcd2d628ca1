"""Leases: one holder at a time, fenced by tokens; tries that end; budgets and places that are kept."""

import asyncio
from uuid import uuid4

import pytest

from assayer.models import EvaluationId
from orchestrator.jobs.fair_scheduler import FreeSlots
from orchestrator.jobs.models import JobVerdict, Problem
from orchestrator.settings import QueueSettings
from orchestrator.store import Database, PgEvents, PgLeases
from tests.contract.store_jobs import ACME, DONE, OTHER, RICH, Losing, Queue, build_job, create_tenant

FAILED = JobVerdict(state="failed", problem=Problem(type="unusable-input", title="No idea", detail="It is empty."))


@pytest.fixture
async def queue(database: Database) -> Queue:
    await create_tenant(database)
    await create_tenant(database, OTHER)
    return Queue(database, QueueSettings(max_failures=2, max_losses=3, max_outages=4, suspect_losses=2))


async def list_event_kinds(queue: Queue, name: str) -> list[str]:
    events = await PgEvents(queue.database).list_after(build_job(name).id, 0)
    assert [event.number for event in events] == list(range(1, len(events) + 1))
    return [event.kind for event in events]


async def test_lease_contains_the_request_and_counts_attempts(queue: Queue) -> None:
    new_job = build_job("a", max_usd=2.0).model_copy(update={"document": b"%PDF"})
    await queue.add(new_job)

    lease = await queue.acquire_lease()

    assert (lease.job, lease.tenant, lease.attempt, lease.priority) == ("a", ACME, 1, "batch")
    assert (lease.request, lease.document, lease.max_usd, lease.pinned) == (new_job.request, b"%PDF", 2.0, None)
    assert await queue.acquire_leases() == []
    running = await queue.get(new_job.id)
    assert (running.state, running.attempt) == ("running", 1)
    assert running.started_at is not None


async def test_second_attempt_receives_settings_pinned_by_the_first(queue: Queue) -> None:
    await queue.add(build_job("a"))
    first = await queue.acquire_lease()
    assert await queue.leases.record_run(first, EvaluationId("ev_1"), {"models": ["small"], "cutoff": None})
    await queue.leases.give_back(first, "It timed out.", attempt_failed=True, after_seconds=0)

    second = await queue.acquire_lease()

    assert second.attempt == 2
    assert second.pinned == {"models": ["small"], "cutoff": None}


async def test_old_token_is_refused_and_changes_nothing(queue: Queue) -> None:
    await queue.add(build_job("a"))
    old = await queue.acquire_lease()
    await queue.expire_leases()
    assert await queue.leases.expire() == 1
    new = await queue.acquire_lease()

    assert await queue.leases.renew([old.token, new.token]) == {new.token}
    assert not await queue.leases.record_run(old, EvaluationId("ev_old"), {})
    assert not await queue.leases.finish(old, DONE)
    assert await queue.leases.give_back(old, "late", attempt_failed=True, after_seconds=0) is None
    assert await PgEvents(queue.database).append(old.job, "progress", {}, old.token) is None
    job_row = await queue.get(old.job)
    assert (job_row.state, job_row.run_id, job_row.attempt) == ("running", None, 2)
    assert await list_event_kinds(queue, "a") == ["queued", "started", "retried", "started"]


async def test_repeated_finish_with_the_same_token_records_a_single_verdict(queue: Queue) -> None:
    await queue.add(build_job("a"))
    lease = await queue.acquire_lease()

    are_accepted = [await queue.leases.finish(lease, verdict) for verdict in (DONE, DONE, FAILED)]

    assert are_accepted == [True, True, False]
    finished_job = await queue.get(lease.job)
    assert (finished_job.state, finished_job.cost_usd, finished_job.problem) == ("succeeded", 0.5, None)
    assert await list_event_kinds(queue, "a") == ["queued", "started", "succeeded"]


async def test_give_back_twice_with_the_same_token_counts_once(queue: Queue) -> None:
    await queue.add(build_job("a"))
    lease = await queue.acquire_lease()

    are_returned = [
        await queue.leases.give_back(lease, "The endpoint said 500.", attempt_failed=True, after_seconds=0)
        for _ in range(2)
    ]

    assert are_returned == ["queued", "queued"]
    assert await list_event_kinds(queue, "a") == ["queued", "started", "retried"]


async def test_job_returned_with_delay_is_not_leased_early(queue: Queue) -> None:
    await queue.add(build_job("a"))
    await queue.leases.give_back(
        await queue.acquire_lease(), "The endpoint is down.", attempt_failed=False, after_seconds=60
    )

    assert await queue.acquire_leases() == []
    assert "did not finish" in (await queue.jobs.explain_waiting(ACME, build_job("a").id) or "")


@pytest.mark.parametrize(("attempt_failed", "tries"), [(True, 2), (False, 4)])
async def test_job_returned_too_often_fails_with_its_reasons(queue: Queue, attempt_failed: bool, tries: int) -> None:
    await queue.add(build_job("a"))

    states = []
    for number in range(tries):
        lease = await queue.acquire_lease()
        states.append(
            await queue.leases.give_back(lease, f"Reason {number}.", attempt_failed=attempt_failed, after_seconds=0)
        )

    assert states == ["queued"] * (tries - 1) + ["failed"]
    dead = await queue.get(build_job("a").id)
    assert dead.problem is not None
    assert dead.problem.type == "gave-up"
    assert f"(1) Reason 0. (2) Reason {1}." in dead.problem.detail
    assert (await list_event_kinds(queue, "a"))[-1] == "failed"


async def test_expire_keeps_renewed_leases(queue: Queue) -> None:
    await queue.add(build_job("a"), build_job("b"))
    beaten, silent_lease = await queue.acquire_leases(2)
    await queue.expire_leases()
    await queue.leases.renew([beaten.token])

    assert await queue.leases.expire() == 1

    assert await queue.leases.renew([beaten.token, silent_lease.token]) == {beaten.token}


async def test_suspect_jobs_run_sequentially_alongside_others(queue: Queue) -> None:
    await queue.add(build_job("poison"), build_job("beside"))
    for _ in range(2):
        await queue.acquire_leases(2)
        await queue.expire_leases()
        await queue.leases.expire()
    await queue.add(build_job("fresh"))

    together = await queue.acquire_leases(3)

    assert sorted(lease.job for lease in together) == ["fresh", "poison"]
    assert await queue.acquire_leases(3) == []
    await queue.leases.finish(together[0], DONE)
    assert [lease.job for lease in await queue.acquire_leases(3)] == ["beside"]


async def test_many_workers_at_once_never_lease_a_job_twice(queue: Queue) -> None:
    names = [f"j{number:03}" for number in range(120)]
    await queue.add(*(build_job(name) for name in names))

    async def lease_all(worker: str) -> list[str]:
        mine: list[str] = []
        while leases := await queue.acquire_leases(7, worker=worker):
            mine += [lease.job for lease in leases]
        return mine

    leased_names = await asyncio.gather(*(lease_all(f"w{number}") for number in range(6)))

    assert sorted(item for own_names in leased_names for item in own_names) == names


async def test_max_running_holds_under_concurrent_leasing(queue: Queue, database: Database) -> None:
    await create_tenant(database, RICH, max_running=3)
    await queue.add(*(build_job() for _ in range(20)), tenant=RICH)

    leases = await asyncio.gather(*(queue.acquire_leases(2) for _ in range(6)))

    assert sum(map(len, leases)) == 3
    waiting = next(item for item in await queue.jobs.list(RICH, state="queued"))
    assert "limit of running jobs (3 running)" in (await queue.jobs.explain_waiting(waiting.tenant, waiting.id) or "")


async def test_interactive_jobs_start_first_then_in_submission_order(queue: Queue) -> None:
    await queue.add(*(build_job(name) for name in ("z", "y", "x")))
    await queue.add(build_job("later"), build_job("now", "interactive"))

    assert [(await queue.acquire_lease()).job for _ in range(5)] == ["now", "z", "y", "x", "later"]


async def test_budget_reserves_job_limits_and_releases_unspent_amounts(queue: Queue, database: Database) -> None:
    await create_tenant(database, RICH, monthly_usd=5.0)
    await queue.add(*(build_job(f"m{number}", max_usd=2.0) for number in range(4)), tenant=RICH)

    first = await queue.acquire_leases(4)
    assert [lease.max_usd for lease in first] == [2.0, 2.0]
    waiting = await queue.jobs.explain_waiting(RICH, build_job("m2").id) or ""
    assert "It may cost 2 USD, but only 1.00 USD remains of your organisation's budget of 5 USD a month" in waiting

    for lease in first:
        await queue.leases.finish(lease, JobVerdict(state="succeeded", cost_usd=0.5))
    assert len(await queue.acquire_leases(4)) == 2  # 1 spent, 4 reserved


async def test_job_limit_above_monthly_budget_fails_with_explanation(queue: Queue, database: Database) -> None:
    await create_tenant(database, RICH, monthly_usd=5.0)
    await queue.add(build_job("dear", max_usd=6.0), build_job("fits", max_usd=5.0), tenant=RICH)

    assert [lease.job for lease in await queue.acquire_leases(4)] == ["fits"]

    failed = await queue.get(build_job("dear").id, RICH)
    assert failed.problem is not None
    assert (failed.state, failed.problem.type) == ("failed", "budget-too-small")
    assert "limits.max_usd" in failed.problem.detail


async def test_default_limit_of_the_service_counts_against_the_budget(database: Database) -> None:
    queue = Queue(database, QueueSettings(max_usd=2.0))
    await create_tenant(database, RICH, monthly_usd=3.0)
    await queue.add(build_job(), build_job(), tenant=RICH)

    assert [lease.max_usd for lease in await queue.acquire_leases(4)] == [2.0]


async def test_concurrent_cancel_and_finish_yield_a_single_verdict(queue: Queue) -> None:
    await queue.add(*(build_job(f"r{number:02}") for number in range(30)))
    leases = await queue.acquire_leases(30)

    async def race(number: int) -> tuple[bool, str]:
        lease = leases[number]
        finish, cancel = queue.leases.finish(lease, DONE), queue.jobs.cancel(ACME, lease.job)
        if number % 2:
            written, seen = await asyncio.gather(finish, cancel)
        else:
            seen, written = await asyncio.gather(cancel, finish)
        assert seen is not None
        return written, seen.state

    for lease, (written, seen) in zip(leases, await asyncio.gather(*map(race, range(30))), strict=True):
        assert seen == ("succeeded" if written else "cancelled")
        assert (await list_event_kinds(queue, lease.job))[2:] == [seen]


async def test_lease_survives_a_lost_commit_response(database: Database) -> None:
    """The commit went through, and the connection broke before it was told."""
    await create_tenant(database)
    queue = Queue(database)
    await queue.add(build_job("a"), build_job("b"))
    tokens = iter([uuid4() for _ in range(4)])
    leases = PgLeases(Losing(database), QueueSettings(), lambda: next(tokens))

    acquired = await leases.acquire("worker", FreeSlots(2))

    assert [lease.job for lease in acquired] == ["a", "b"]
    assert await leases.renew([lease.token for lease in acquired]) == {lease.token for lease in acquired}
    assert await list_event_kinds(queue, "a") == ["queued", "started"]


async def test_unreadable_job_fails_with_reason_and_others_start(queue: Queue, database: Database) -> None:
    await queue.add(build_job("odd"), build_job("good"))
    await database.execute("UPDATE jobs SET request = '{\"kind\": \"from tomorrow\"}' WHERE id = 'odd'")

    assert [lease.job for lease in await queue.acquire_leases(2)] == ["good"]

    failed = await queue.get(build_job("odd").id)
    assert failed.problem is not None
    assert (failed.state, failed.problem.type) == ("failed", "unreadable-request")


async def test_overnight_jobs_need_an_overnight_worker_and_bypass_max_running(database: Database) -> None:
    queue = Queue(database)
    await create_tenant(database, max_running=1)
    await queue.add(
        build_job("night_1", "overnight"), build_job("night_2", "overnight"), build_job("day_1"), build_job("day_2")
    )
    overnight = await queue.leases.acquire("night", FreeSlots(4, overnight_only=True))
    other_leases = await queue.acquire_leases(4)
    assert [lease.job for lease in overnight] == ["night_1", "night_2"]
    assert [lease.job for lease in other_leases] == ["day_1"]
    assert overnight[0].submitted_at <= overnight[1].submitted_at
    assert await queue.leases.acquire("night", FreeSlots(4, overnight_only=True)) == []
