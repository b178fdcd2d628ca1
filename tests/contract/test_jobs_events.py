"""Events without gaps, and hearing of them at once, whatever happens to the connection."""

import asyncio
import os
import signal
import tempfile
from pathlib import Path

from cluster.postgres import EmbeddedPostgres, postmaster
from orchestrator.jobs.models import JobVerdict
from orchestrator.store import (
    Database,
    DatabaseSettings,
    NotificationListener,
    NotificationsMissed,
    PgEvents,
    Subscription,
)
from tests.contract.store_jobs import ACME, DONE, Losing, Queue, job, tenant

SECONDS = 20
A = job("a").id


async def heard(notifications: Subscription) -> str | NotificationsMissed:
    """The next that is told, within a time that is long."""
    said = await notifications.next(SECONDS)
    assert said is not None
    return said


async def connected(listener: NotificationListener) -> None:
    """Wait until the listener is connected.

    An early subscriber is notified that it may have missed something as soon as there is a connection."""
    async with listener.subscribe("assayer_jobs") as notifications:
        await heard(notifications)


async def drained(notifications: Subscription, last: str) -> list[str | NotificationsMissed]:
    said: list[str | NotificationsMissed] = []
    while last not in said:
        said.append(await heard(notifications))
    return said


async def test_events_of_many_writers_are_numbered_without_gaps(queue: Queue) -> None:
    await queue.add(job("a"))
    events = PgEvents(queue.database)

    numbers = await asyncio.gather(*(events.append(A, "progress", {"step": step}) for step in range(40)))

    assert sorted(number or 0 for number in numbers) == list(range(2, 42))
    told = await events.after(A, 1, 100)
    assert [event.number for event in told] == list(range(2, 42))
    assert sorted(event.data["step"] for event in told) == list(range(40))
    assert [event.number for event in await events.after(A, 30, 3)] == [31, 32, 33]


async def test_event_whose_answer_was_lost_is_there_once(queue: Queue) -> None:
    await queue.add(job("a"))

    assert await PgEvents(Losing(queue.database)).append(A, "progress", {}) == 2

    assert [event.kind for event in await PgEvents(queue.database).after(A, 0)] == ["queued", "progress"]


async def test_nothing_follows_a_verdict(queue: Queue) -> None:
    await queue.add(job("a"))
    events = PgEvents(queue.database)
    await queue.leases.finish(await queue.one(), DONE)

    assert await events.append(A, "progress", {"late": True}) is None

    assert [event.kind for event in await events.after(A, 0)] == ["queued", "started", "succeeded"]


async def test_text_with_nul_is_kept_with_a_replacement(queue: Queue) -> None:
    await queue.add(job("a"))
    await PgEvents(queue.database).append(A, "progress", {"text": "a\0b"})

    (event,) = await PgEvents(queue.database).after(A, 1)
    assert event.data == {"text": "a\ufffdb"}


async def test_listener_tells_what_happens_to_jobs(queue: Queue) -> None:
    async with NotificationListener(queue.database) as listener:
        await connected(listener)
        async with listener.subscribe("assayer_jobs") as jobs, listener.subscribe("assayer_events", only="b") as events:
            await queue.add(job("a"), job("b"))
            first, second = await queue.lease(2)
            await queue.leases.finish(first, DONE)
            await queue.jobs.cancel(ACME, second.job)

            said = await drained(jobs, "cancelled b")
            of_b = [await heard(events), await heard(events)]

    assert said[-3:] == ["queued", "finished a", "cancelled b"]
    assert of_b == ["b", "b"]  # its lease and its end


async def test_listener_for_one_payload_hears_no_other(queue: Queue) -> None:
    async with NotificationListener(queue.database) as listener:
        await connected(listener)
        async with listener.subscribe("assayer_jobs", only="cancelled b") as notifications:
            await queue.add(job("a"), job("b"))
            await queue.jobs.cancel(ACME, A)
            await queue.jobs.cancel(ACME, job("b").id)

            assert await heard(notifications) == "cancelled b"
            assert await notifications.next(0) is None


async def test_next_with_nothing_to_hear_is_none(queue: Queue) -> None:
    async with NotificationListener(queue.database) as listener:
        await connected(listener)
        async with listener.subscribe("assayer_events", only="nothing") as notifications:
            assert await notifications.next(0.01) is None


async def test_reader_that_is_too_slow_is_told_to_look_for_itself() -> None:
    notifications = Subscription()
    for number in range(5_000):
        notifications.put(str(number))

    assert isinstance(await notifications.next(0), NotificationsMissed)
    rest = [await notifications.next(0) for _ in range(2_000)]
    assert rest.index(None) < 1_000


async def test_connection_lost_is_told_and_later_events_are_heard(queue: Queue) -> None:
    async with NotificationListener(queue.database) as listener:
        await connected(listener)
        async with listener.subscribe("assayer_jobs") as notifications:
            await queue.database.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE 'LISTEN%'"
            )
            assert isinstance(await heard(notifications), NotificationsMissed)

            await queue.add(job("a"))
            assert "queued" in await drained(notifications, "queued")


async def test_server_killed_under_the_queue_loses_and_doubles_nothing() -> None:
    """Writers, workers and a listener at work while the server is killed twice."""
    names = [f"j{number:03}" for number in range(150)]
    with tempfile.TemporaryDirectory(prefix="assayer-pg-") as folder:
        home = Path(folder) / "postgres"
        async with (
            EmbeddedPostgres(home, durable=False) as server,
            Database(DatabaseSettings(), server.ensure) as database,
            NotificationListener(database) as listener,
        ):
            await database.migrate()
            await tenant(database)
            queue = Queue(database)
            finished = await _work_through_kills(queue, listener, home, names)

            done = await queue.jobs.list(ACME, state="succeeded", limit=1_000)
            assert sorted(item.id for item in done) == sorted(finished) == names
            assert {item.attempt for item in done} == {1}
            told = await database.fetch("SELECT job, array_agg(kind ORDER BY number) AS kinds FROM events GROUP BY job")
            assert {tuple(row["kinds"]) for row in told} == {("queued", "started", "succeeded")}
            spent = await database.fetch_one("SELECT sum(usd) AS usd FROM spending")
            assert spent is not None
            assert spent["usd"] == len(names)


async def _work_through_kills(queue: Queue, listener: NotificationListener, home: Path, names: list[str]) -> list[str]:
    finished: list[str] = []
    missed = 0

    def kill() -> None:
        server = postmaster.find(home / "pgdata")
        assert server is not None
        os.kill(server.pid, signal.SIGKILL)

    async def submit() -> None:
        for name in names:
            await queue.add(job(name))

    async def work() -> None:
        nonlocal missed
        async with listener.subscribe("assayer_jobs") as notifications:
            while len(finished) < len(names):
                for lease in await queue.lease(4):
                    await queue.leases.renew([lease.token])
                    assert await queue.leases.finish(lease, JobVerdict(state="succeeded", cost_usd=1.0))
                    finished.append(lease.job)
                    if len(finished) in (30, 90):
                        kill()
                missed += isinstance(await notifications.next(0.05), NotificationsMissed)

    await asyncio.gather(submit(), work(), work(), work())
    assert missed
    return finished
