"""Timeline of one evaluation."""

import datetime as dt
from typing import Literal

from assayer.models.base import Frozen

SpanKind = Literal["wait", "stage", "call"]
"""Kind of a span. `wait`: in the queue; `stage`: a step of the method; `call`: an LLM request with its answer."""
SpanOutcome = Literal["succeeded", "cached", "failed", "open"]
"""Outcome of a span. `cached`: answered earlier, nothing was sent; `open`: not finished when the timeline was made."""


class Span(Frozen):
    """Named time span."""

    name: str
    """Name of the stage or of the LLM task."""
    kind: SpanKind
    start: dt.datetime
    end: dt.datetime
    outcome: SpanOutcome = "succeeded"
    detail: str = ""
    """Details for readers: the model and its tokens, or what went wrong."""


class Timeline(Frozen):
    """Timeline of an evaluation: all known spans, in order of start."""

    id: str
    title: str
    state: str
    start: dt.datetime
    end: dt.datetime
    """Time of the last known event, or the time of the request while the evaluation is running."""
    spans: tuple[Span, ...]
