"""Single-flight execution: if several callers request the same work at the same time, do it only once.

The work runs in a separate task, which is cancelled when its last waiter leaves, unless it is detached. Every waiter
receives the work's result or error."""

import asyncio
import copy
from collections.abc import Callable, Coroutine, Hashable, Iterator
from typing import Any, Generic, TypeVar

T = TypeVar("T")
Key = TypeVar("Key", bound=Hashable)


class Waiter(Generic[T]):
    """Caller that waits for a result, compared by identity. Subclasses hold more data about the caller."""

    def __init__(self) -> None:
        self.result: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self.call: InFlight[Any] | None = None
        """Call in flight for whose result the waiter waits."""
        self.has_joined = False
        """Whether the work was already in progress when this waiter joined."""
        self.is_first = False
        """Whether this waiter was first in line when the result arrived."""

    def refuse(self, error: Exception) -> None:
        """End this wait with an error. Other waiters continue."""
        if not self.result.done():
            self.result.set_exception(error)


AnyWaiter = TypeVar("AnyWaiter", bound=Waiter[Any])


class InFlight(Generic[AnyWaiter]):
    """Work in progress, and the waiters for its result. Compared by identity."""

    def __init__(self, key: Hashable) -> None:
        self.key = key
        self.is_detached = False
        """Whether the work continues after all waiters have left."""
        self.task: asyncio.Task[Any]
        self._waiters: dict[AnyWaiter, None] = {}

    def __iter__(self) -> Iterator[AnyWaiter]:
        """Iterate over the waiters in order of arrival."""
        return iter(tuple(self._waiters))

    def __len__(self) -> int:
        return len(self._waiters)

    def add(self, waiter: AnyWaiter) -> None:
        self._waiters[waiter] = None

    def remove(self, waiter: AnyWaiter) -> None:
        self._waiters.pop(waiter, None)

    def deliver(self, value: Any) -> None:
        waiters = [item for item in self if not item.result.done()]
        for waiter in waiters:
            waiter.is_first = waiter is waiters[0]
            waiter.result.set_result(value)

    def fail(self, error: Exception | None) -> None:
        """Fail the first waiter with the error and the others with copies of it, because raising an error adds a
        traceback to it. If the error is None, cancel all waiters instead."""
        for number, waiter in enumerate(self):
            if error is None:
                waiter.result.cancel()
            else:
                waiter.refuse(_copy_error(error) if number else error)


class SingleFlight(Generic[Key, AnyWaiter]):
    """Shares one execution of work among concurrent callers that request the same key. It belongs to one event loop."""

    def __init__(self) -> None:
        self._in_flight: dict[Hashable, InFlight[AnyWaiter]] = {}

    def __len__(self) -> int:
        return len(self._in_flight)

    def join(
        self, key: Key, waiter: AnyWaiter, work: Callable[[InFlight[AnyWaiter]], Coroutine[Any, Any, Any]]
    ) -> InFlight[AnyWaiter]:
        """Add a waiter, and start the work if it is not in progress. Every waiter must eventually call `leave`."""
        call = self._in_flight.get(key)
        waiter.has_joined = call is not None
        if call is None:
            call = self._in_flight[key] = InFlight(key)
            call.task = asyncio.get_running_loop().create_task(work(call))
            call.task.add_done_callback(lambda task: self._on_task_done(call, task))
        call.add(waiter)
        waiter.call = call
        return call

    def leave(self, waiter: AnyWaiter) -> "asyncio.Task[Any] | None":
        """Remove a waiter. When the last waiter leaves, the work is cancelled unless it is detached, and a later caller
        starts it again. Return the task if it was cancelled, otherwise None."""
        call = waiter.call
        if call is None:
            return None
        call.remove(waiter)
        if len(call) or call.is_detached or call.task.done():
            return None
        self._forget(call)
        call.task.cancel()
        return call.task

    async def aclose(self, error: Exception | None = None) -> None:
        """Cancel all work in progress. Waiters get a copy of the error or, if it is None, are cancelled."""
        calls = tuple(self._in_flight.values())
        for call in calls:
            self._forget(call)
            call.fail(error and _copy_error(error))
            call.task.cancel()
        await asyncio.gather(*(call.task for call in calls), return_exceptions=True)

    def _on_task_done(self, call: InFlight[AnyWaiter], task: "asyncio.Task[Any]") -> None:
        self._forget(call)
        error = None if task.cancelled() else task.exception()
        if task.cancelled() or (error is not None and not isinstance(error, Exception)):
            call.fail(None)
        elif error is not None:
            call.fail(error)
        else:
            call.deliver(task.result())

    def _forget(self, call: InFlight[Any]) -> None:
        if self._in_flight.get(call.key) is call:
            del self._in_flight[call.key]


def _copy_error(error: Exception) -> Exception:
    try:
        return copy.copy(error)
    except Exception:  # noqa: BLE001 - the error's constructor does not accept its `args`
        return error
