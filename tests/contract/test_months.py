"""The ledger and the events in months: found by keys as before, charged and erased across months, dropped whole."""

import asyncio
import datetime as dt
from collections.abc import AsyncIterator

import asyncpg
import pytest
from pydantic import SecretStr

from assayer.models import EvaluationId
from orchestrator.jobs.models import JobVerdict
from orchestrator.settings import RetentionSettings
from orchestrator.store import Database, DatabaseSettings, PgAnswerCache, PgEvents, PgLedger, migrator, months
from orchestrator.store.months import PgMonths
from tests.contract.store_jobs import ACME, Losing, Queue, job, tenant
from tests.contract.store_records import answer, answered
from tests.contract.tables_of import tables_of
from tests.postgres import SharedPostgres

RUN = EvaluationId("ev_run")
NOW = dt.datetime.now(dt.UTC)
AFTER_FOUR_MONTHS = NOW + dt.timedelta(days=130)


@pytest.fixture
async def own(postgres: SharedPostgres) -> AsyncIterator[Database]:
    """A database whose tables may be dropped."""
    async with Database(DatabaseSettings(url=SecretStr(await postgres.migrated_database()))) as database:
        await tenant(database)
        yield database


async def pay(database: Database, key: str, at: dt.datetime) -> None:
    await PgAnswerCache(database).record(answered(key, RUN).model_copy(update={"at": at}), answer(key))


async def parts(database: Database, table: str) -> list[str]:
    rows = await database.fetch(
        "SELECT inhrelid::regclass::text AS name FROM pg_inherits WHERE inhparent = $1::text::regclass", table
    )
    return sorted(row["name"] for row in rows)


async def lies_in(database: Database, table: str) -> list[str]:
    return [row["part"] for row in await database.fetch(f"SELECT tableoid::regclass::text AS part FROM {table}")]  # noqa: S608


async def finished_job(queue: Queue, name: str = "a") -> None:
    await queue.add(job(name))
    lease = await queue.one()
    await queue.leases.record_run(lease, RUN, {})
    await pay(queue.database, f"key of {name}", dt.datetime.now(dt.UTC))
    await queue.leases.finish(lease, JobVerdict(state="done", run_id=RUN))


def month(time: dt.datetime) -> str:
    return f"{time:%Y_%m}"


async def test_this_month_and_three_more_have_their_place(own: Database) -> None:
    for table in ("ledger", "events"):
        places = await parts(own, table)
        assert len(places) == 5, places
        assert {f"{table}_other", f"{table}_before_{month(first_of_next(NOW))}"} < set(places)


def first_of_next(time: dt.datetime) -> dt.datetime:
    return (time.replace(day=1) + dt.timedelta(days=32)).replace(day=1)


async def test_rows_lie_in_their_month_and_are_found_together(own: Database) -> None:
    late = first_of_next(NOW) + dt.timedelta(days=3)
    await pay(own, "early", NOW)
    await pay(own, "late", late)

    assert await lies_in(own, "ledger") == [f"ledger_before_{month(first_of_next(NOW))}", f"ledger_{month(late)}"]
    assert [row.key for row in await PgLedger(own).rows(RUN)] == ["early", "late"]


async def test_call_that_is_stored_twice_counts_once(own: Database) -> None:
    await pay(Losing(own), "this month", NOW)
    await pay(Losing(own), "another", first_of_next(NOW))

    assert len(await PgLedger(own).rows(RUN)) == 2


async def test_row_outside_of_all_months_moves_into_its_own_when_that_is_made(own: Database) -> None:
    far = NOW + dt.timedelta(days=400)
    await pay(own, "far", far)
    assert await lies_in(own, "ledger") == ["ledger_other"]

    await own.fetch("SELECT add_month('ledger', $1::date)", far.replace(day=1).date())

    assert await lies_in(own, "ledger") == [f"ledger_{month(far)}"]
    assert [row.key for row in await PgLedger(own).rows(RUN)] == ["far"]


