"""Whether somebody waits for what is being done: wherever it queues it then passes what nobody waits for.

It goes with the task and the tasks that this begins, as pools know neither runs nor jobs; a call to another process
takes it along.
"""

from collections.abc import Iterator
from contextlib import contextmanager
from contextvars import ContextVar

__all__ = ["somebody_waits", "waiting"]

_WAITS: ContextVar[bool] = ContextVar("assayer_somebody_waits", default=False)


def somebody_waits() -> bool:
    return _WAITS.get()


@contextmanager
def waiting(somebody: bool) -> Iterator[None]:
    """Within it and within what is begun in it."""
    token = _WAITS.set(somebody)
    try:
        yield
    finally:
        _WAITS.reset(token)
