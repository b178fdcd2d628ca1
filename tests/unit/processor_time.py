"""A limit on the processor time of a test, and texts long enough to pass it.

On processor time, not on the clock, so that a busy machine changes nothing: what is linear takes a tenth of it, what is
quadratic would take minutes. Without garbage collection, whose time grows with what all other tests have left behind.
"""

import gc
import signal
from collections.abc import Iterator
from types import FrameType

import pytest

CHARACTERS = 50_000
SECONDS = 5


class TookTooLong(BaseException):
    """Error for too much processor time. Not an Exception, so that no handler catches it."""


@pytest.fixture(autouse=True)
def limited_processor_time() -> Iterator[None]:
    def stop(number: int, frame: FrameType | None) -> None:
        raise TookTooLong

    previous_handler = signal.signal(signal.SIGVTALRM, stop)
    gc.disable()
    signal.setitimer(signal.ITIMER_VIRTUAL, SECONDS)
    yield
    signal.setitimer(signal.ITIMER_VIRTUAL, 0)
    gc.enable()
    signal.signal(signal.SIGVTALRM, previous_handler)


def fill_text(unit: str, start: str = "", end: str = "", characters: int = CHARACTERS) -> str:
    return start + unit * (characters // len(unit)) + end
