"""Records of calls to a language model."""

import datetime as dt
from typing import Literal

from assayer.models.base import Frozen
from assayer_client.model_calls import Fault, Message

Tier = Literal["fast", "strong", "judge"]
"""Tier of a task. `fast` judges and extracts, `strong` synthesises, `judge` gives rewards; settings map tiers to
models."""


class CallRecord(Frozen):
    """Cost and faults of one answered task call. It is stored with the cached answer, so that a resumed run reports the
    same faults as the run that paid for the answer."""

    task: str
    version: int
    model: str
    prompt_tokens: int
    """Prompt tokens summed over all attempts that the endpoint billed."""
    cached_prompt_tokens: int = 0
    """Part of the prompt tokens that came from the endpoint's prompt cache, as far as the endpoint reports it."""
    completion_tokens: int
    cost_usd: float | None
    """Cost in US dollars; None if the price of the model is unknown."""
    latency_seconds: float
    """Seconds from sending the first request to receiving the valid answer, retries included."""
    attempts: int
    faults: tuple[Fault, ...] = ()
    cached: bool = False
    redacted: int = 0
    """Number of sentences removed because, after the last attempt, they still cited material that was not provided."""


class CachedAnswer(Frozen):
    """Valid answer as stored in the cache, keyed by the hash of everything that determined it."""

    key: str
    value: str
    """Validated output as JSON."""
    record: CallRecord
    messages: tuple[Message, ...] = ()
    """Messages of the first request, stored with the answer for people to read; not part of its key."""


CallOutcome = Literal["answered", "failed", "cancelled"]


class LedgerRow(Frozen):
    """Row of the ledger. Every task call writes one row, even if it was not paid for or not answered."""

    run_id: str
    key: str
    record: CallRecord
    outcome: CallOutcome
    error: str = ""
    """Why there is no answer."""
    at: dt.datetime
