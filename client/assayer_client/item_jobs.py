"""Jobs of many items: their calls, and what both clients offer of each kind."""

import time
from collections.abc import AsyncIterator, Awaitable, Callable, Iterator
from dataclasses import dataclass
from typing import Generic, TypeVar

from pydantic import BaseModel

from assayer_client.event_stream import EventStream
from assayer_client.operations import AsyncRunner, Runner
from assayer_client.requests import ApiCall, path, reads, reads_nothing
from assayer_client.resources import TERMINAL, Event, JobState, Page, Resource
from assayer_client.retries import next_poll

__all__ = ["AsyncItemJobs", "ItemCalls", "ItemJobs", "ItemsPage"]

T = TypeVar("T")
Asked = TypeVar("Asked", bound=BaseModel)
Receipt = TypeVar("Receipt", bound=BaseModel)
Found = TypeVar("Found", bound=BaseModel)
Ended = TypeVar("Ended")

_HELD_SECONDS = 20.0
"""For which the service is asked to hold an answer that has nothing new."""
_AT_ONCE = 1_000


class ItemsPage(Resource, Generic[Ended]):
    """Outcomes in the order in which they came."""

    items: tuple[Ended, ...]
    last: int
    """Give it as `after` to read on."""
    state: JobState

    @property
    def is_last(self) -> bool:
        return self.state in TERMINAL and not self.items


@dataclass(frozen=True)
class ItemCalls(Generic[Asked, Receipt, Found, Ended]):
    """Of one kind."""

    where: str
    """In the path: `rewards`."""
    receipt: type[Receipt]
    found: type[Found]
    page: type[ItemsPage[Ended]]

    def submit(self, body: Asked, key: str | None) -> ApiCall[Receipt]:
        return ApiCall("POST", path(self.where), reads(self.receipt), body=body, key=key)

    def get(self, job: str) -> ApiCall[Found]:
        return ApiCall("GET", path(self.where, job), reads(self.found))

    def items(self, job: str, after: int, limit: int, seconds: float) -> ApiCall[ItemsPage[Ended]]:
        query = {"after": after, "limit": limit}
        headers = {"Prefer": f"wait={seconds:g}"} if seconds else {}
        where = path(self.where, job, "items")
        return ApiCall("GET", where, reads(self.page), query=query, headers=headers, seconds=seconds)

    def list(self, after: str | None, limit: int) -> ApiCall[Page[Found]]:
        page = Page.__class_getitem__(self.found)
        return ApiCall("GET", path(self.where), reads(page), query={"after": after, "limit": limit})

    def cancel(self, job: str) -> ApiCall[Found]:
        return ApiCall("DELETE", path(self.where, job), reads(self.found))

    def erase(self, job: str) -> ApiCall[None]:
        return ApiCall("DELETE", path(self.where, job), reads_nothing, query={"erase": "true"})

    def events(self, job: str) -> EventStream[Event]:
        return EventStream(path(self.where, job, "events"), Event, lambda event: event.kind in TERMINAL)


