"""LLM calls queued for a batch, and batches in flight, as they are stored."""

import datetime as dt
from typing import NamedTuple

from assayer.models.base import Frozen


class BatchCall(Frozen):
    """LLM request that can wait for a batch."""

    key: str
    """Digest of the complete request; callers with the same request wait for the same answer."""
    run_id: str
    """Id of the run that made the request first."""
    model: str
    body: str
    """JSON body as the endpoint expects it. Bodies begin with the text that is common to all calls of a task."""
    until: dt.datetime
    """Deadline after which the live endpoint is called instead."""


class OutgoingBatch(Frozen):
    """Batch of calls to one model that was sent or is about to be sent."""

    id: str
    """Id that assayer assigns to the batch. It is written into the endpoint's record, so that the batch can be found
    there without the endpoint's id."""
    model: str
    created_at: dt.datetime
    until: dt.datetime
    """Earliest deadline of the calls in the batch."""
    remote_id: str = ""
    """Id assigned by the endpoint; empty until it is known."""
    cancelled_at: dt.datetime | None = None
    """Time at which cancellation was requested from the endpoint."""


class GatherRules(NamedTuple):
    """Rules for when the waiting calls of a model are sent as a batch, and for the batch size."""

    quiet_seconds: float
    """Seconds without a new call after which the waiting calls are sent."""
    longest_seconds: float
    """Maximum seconds that the first call waits before the batch is sent."""
    most_requests: int
    most_bytes: int
    """Maximum size of a batch file in bytes; a batch that reaches this limit or `most_requests` is sent."""


class LineResult(NamedTuple):
    """Result of one call in a batch."""

    key: str
    answer: str | None
    """Body of the completion; None if there is none."""
    why: str = ""


class CollectedCall(NamedTuple):
    """Result of a call, returned to the waiting caller."""

    answer: str | None
    """Answer to the call; None means that the live endpoint must be called."""
    why: str
