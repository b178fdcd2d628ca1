"""Calls of language models that wait for a file of many calls, and the files that are out: as a store keeps them."""

import datetime as dt
from typing import NamedTuple

from assayer.models.base import Frozen

__all__ = ["BatchCall", "CollectedCall", "GatherRules", "LineResult", "OutgoingBatch"]


class BatchCall(Frozen):
    """One request that may wait."""

    key: str
    """Digest of all that the request is made of: whoever makes the same one waits for the same answer."""
    run_id: str
    """Who asked first."""
    model: str
    body: str
    """JSON, as the endpoint takes it. Bodies begin with what the calls of a task have in common."""
    until: dt.datetime
    """Then the live endpoint is asked instead."""


class OutgoingBatch(Frozen):
    """Calls of one model that left together, or are about to."""

    id: str
    """Ours; written into the endpoint's own record, so that it is found there without knowing the endpoint's id."""
    model: str
    created_at: dt.datetime
    until: dt.datetime
    """The first deadline of its calls."""
    remote_id: str = ""
    """The endpoint's; empty until it is known."""
    cancelled_at: dt.datetime | None = None
    """When the endpoint was told to stop."""


class GatherRules(NamedTuple):
    """When waiting calls of a model leave together, and how many."""

    quiet_seconds: float
    """When none has joined them for so long."""
    longest_seconds: float
    """Or when the first has waited so long."""
    most_requests: int
    most_bytes: int
    """Or when a file of so many is full."""


class LineResult(NamedTuple):
    """What a batch says about one of its calls."""

    key: str
    answer: str | None
    """The body of the completion; None where there is none."""
    why: str = ""


class CollectedCall(NamedTuple):
    """What somebody who waited is given."""

    answer: str | None
    """None: the live endpoint is to be asked."""
    why: str
