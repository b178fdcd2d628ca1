"""Context variables for a run's asyncio tasks: ids for the log, and urgency.

Calls to other processes pass the urgency along, because process pools know nothing about runs or jobs."""

from collections.abc import Callable, Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

_IDS: ContextVar[Mapping[str, str]] = ContextVar("ids", default=MappingProxyType({}))


@contextmanager
def log_context(**ids: str) -> Iterator[None]:
    """Add ids to everything logged in this context and in tasks started within it, on top of the ids from enclosing
    contexts."""
    token = _IDS.set({**_IDS.get(), **ids})
    try:
        yield
    finally:
        _IDS.reset(token)


def get_log_context() -> Mapping[str, str]:
    """Return the ids that are added to log records in this context; they never contain text from documents."""
    return _IDS.get()


class Urgency:
    """Whether a person is waiting for the result of some work. Queued work becomes urgent when a person starts to wait
    for it."""

    def __init__(self, urgent: bool = False) -> None:
        self.urgent = urgent
        self._listeners: list[Callable[[], None]] = []

    def make_urgent(self) -> None:
        if not self.urgent:
            self.urgent = True
            for listener in tuple(self._listeners):
                listener()

    @contextmanager
    def watch(self, listener: Callable[[], None]) -> Iterator[None]:
        """Call `listener` if the work becomes urgent inside this context."""
        self._listeners.append(listener)
        try:
            yield
        finally:
            self._listeners.remove(listener)


_URGENCY: ContextVar[Urgency | None] = ContextVar("assayer_urgency", default=None)


def get_urgency() -> Urgency:
    return _URGENCY.get() or Urgency()


def is_urgent() -> bool:
    """Return whether a person is waiting for the current work. Urgent work goes first in every queue."""
    return get_urgency().urgent


@contextmanager
def urgency(urgent: bool | Urgency) -> Iterator[None]:
    """Set the urgency of work in this context and in tasks started within it. Urgent work takes priority over work that
    nobody is waiting for."""
    token = _URGENCY.set(urgent if isinstance(urgent, Urgency) else Urgency(urgent))
    try:
        yield
    finally:
        _URGENCY.reset(token)
