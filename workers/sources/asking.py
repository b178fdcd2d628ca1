"""Asks a source and reads what it says; what cannot be read is asked for once more."""

import datetime as dt
from collections.abc import Callable
from dataclasses import replace
from typing import TypeVar

from assayer.errors import SourceMalformed
from workers.remote.call import Ask, Call, Remote, Reply

__all__ = ["ask_for"]

T = TypeVar("T")

_ANEW = dt.timedelta(microseconds=1)
"""No stored answer is as fresh as that."""


async def ask_for(remote: Remote, call: Call, ask: Ask, read: Callable[[Reply], T]) -> T:
    """What `read` makes of the answer. Raises SourceError; SourceMalformed when the second answer is no better.

    The second one takes the first one's place in the shared cache, so that nobody is served the unreadable one for
    as long as an answer lives.
    """
    try:
        return read(await remote.fetch(call, ask))
    except SourceMalformed:
        return read(await remote.fetch(replace(call, lifetime=_ANEW), ask))
