"""Keeps an asynchronous context open in a process that is told to start and to stop in different tasks."""

import asyncio
from contextlib import AbstractAsyncContextManager
from typing import Any, Generic, Self, TypeVar

__all__ = ["Holding"]

T = TypeVar("T")


class Holding(Generic[T]):
    """Entered and left by one task, as task groups inside the context need it."""

    def __init__(self, context: AbstractAsyncContextManager[T]) -> None:
        self._opened: asyncio.Future[T] = asyncio.get_running_loop().create_future()
        self._stop = asyncio.Event()
        self._task = asyncio.create_task(self._live(context))

    @classmethod
    async def open(cls, context: AbstractAsyncContextManager[T]) -> Self:
        """Raises what entering the context raises."""
        holding = cls(context)
        either: set[asyncio.Future[Any]] = {holding._opened, holding._task}
        await asyncio.wait(either, return_when=asyncio.FIRST_COMPLETED)
        if not holding._opened.done():
            await holding._task
        return holding

    @property
    def value(self) -> T:
        return self._opened.result()

    @property
    def task(self) -> "asyncio.Task[None]":
        """Goes on for as long as the context is open."""
        return self._task

    async def close(self) -> None:
        """Leaves the context; raises what that raises."""
        self._stop.set()
        await self._task

    async def _live(self, context: AbstractAsyncContextManager[T]) -> None:
        async with context as value:
            self._opened.set_result(value)
            await self._stop.wait()