class ItemJobs(Generic[Asked, Receipt, Found, Ended]):
    """Of a client for programs that wait. Every method raises ApiProblem and ServiceUnreachable."""

    def __init__(
        self,
        calls: ItemCalls[Asked, Receipt, Found, Ended],
        runner: Runner,
        follow: Callable[[EventStream[Event], int], Iterator[Event]],
        sleep: Callable[[float], None],
    ) -> None:
        self._calls = calls
        self._runner = runner
        self._follow = follow
        self._sleep = sleep

    def run(self, call: ApiCall[T]) -> T:
        return self._runner.run(call)

    def submit(self, body: Asked, *, key: str | None = None) -> Receipt:
        """Asks for all items; with the same `key` once, however often it is sent."""
        return self.run(self._calls.submit(body, key))

    def get(self, job: str) -> Found:
        """Where they stand, with the outcomes that are there so far."""
        return self.run(self._calls.get(job))

    def items(self, job: str, *, after: int = 0, limit: int = 100, seconds: float = 0.0) -> ItemsPage[Ended]:
        """Outcomes in the order in which they came; with `seconds`, waits so long for the next one."""
        return self.run(self._calls.items(job, after, limit, seconds))

    def outcomes(self, job: str, *, after: int = 0, seconds: float | None = None) -> Iterator[Ended]:
        """As they come, until all have. Raises TimeoutError."""
        began = time.monotonic()
        while True:
            page = self.run(self._calls.items(job, after, _AT_ONCE, _HELD_SECONDS))
            yield from page.items
            after = page.last
            if page.is_last:
                return
            if not page.items:
                self._sleep(next_poll(time.monotonic() - began, seconds, job))

    def wait(self, job: str, *, seconds: float | None = None) -> Found:
        """All outcomes, in the order of the items. Raises TimeoutError: the work goes on."""
        for _ in self.outcomes(job, seconds=seconds):
            continue
        return self.get(job)

    def list(self, *, after: str | None = None, limit: int = 50) -> Page[Found]:
        """One's own, the newest first, without their items."""
        return self.run(self._calls.list(after, limit))

    def cancel(self, job: str) -> Found:
        return self.run(self._calls.cancel(job))

    def erase(self, job: str) -> None:
        """With all that belongs to it; needs the scope `manage`."""
        self.run(self._calls.erase(job))

    def events(self, job: str) -> Iterator[Event]:
        """As they happen, to the verdict; goes on by itself when the connection breaks."""
        return self._follow(self._calls.events(job), 0)


class AsyncItemJobs(Generic[Asked, Receipt, Found, Ended]):
    """ItemJobs, to be awaited: the same methods with the same parameters and errors."""

    def __init__(
        self,
        calls: ItemCalls[Asked, Receipt, Found, Ended],
        runner: AsyncRunner,
        follow: Callable[[EventStream[Event], int], AsyncIterator[Event]],
        sleep: Callable[[float], Awaitable[None]],
    ) -> None:
        self._calls = calls
        self._runner = runner
        self._follow = follow
        self._sleep = sleep

    async def run(self, call: ApiCall[T]) -> T:
        return await self._runner.run(call)

    async def submit(self, body: Asked, *, key: str | None = None) -> Receipt:
        """Asks for all items; with the same `key` once, however often it is sent."""
        return await self.run(self._calls.submit(body, key))

    async def get(self, job: str) -> Found:
        """Where they stand, with the outcomes that are there so far."""
        return await self.run(self._calls.get(job))

    async def items(self, job: str, *, after: int = 0, limit: int = 100, seconds: float = 0.0) -> ItemsPage[Ended]:
        """Outcomes in the order in which they came; with `seconds`, waits so long for the next one."""
        return await self.run(self._calls.items(job, after, limit, seconds))

    async def outcomes(self, job: str, *, after: int = 0, seconds: float | None = None) -> AsyncIterator[Ended]:
        """As they come, until all have. Raises TimeoutError."""
        began = time.monotonic()
        while True:
            page = await self.run(self._calls.items(job, after, _AT_ONCE, _HELD_SECONDS))
            for outcome in page.items:
                yield outcome
            after = page.last
            if page.is_last:
                return
            if not page.items:
                await self._sleep(next_poll(time.monotonic() - began, seconds, job))

    async def wait(self, job: str, *, seconds: float | None = None) -> Found:
        """All outcomes, in the order of the items. Raises TimeoutError: the work goes on."""
        async for _ in self.outcomes(job, seconds=seconds):
            continue
        return await self.get(job)

    async def list(self, *, after: str | None = None, limit: int = 50) -> Page[Found]:
        """One's own, the newest first, without their items."""
        return await self.run(self._calls.list(after, limit))

    async def cancel(self, job: str) -> Found:
        return await self.run(self._calls.cancel(job))

    async def erase(self, job: str) -> None:
        """With all that belongs to it; needs the scope `manage`."""
        await self.run(self._calls.erase(job))

    def events(self, job: str) -> AsyncIterator[Event]:
        """As they happen, to the verdict; goes on by itself when the connection breaks."""
        return self._follow(self._calls.events(job), 0)
