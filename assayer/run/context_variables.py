"""What follows a run's asyncio tasks without being passed to them: ids for the log, and urgency.

A call to another process takes the urgency along: pools know neither runs nor jobs.
"""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

__all__ = ["Urgency", "current_log_context", "current_urgency", "is_urgent", "log_context", "urgency"]


_IDS: ContextVar[Mapping[str, str]] = ContextVar("ids", default=MappingProxyType({}))


@contextmanager
def log_context(**ids: str) -> Iterator[None]:
    """Whatever is logged within, by tasks that are started within as well, carries these ids beside those around."""
    token = _IDS.set({**_IDS.get(), **ids})
    try:
        yield
    finally:
        _IDS.reset(token)


def current_log_context() -> Mapping[str, str]:
    """The ids that a log record written now carries. Never texts."""
    return _IDS.get()


class Urgency:
    """Whether a person waits for the result of some work. It may rise while the work waits, when somebody joins who
    does."""

    def __init__(self, urgent: bool = False) -> None:
        self.urgent = urgent
        self._told: list[Callable[[], None]] = []

    def rise(self) -> None:
        if not self.urgent:
            self.urgent = True
            for told in tuple(self._told):
                told()

    @contextmanager
    def watched(self, told: Callable[[], None]) -> Iterator[None]:
        """Calls `told` if it rises within."""
        self._told.append(told)
        try:
            yield
        finally:
            self._told.remove(told)


_URGENCY: ContextVar[Urgency | None] = ContextVar("assayer_urgency", default=None)


def current_urgency() -> Urgency:
    """Of what is done now."""
    return _URGENCY.get() or Urgency()


def is_urgent() -> bool:
    """Whether a person waits for the result: wherever work queues, urgent work goes first."""
    return current_urgency().urgent


@contextmanager
def urgency(urgent: bool | Urgency) -> Iterator[None]:
    """Whether what is done within, and by tasks started within, goes before what nobody waits for."""
    token = _URGENCY.set(urgent if isinstance(urgent, Urgency) else Urgency(urgent))
    try:
        yield
    finally:
        _URGENCY.reset(token)
