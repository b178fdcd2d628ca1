"""Reading event streams across lost connections: which events are new, and when to reconnect."""

from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Generic, TypeVar

from pydantic import BaseModel, ValidationError

from assayer_client.errors import ServiceUnreachable
from assayer_client.retries import compute_pause, may_retry
from assayer_client.settings import RetryPolicy

if TYPE_CHECKING:
    from httpx2 import ServerSentEvent

E = TypeVar("E", bound=BaseModel)


@dataclass(frozen=True)
class EventStream(Generic[E]):
    """Description of an event stream: its path, its event type, and a test for its last event."""

    path: str
    kind: type[E]
    ends: Callable[[E], bool]
    numbered: bool = True
    """Whether each event has a number of its own, higher than that of the previous event."""


class EventReader(Generic[E]):
    """Filter for a stream's events that passes only new ones, and that determines the delay before each
    reconnection."""

    def __init__(self, stream: EventStream[E], after: int, retries: RetryPolicy) -> None:
        """Create a reader; `after` is the number of the last event already seen. Numbers increase along a stream."""
        self._stream = stream
        self._retries = retries
        self._failures = 0
        self._paused = 0.0
        self.last = after
        self.ended = False

    def take(self, server_event: "ServerSentEvent") -> E | None:
        """Return the event, or None if it was already seen. Raises ServiceUnreachable if the data is not an event from
        the service."""
        number = int(server_event.id) if server_event.id.isascii() and server_event.id.isdigit() else None
        if not server_event.data or (self._stream.numbered and number is not None and number <= self.last):
            return None
        try:
            event = self._stream.kind.model_validate_json(server_event.data)
        except ValidationError as error:
            raise ServiceUnreachable("The service sent a malformed event.", retryable=False) from error
        self.last = self.last if number is None else number
        self._failures, self._paused = 0, 0.0
        self.ended = self._stream.ends(event)
        return event

    def compute_pause_after(self, error: Exception | None) -> float:
        """Return the seconds to wait before reconnecting; `error` is None if the server closed the stream before its
        last event. Raises the error if it is permanent, or if no new event has arrived for too long."""
        if error is not None and not may_retry(error):
            raise error
        self._failures += 1
        seconds = compute_pause(self._retries, self._failures, error)
        self._paused += seconds
        if self._failures >= self._retries.attempts or self._paused > self._retries.seconds:
            raise error or ServiceUnreachable(
                f"The event stream was interrupted {self._failures} times before its last event.",
                "Poll the state of the job or batch instead.",
                retryable=False,
            )
        return seconds
