"""Waiting for what other processes do: they are asked again and again until a condition holds, with a deadline."""

import asyncio
from collections.abc import Awaitable, Callable
from typing import TypeVar

from tenacity import AsyncRetrying, RetryError, Retrying, retry_if_result, stop_after_delay, wait_fixed

T = TypeVar("T")
LONGEST_SECONDS = 400.0
"""Ends a test that hangs; says nothing about how quick anything is, as machines are shared."""


def wait_until(
    ask: Callable[[], T],
    holds: Callable[[T], bool] = bool,
    seconds: float = LONGEST_SECONDS,
    interval: float = 0.05,
) -> T:
    """Return the first answer that holds. Raises AssertionError, with the last answer, if none does in time."""
    retry = Retrying(
        retry=retry_if_result(lambda answer: not holds(answer)),
        wait=wait_fixed(interval),
        stop=stop_after_delay(seconds),
    )
    try:
        return retry(ask)
    except RetryError as error:
        raise AssertionError(_describe_timeout(error, seconds)) from None


async def wait_until_async(
    ask: Callable[[], Awaitable[T]],
    holds: Callable[[T], bool] = bool,
    seconds: float = LONGEST_SECONDS,
    interval: float = 0.05,
) -> T:
    """Wait like `wait_until`, without blocking the event loop."""

    async def ask_once() -> T:
        return await ask()

    retry = AsyncRetrying(
        retry=retry_if_result(lambda answer: not holds(answer)),
        wait=wait_fixed(interval),
        stop=stop_after_delay(seconds),
    )
    try:
        return await retry(ask_once)
    except RetryError as error:
        raise AssertionError(_describe_timeout(error, seconds)) from None


async def let_tasks_run(count: int = 20) -> None:
    """Let the other tasks of the event loop run, `count` times."""
    for _ in range(count):
        await asyncio.sleep(0)


def _describe_timeout(error: RetryError, seconds: float) -> str:
    return f"After {seconds:g} s it is still {error.last_attempt.result()!r}."
