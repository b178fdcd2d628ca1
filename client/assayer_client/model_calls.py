"""Calls of language models that an evaluation was made with, down to the messages."""

import datetime as dt
from typing import Literal

from assayer_client.requests import ApiCall, path, reads
from assayer_client.resources import Absent, Page, Resource


class Fault(Resource):
    """One thing that went wrong in a call."""

    kind: str
    detail: str


class Message(Resource):
    role: Literal["system", "user", "assistant"]
    content: str


class ModelCall(Resource):
    number: int
    """From 1, in the order in which they ended."""
    task: str
    version: int
    model: str
    outcome: Literal["answered", "failed"]
    error: str
    cached: bool
    """Answered before; nothing was sent, and nothing paid."""
    ended_at: dt.datetime
    seconds: float
    attempts: int
    prompt_tokens: int
    completion_tokens: int
    cost_usd: float | None
    """None where the price is not known."""
    faults: tuple[Fault, ...]


class ModelCallContents(Resource):
    """One call with what was said."""

    call: ModelCall
    messages: tuple[Message, ...] | Absent
    answer: str | Absent
    """JSON."""


def model_calls(job: str) -> ApiCall[Page[ModelCall]]:
    """All of them, in the order in which they ended."""
    return ApiCall("GET", path("evaluations", job, "calls"), reads(Page[ModelCall]))


def model_call(job: str, number: int) -> ApiCall[ModelCallContents]:
    """One of them, with the messages that were sent and the answer that was taken."""
    return ApiCall("GET", path("evaluations", job, "calls", str(number)), reads(ModelCallContents))
