"""Polling for conditions that nothing reports."""

from collections.abc import Awaitable, Callable

from tenacity import AsyncRetrying, RetryError, retry_if_result, stop_after_delay, wait_fixed


async def wait_until(condition: Callable[[], Awaitable[object]], seconds: float, pause: float) -> None:
    """Wait until `condition` returns something true. Raises TimeoutError if it does not in time."""
    retrying = AsyncRetrying(
        retry=retry_if_result(lambda result: not result), wait=wait_fixed(pause), stop=stop_after_delay(seconds)
    )
    try:
        await retrying(condition)
    except RetryError:
        raise TimeoutError(f"The condition was not met within {seconds:g} s.") from None
