"""Looking again and again from outside, where nobody tells."""

from collections.abc import Awaitable, Callable

from tenacity import AsyncRetrying, RetryError, retry_if_result, stop_after_delay, wait_fixed


async def until(holds: Callable[[], Awaitable[object]], seconds: float, pause: float) -> None:
    """Raises TimeoutError when it does not hold in time."""
    looking = AsyncRetrying(
        retry=retry_if_result(lambda found: not found), wait=wait_fixed(pause), stop=stop_after_delay(seconds)
    )
    try:
        await looking(holds)
    except RetryError:
        raise TimeoutError(f"Not within {seconds:g} s.") from None
