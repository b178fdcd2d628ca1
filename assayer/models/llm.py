"""Records of calls to a language model."""

import datetime as dt
from typing import Literal

from assayer.models.base import Frozen
from assayer.models.coverage import Fault

Tier = Literal["fast", "strong", "judge"]
"""`fast` judges and extracts, `strong` synthesises, `judge` gives rewards; settings map tiers to models."""


class Message(Frozen):
    role: Literal["system", "user", "assistant"]
    content: str


class CallRecord(Frozen):
    """What one answered task call cost and met. Stored with the cached answer, so that a resumed run
    accounts for the same faults as the run that paid."""

    task: str
    version: int
    model: str
    prompt_tokens: int
    """Summed over all attempts that the endpoint billed."""
    completion_tokens: int
    cost_usd: float | None
    """None when the model's price is not known."""
    latency_seconds: float
    """From the first send to the valid answer, retries included."""
    attempts: int
    faults: tuple[Fault, ...] = ()
    cached: bool = False
    struck: int = 0
    """Sentences left out of the answer, because they still cited what was not given when all attempts were used."""


class CachedAnswer(Frozen):
    """A valid answer as the cache keeps it, under the hash of everything that determined it."""

    key: str
    value: str
    """The validated output as JSON."""
    record: CallRecord
    messages: tuple[Message, ...] = ()
    """What was sent first, for people to read: it is stored with the answer, and not found with it again."""


class LedgerRow(Frozen):
    """One line of the ledger: every task call writes one, paid or not, answered or not."""

    run_id: str
    key: str
    record: CallRecord
    outcome: Literal["answered", "failed"]
    error: str = ""
    at: dt.datetime