async def test_months_are_made_once_however_many_processes_make_them(own: Database) -> None:
    far = (NOW + dt.timedelta(days=400)).replace(day=1).date()

    made = await asyncio.gather(*(own.fetch_one("SELECT add_month('events', $1::date) AS made", far) for _ in range(6)))

    assert sorted(bool(one and one["made"]) for one in made) == [False] * 5 + [True]


async def test_events_and_calls_are_written_while_a_month_is_made(own: Database) -> None:
    queue, events = Queue(own), PgEvents(own)
    jobs = [job() for _ in range(8)]
    await queue.add(*jobs)
    far = (NOW + dt.timedelta(days=400)).replace(day=1).date()

    async def write(number: int) -> None:
        for _ in range(5):
            await events.append(jobs[number].id, "progress", {})
            await pay(own, f"{number}", dt.datetime.now(dt.UTC))

    async def make() -> None:
        for table in ("events", "ledger"):
            await own.fetch("SELECT add_month($1, $2::date)", table, far)

    await asyncio.gather(*(write(number) for number in range(8)), make())

    assert [len(await events.after(one.id, 0)) for one in jobs] == [6] * 8
    assert len(await PgLedger(own).rows(RUN)) == 40
    assert f"events_{far:%Y_%m}" in await parts(own, "events")


async def test_job_is_charged_and_erased_across_months(own: Database) -> None:
    queue = Queue(own)
    await queue.add(job("a"))
    lease = await queue.one()
    await queue.leases.record_run(lease, RUN, {})
    await pay(own, "now", dt.datetime.now(dt.UTC))
    await pay(own, "after the end of the month", first_of_next(NOW))

    await queue.leases.finish(lease, JobVerdict(state="done", run_id=RUN))

    done = await queue.jobs.get(ACME, lease.job)
    assert done is not None
    assert done.cost_usd == 0.5
    assert await queue.delete(lease.job)
    assert await own.fetch("SELECT FROM answers") == []
    assert await own.fetch("SELECT FROM events") == []
    assert len(await own.fetch("SELECT FROM ledger")) == 2


async def test_months_are_kept_for_ever_unless_told_otherwise(own: Database) -> None:
    await pay(own, "old", NOW)

    assert await PgMonths(own, RetentionSettings()).tend(NOW + dt.timedelta(days=10_000)) == []


async def test_old_months_are_dropped_whole(own: Database) -> None:
    await pay(own, "old", NOW)
    await pay(own, "new", AFTER_FOUR_MONTHS)
    old = f"ledger_before_{month(first_of_next(NOW))}"

    gone = await PgMonths(own, RetentionSettings(ledger_months=1)).tend(AFTER_FOUR_MONTHS)

    assert old in gone
    assert old not in await parts(own, "ledger")
    assert [row.key for row in await PgLedger(own).rows(RUN)] == ["new"]


async def test_month_before_the_current_one_is_still_there_with_one_month_of_retention(own: Database) -> None:
    gone = await PgMonths(own, RetentionSettings(ledger_months=1)).tend(first_of_next(NOW))

    assert gone == []


async def test_ledger_stays_while_jobs_of_its_time_may_be_erased(own: Database) -> None:
    queue, kept = Queue(own), PgMonths(own, RetentionSettings(ledger_months=1))
    await finished_job(queue)

    assert await kept.tend(AFTER_FOUR_MONTHS) == []
    assert await queue.delete(job("a").id)
    assert await own.fetch("SELECT FROM answers") == []

    assert len(await kept.tend(AFTER_FOUR_MONTHS)) > 0
    assert await own.fetch("SELECT FROM ledger") == []


async def test_events_of_ended_jobs_go_and_their_results_stay(own: Database) -> None:
    queue, kept = Queue(own), PgMonths(own, RetentionSettings(event_months=1))
    await finished_job(queue)

    assert len(await kept.tend(AFTER_FOUR_MONTHS)) > 0

    done = await queue.jobs.get(ACME, job("a").id)
    assert done is not None
    assert (done.state, done.cost_usd) == ("done", 0.25)
    assert await PgEvents(own).after(done.id, 0) == []


