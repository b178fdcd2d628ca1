"""LLM calls that are queued for a provider's batch API, and batches in flight, as they are stored."""

import datetime as dt
from typing import NamedTuple

from assayer.models.base import Frozen


class BatchCall(Frozen):
    """LLM request that can wait for a batch."""

    key: str
    """Digest of the complete request. Callers that make the same request share its answer."""
    run_id: str
    """Id of the run that made the request first."""
    model: str
    body: str
    """JSON body for the endpoint. Bodies begin with the text that all calls of a task have in common."""
    until: dt.datetime
    """Deadline after which the live endpoint is called instead."""


class OutgoingBatch(Frozen):
    """Batch of calls to one model, sent or about to be sent."""

    id: str
    """Id that assayer assigns to the batch. It is sent to the endpoint as metadata, so that the batch can be found
    there without the endpoint's id."""
    model: str
    created_at: dt.datetime
    until: dt.datetime
    """Earliest deadline of the calls in the batch."""
    remote_id: str = ""
    """Id assigned by the endpoint; empty until it is known."""
    cancelled_at: dt.datetime | None = None
    """Time at which the endpoint was asked to cancel the batch; None if it was not."""


class GatherRules(NamedTuple):
    """Limits that decide when a model's waiting calls are sent as a batch, and how large it is."""

    quiet_seconds: float
    """Seconds without a new call after which the waiting calls are sent."""
    longest_seconds: float
    """Maximum number of seconds that the first call waits before the batch is sent."""
    most_requests: int
    most_bytes: int
    """Maximum size of a batch file in bytes. A batch is sent as soon as it reaches this size or `most_requests`."""


class LineResult(NamedTuple):
    """Result of one call in a batch."""

    key: str
    answer: str | None
    """Body of the completion; None if there is none."""
    why: str = ""


class CollectedCall(NamedTuple):
    """Result of a call, returned to the waiting caller."""

    answer: str | None
    """Answer to the call; None if the caller must call the live endpoint instead."""
    why: str
