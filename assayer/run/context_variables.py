"""What follows a run's asyncio tasks without being passed to them: ids for the log, and urgency.

A call to another process takes the urgency along: pools know neither runs nor jobs.
"""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

__all__ = ["current_log_context", "is_urgent", "log_context", "urgency"]


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


_URGENT: ContextVar[bool] = ContextVar("assayer_urgent", default=False)


def is_urgent() -> bool:
    """Whether a person waits for the result: wherever work queues, urgent work goes first."""
    return _URGENT.get()


@contextmanager
def urgency(urgent: bool) -> Iterator[None]:
    """Whether what is done within, and by tasks started within, goes before what nobody waits for."""
    token = _URGENT.set(urgent)
    try:
        yield
    finally:
        _URGENT.reset(token)
