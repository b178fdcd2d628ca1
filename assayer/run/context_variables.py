"""Context variables of a run's asyncio tasks: ids for the log, and urgency.

Calls to other processes pass the urgency on, because process pools have no information about runs or jobs."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_IDS: ContextVar[Mapping[str, str]] = ContextVar("ids", default=MappingProxyType({}))


@contextmanager
def log_context(**ids: str) -> Iterator[None]:
    """Add ids to everything logged in this context and in tasks started in it, in addition to the ids of enclosing
    contexts."""
    token = _IDS.set({**_IDS.get(), **ids})
    try:
        yield
    finally:
        _IDS.reset(token)


def current_log_context() -> Mapping[str, str]:
    """Return the ids that a log record written now would have; they never contain texts."""
    return _IDS.get()


class Urgency:
    """Urgency of some work: whether a person is waiting for its result. Queued work can become urgent when a person
    starts to wait for it as well."""

    def __init__(self, urgent: bool = False) -> None:
        self.urgent = urgent
        self._listeners: list[Callable[[], None]] = []

    def rise(self) -> None:
        if not self.urgent:
            self.urgent = True
            for listener in tuple(self._listeners):
                listener()

    @contextmanager
    def watched(self, listener: Callable[[], None]) -> Iterator[None]:
        """Call `listener` if the work becomes urgent within this context."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)


_URGENCY: ContextVar[Urgency | None] = ContextVar("assayer_urgency", default=None)


def current_urgency() -> Urgency:
    """Return the urgency of the current work."""
    return _URGENCY.get() or Urgency()


def is_urgent() -> bool:
    """Return whether a person is waiting for the result; urgent work goes first in every queue."""
    return current_urgency().urgent


@contextmanager
def urgency(urgent: bool | Urgency) -> Iterator[None]:
    """Set whether work in this context, and in tasks started in it, takes priority over work that no person is waiting
    for."""
    token = _URGENCY.set(urgent if isinstance(urgent, Urgency) else Urgency(urgent))
    try:
        yield
    finally:
        _URGENCY.reset(token)
