"""Records of calls to a language model."""

import datetime as dt
from typing import Annotated, Literal, NamedTuple

from pydantic import Field

from assayer.models.base import Frozen
from assayer_client.llm_requests import Fault, Message

Tier = Literal["fast", "strong", "judge"]
"""Tier of a task, which settings map to a model. Tasks that judge and extract are `fast`, those that synthesise are
`strong`, and those that give rewards are `judge`."""


TokensPerSecond = Annotated[float, Field(gt=0)]


class GpuSpeed(NamedTuple):
    """Tokens per second that one fully used GPU reads and writes."""

    read: TokensPerSecond
    written: TokensPerSecond

    def hours(self, prompt_tokens: int, completion_tokens: int) -> float:
        return (prompt_tokens / self.read + completion_tokens / self.written) / 3600


class CallRecord(Frozen):
    """Cost and faults of one answered task call. It is stored with the cached answer, so that a resumed run reports the
    faults of the run that paid for the answer."""

    task: str
    version: int
    model: str
    prompt_tokens: int
    """Prompt tokens summed over all attempts that the endpoint billed."""
    cached_prompt_tokens: int = 0
    """Number of these prompt tokens that the endpoint read from its prompt cache, if it reports them."""
    completion_tokens: int
    cost_usd: float | None
    """Cost in US dollars; None if the model's price is unknown."""
    latency_seconds: float
    """Seconds from sending the first request to receiving a valid answer, including retries."""
    attempts: int
    faults: tuple[Fault, ...] = ()
    cached: bool = False
    redacted: int = 0
    """Number of sentences that were removed because they still cited material not in the prompt after the last
    attempt."""


class CachedAnswer(Frozen):
    """Valid answer in the cache, keyed by the hash of everything that determines it."""

    key: str
    value: str
    """Validated output as JSON."""
    record: CallRecord
    messages: tuple[Message, ...] = ()
    """Messages in the first request, kept for people to read; not part of the key."""


CallOutcome = Literal["answered", "failed", "cancelled"]


class LedgerRow(Frozen):
    """Row in the ledger. Every task call writes one row, even if it cost nothing or got no answer."""

    run_id: str
    key: str
    record: CallRecord
    outcome: CallOutcome
    error: str = ""
    """Reason why there is no answer."""
    at: dt.datetime