async def test_events_stay_while_a_job_of_their_time_goes_on(own: Database) -> None:
    queue, kept = Queue(own), PgMonths(own, RetentionSettings(event_months=1))
    await queue.add(job("waiting"))

    assert await kept.tend(AFTER_FOUR_MONTHS) == []
    assert len(await PgEvents(own).after(job("waiting").id, 0)) == 1


async def test_table_in_use_for_long_is_left_for_another_day(own: Database, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(months, "LOCK_SECONDS", 0.05)
    monkeypatch.setattr(migrator, "LOCK_SECONDS", 0.05)
    kept = PgMonths(own, RetentionSettings(ledger_months=1))

    async def meanwhile(connection: migrator.AnyConnection) -> list[str]:
        async with connection.transaction():
            await connection.fetch("SELECT FROM ledger")
            return await kept.tend(AFTER_FOUR_MONTHS)

    assert await own.run(meanwhile) == []
    assert len(await kept.tend(AFTER_FOUR_MONTHS)) > 0


async def test_rows_of_an_earlier_version_are_kept_as_they_are(empty_database_url: str) -> None:
    await tables_of("0028", empty_database_url)
    connection = await asyncpg.connect(empty_database_url)
    await connection.execute("""
        INSERT INTO tenants (id, name) VALUES ('acme', 'acme');
        INSERT INTO jobs (id, tenant, kind, priority, state, subject, request, run_id, started_at, last_event)
        VALUES ('a', 'acme', 'evaluation', 1, 'queued', '', '{}', 'ev_run', now() - interval '70 days', 2);
        INSERT INTO events (job, number, kind, data, at) VALUES ('a', 1, 'queued', '{}', now() - interval '70 days'),
                                                                ('a', 2, 'started', '{}', now());
        INSERT INTO ledger (id, run_id, key, task, version, model, prompt_tokens, completion_tokens, cost_usd,
                            latency_seconds, attempts, faults, cached, outcome, error, at)
        SELECT gen_random_uuid(), 'ev_run', 'key ' || n, 'task', 1, 'small', 100, 10, 0.25, 1, 1, '[]', false,
               'answered', '', now() - n * interval '30 days'
        FROM generate_series(0, 2) AS n;
        INSERT INTO answers (key, task, version, model, value, record, created_at)
        SELECT key, 'task', 1, 'small', '{}', '{}', at FROM ledger
    """)
    await connection.close()

    async with Database(DatabaseSettings(url=SecretStr(empty_database_url))) as database:
        await database.migrate()
        queue = Queue(database)
        assert [event.number for event in await PgEvents(database).after(job("a").id, 0)] == [1, 2]
        assert await PgEvents(database).append(job("a").id, "progress", {}) == 3
        await queue.jobs.cancel(ACME, job("a").id)
        ended = await queue.jobs.get(ACME, job("a").id)
        assert ended is not None
        assert ended.cost_usd == 0.75
        assert await queue.delete(ended.id)
        assert await database.fetch("SELECT FROM answers") == []
        assert await database.fetch("SELECT FROM events") == []
        await tables_of_before(database, empty_database_url)


async def tables_of_before(database: Database, url: str) -> None:
    """The way back keeps the rows."""
    before = await database.fetch("SELECT * FROM ledger ORDER BY id")
    await tables_of("0028", url, back=True)
    assert await database.fetch("SELECT * FROM ledger ORDER BY id") == before
    assert len(before) == 3


async def test_old_months_are_not_read_for_what_a_running_job_has_cost(own: Database) -> None:
    """A lease asks what its job has paid for: however many months there are, those before its start stay unread."""
    await finished_job(Queue(own))
    await own.execute("UPDATE jobs SET started_at = $1", first_of_next(AFTER_FOUR_MONTHS))
    plan = await own.fetch(
        "EXPLAIN (ANALYZE, TIMING OFF, COSTS OFF) SELECT (SELECT sum(cost_usd) FROM runs JOIN ledger USING (run_id) "
        "WHERE runs.job = jobs.id AND ledger.at >= jobs.started_at) FROM jobs"
    )

    before = [row[0] for row in plan if f"ledger_before_{month(first_of_next(NOW))} " in row[0]]
    assert before
    assert all("never executed" in line for line in before)
