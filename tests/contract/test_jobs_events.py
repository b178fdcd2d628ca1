"""Events without gaps, and hearing of them at once, whatever happens to the connection."""

import asyncio

from orchestrator.store import (
    NotificationListener,
    NotificationsMissed,
    PgEvents,
    Subscription,
)
from tests.contract.store_jobs import ACME, DONE, Losing, Queue, build_job

SECONDS = 20
A = build_job("a").id


async def read_next(notifications: Subscription) -> str | NotificationsMissed:
    """The next that is told, within a time that is long."""
    notification = await notifications.next(SECONDS)
    assert notification is not None
    return notification


async def wait_until_connected(listener: NotificationListener) -> None:
    """Wait until the listener is connected.

    An early subscriber is notified that it may have missed something as soon as there is a connection."""
    async with listener.subscribe("assayer_jobs") as notifications:
        await read_next(notifications)


async def read_until(notifications: Subscription, last: str) -> list[str | NotificationsMissed]:
    notifications_read: list[str | NotificationsMissed] = []
    while last not in notifications_read:
        notifications_read.append(await read_next(notifications))
    return notifications_read


async def test_events_of_many_writers_are_numbered_without_gaps(queue: Queue) -> None:
    await queue.add(build_job("a"))
    events = PgEvents(queue.database)

    numbers = await asyncio.gather(*(events.append(A, "progress", {"step": step}) for step in range(40)))

    assert sorted(number or 0 for number in numbers) == list(range(2, 42))
    later_events = await events.list_after(A, 1, 100)
    assert [event.number for event in later_events] == list(range(2, 42))
    assert sorted(event.data["step"] for event in later_events) == list(range(40))
    assert [event.number for event in await events.list_after(A, 30, 3)] == [31, 32, 33]


async def test_event_is_stored_once_after_lost_response(queue: Queue) -> None:
    await queue.add(build_job("a"))

    assert await PgEvents(Losing(queue.database)).append(A, "progress", {}) == 2

    assert [event.kind for event in await PgEvents(queue.database).list_after(A, 0)] == ["queued", "progress"]


async def test_events_after_a_verdict_are_rejected(queue: Queue) -> None:
    await queue.add(build_job("a"))
    events = PgEvents(queue.database)
    await queue.leases.finish(await queue.acquire_lease(), DONE)

    assert await events.append(A, "progress", {"late": True}) is None

    assert [event.kind for event in await events.list_after(A, 0)] == ["queued", "started", "succeeded"]


async def test_nul_characters_in_event_text_are_replaced(queue: Queue) -> None:
    await queue.add(build_job("a"))
    await PgEvents(queue.database).append(A, "progress", {"text": "a\0b"})

    (event,) = await PgEvents(queue.database).list_after(A, 1)
    assert event.data == {"text": "a\ufffdb"}


async def test_listener_reports_job_changes(queue: Queue) -> None:
    async with NotificationListener(queue.database) as listener:
        await wait_until_connected(listener)
        async with listener.subscribe("assayer_jobs") as jobs, listener.subscribe("assayer_events", only="b") as events:
            await queue.add(build_job("a"), build_job("b"))
            first, second = await queue.acquire_leases(2)
            await queue.leases.finish(first, DONE)
            await queue.jobs.cancel(ACME, second.job)

            received = await read_until(jobs, "cancelled b")
            of_b = [await read_next(events), await read_next(events)]

    assert received[-3:] == ["queued", "finished a", "cancelled b"]
    assert of_b == ["b", "b"]  # its lease and its end


async def test_filtered_listener_receives_only_its_payload(queue: Queue) -> None:
    async with NotificationListener(queue.database) as listener:
        await wait_until_connected(listener)
        async with listener.subscribe("assayer_jobs", only="cancelled b") as notifications:
            await queue.add(build_job("a"), build_job("b"))
            await queue.jobs.cancel(ACME, A)
            await queue.jobs.cancel(ACME, build_job("b").id)

            assert await read_next(notifications) == "cancelled b"
            assert await notifications.next(0) is None


async def test_next_returns_none_when_nothing_arrives(queue: Queue) -> None:
    async with NotificationListener(queue.database) as listener:
        await wait_until_connected(listener)
        async with listener.subscribe("assayer_events", only="nothing") as notifications:
            assert await notifications.next(0.01) is None


async def test_slow_subscriber_is_notified_of_missed_notifications() -> None:
    notifications = Subscription()
    for number in range(5_000):
        notifications.put(str(number))

    assert isinstance(await notifications.next(0), NotificationsMissed)
    remaining = [await notifications.next(0) for _ in range(2_000)]
    assert remaining.index(None) < 1_000


async def test_lost_connection_is_reported_and_later_events_arrive(queue: Queue) -> None:
    async with NotificationListener(queue.database) as listener:
        await wait_until_connected(listener)
        async with listener.subscribe("assayer_jobs") as notifications:
            await queue.database.execute(
                "SELECT pg_terminate_backend(pid) FROM pg_stat_activity "
                "WHERE datname = current_database() AND pid <> pg_backend_pid() AND query LIKE 'LISTEN%'"
            )
            assert isinstance(await read_next(notifications), NotificationsMissed)

            await queue.add(build_job("a"))
            assert "queued" in await read_until(notifications, "queued")
