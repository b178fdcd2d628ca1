"""What happened when in one evaluation."""

import datetime as dt
from typing import Literal

from assayer.models.base import Frozen

__all__ = ["Span", "SpanKind", "SpanOutcome", "Timeline"]

SpanKind = Literal["wait", "stage", "call"]
"""wait: in the queue; stage: a step of the method; call: a question to the language model, answer included."""
SpanOutcome = Literal["done", "cached", "failed", "open"]
"""cached: answered before, nothing was sent; open: not over when the timeline was made."""


class Span(Frozen):
    """A stretch of time with a name."""

    name: str
    """Of the stage, or of the task that was asked."""
    kind: SpanKind
    start: dt.datetime
    end: dt.datetime
    outcome: SpanOutcome = "done"
    detail: str = ""
    """For people: the model and its tokens, what went wrong."""


class Timeline(Frozen):
    """Everything known of when an evaluation did what, in order of start."""

    id: str
    title: str
    state: str
    start: dt.datetime
    end: dt.datetime
    """Of the last thing known: the time of asking while it runs."""
    spans: tuple[Span, ...]
