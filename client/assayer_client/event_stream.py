"""A stream of events that is read across broken connections: what was seen, and whether to connect again."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import Generic, TypeVar

from httpx2 import ServerSentEvent
from pydantic import BaseModel, ValidationError

from assayer_client.errors import ServiceUnreachable
from assayer_client.retries import may_retry, pause
from assayer_client.settings import RetryPolicy

__all__ = ["EventReader", "EventStream"]

E = TypeVar("E", bound=BaseModel)


@dataclass(frozen=True)
class EventStream(Generic[E]):
    """Where events come from, what they are, and which is the last."""

    path: str
    kind: type[E]
    ends: Callable[[E], bool]
    numbered: bool = True
    """Whether each event has a number of its own, higher than that of the one before."""


class EventReader(Generic[E]):
    """Fed with what comes in; says what is new, and how long to pause when the stream broke."""

    def __init__(self, stream: EventStream[E], after: int, retries: RetryPolicy) -> None:
        """`after` is the number of the last event already seen; they grow along a stream."""
        self._stream = stream
        self._retries = retries
        self._failures = 0
        self._paused = 0.0
        self.last = after
        self.ended = False

    def take(self, heard: ServerSentEvent) -> E | None:
        """The event; None for one that was there before. Raises ServiceUnreachable for what is no event of ours."""
        number = int(heard.id) if heard.id.isascii() and heard.id.isdigit() else None
        if not heard.data or (self._stream.numbered and number is not None and number <= self.last):
            return None
        try:
            event = self._stream.kind.model_validate_json(heard.data)
        except ValidationError as error:
            raise ServiceUnreachable("An event of the stream cannot be read.", retryable=False) from error
        self.last = self.last if number is None else number
        self._failures, self._paused = 0, 0.0
        self.ended = self._stream.ends(event)
        return event

    def pause_after(self, error: Exception | None) -> float:
        """Seconds to pause before connecting again; None: the server closed the stream before its last event. Raises
        the error when it does not pass, or when nothing new has come for too long."""
        if error is not None and not may_retry(error):
            raise error
        self._failures += 1
        seconds = pause(self._retries, self._failures, error)
        self._paused += seconds
        if self._failures >= self._retries.attempts or self._paused > self._retries.seconds:
            raise error or ServiceUnreachable(
                f"The stream of events ended {self._failures} times before its last event.",
                "Ask for its state instead.",
                retryable=False,
            )
        return seconds
