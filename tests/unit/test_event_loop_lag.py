"""The lag of the event loop is seen and told."""

import asyncio
import logging
import time

from orchestrator.event_loop_lag import LAG, watch_event_loop


class RecordingHandler(logging.Handler):
    """Handler that records the first line logged."""

    def __init__(self) -> None:
        super().__init__()
        self.line: asyncio.Future[str] = asyncio.get_running_loop().create_future()

    def emit(self, record: logging.LogRecord) -> None:
        if not self.line.done():
            self.line.set_result(record.getMessage())


def count_lags_above_a_second() -> float:
    counts = {
        sample.labels.get("le", sample.name): sample.value for family in LAG.collect() for sample in family.samples
    }
    return counts["+Inf"] - counts["1.0"]


async def test_blocked_event_loop_is_measured_and_logged() -> None:
    before, handler, log = (
        count_lags_above_a_second(),
        RecordingHandler(),
        logging.getLogger("orchestrator.event_loop_lag"),
    )
    log.addHandler(handler)
    watching = asyncio.create_task(watch_event_loop())
    asyncio.get_running_loop().call_later(0.01, time.sleep, 1.4)
    async with asyncio.timeout(30):
        line = await handler.line
    watching.cancel()
    log.removeHandler(handler)
    assert line.startswith("the event loop was blocked for ")
    assert count_lags_above_a_second() > before
