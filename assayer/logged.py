"""What lines of the log say about whose work they come from: ids, never texts."""

from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from contextvars import ContextVar
from types import MappingProxyType

__all__ = ["logged", "now_logged"]

_IDS: ContextVar[Mapping[str, str]] = ContextVar("ids", default=MappingProxyType({}))


@contextmanager
def logged(**ids: str) -> Iterator[None]:
    """Whatever is logged within, by tasks that are started within as well, carries these ids beside those around."""
    token = _IDS.set({**_IDS.get(), **ids})
    try:
        yield
    finally:
        _IDS.reset(token)


def now_logged() -> Mapping[str, str]:
    return _IDS.get()
