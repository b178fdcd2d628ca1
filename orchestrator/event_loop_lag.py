"""Measurement of the event loop's lag. A task that blocks the event loop delays all requests and heartbeats."""

import asyncio
import logging

from prometheus_client import Histogram

_LOG = logging.getLogger(__name__)
_INTERVAL_SECONDS = 0.25
_WARNING_SECONDS = 1.0

LAG = Histogram(
    "assayer_event_loop_lag_seconds",
    "Delay of a task that is scheduled every 0.25 s.",
    buckets=(0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10),
)


async def watch_event_loop() -> None:
    """Measure the event loop's lag until cancelled. Lags of a second or more are also logged."""
    loop = asyncio.get_running_loop()
    while True:
        due_at = loop.time() + _INTERVAL_SECONDS
        await asyncio.sleep(_INTERVAL_SECONDS)
        lag = max(0.0, loop.time() - due_at)
        LAG.observe(lag)
        if lag >= _WARNING_SECONDS:
            _LOG.warning("the event loop was blocked for %.1f s", lag)
