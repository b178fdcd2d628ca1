"""What one task call has taken so far."""

from dataclasses import dataclass, field

from assayer.models import CallRecord, Fault
from workers.llm.failures import Took
from workers.llm.settings import Price

__all__ = ["Tally"]


@dataclass
class Tally:
    task: str
    version: int
    model: str
    price: Price | None
    prompt_tokens: int = 0
    completion_tokens: int = 0
    attempts: int = 0
    faults: list[Fault] = field(default_factory=list)
    """At most one an attempt."""
    first_sent: float = 0.0

    def asked(self, took: Took, now: float) -> None:
        """A question came back."""
        if took.sends and not self.attempts:
            self.first_sent = now - took.seconds
        self.attempts += took.sends

    def billed(self, prompt_tokens: int, completion_tokens: int) -> None:
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens

    def record(self, now: float) -> CallRecord:
        cost = 0.0 if not self.attempts else None
        if self.price is not None:
            cost = self.price.cost(self.prompt_tokens, self.completion_tokens)
        return CallRecord(
            task=self.task,
            version=self.version,
            model=self.model,
            prompt_tokens=self.prompt_tokens,
            completion_tokens=self.completion_tokens,
            cost_usd=cost,
            latency_seconds=now - self.first_sent if self.attempts else 0.0,
            attempts=self.attempts,
            faults=tuple(self.faults),
        )
