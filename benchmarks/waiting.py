"""Polling for conditions that nothing reports."""

from collections.abc import Awaitable, Callable

from tenacity import AsyncRetrying, RetryError, retry_if_result, stop_after_delay, wait_fixed


async def until(holds: Callable[[], Awaitable[object]], seconds: float, pause: float) -> None:
    """Wait until `holds` returns something true. Raises TimeoutError if it does not in time."""
    looking = AsyncRetrying(
        retry=retry_if_result(lambda found: not found), wait=wait_fixed(pause), stop=stop_after_delay(seconds)
    )
    try:
        await looking(holds)
    except RetryError:
        raise TimeoutError(f"The condition was not met within {seconds:g} s.") from None
