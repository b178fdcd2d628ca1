"""Counters of the simulator since it started or was last reset."""

import time
from collections import Counter
from dataclasses import dataclass, field

from pydantic import BaseModel, ConfigDict


class Stats(BaseModel):
    """Response to GET /_simulator/stats. Tokens are counted only for completed answers, which would be billed."""

    model_config = ConfigDict(frozen=True, extra="forbid")

    requests: int
    """Number of requests to /v1/chat/completions, including refused ones."""
    answered: int
    """Number of answers delivered completely with status 200, including faulty ones."""
    abandoned: int
    """Number of requests whose client disconnected before the answer."""
    by_status: dict[str, int]
    injected: dict[str, int]
    """Number of injected faults by kind: `rate_limited`, `server_error`, `dropped`, `slow`, and answer and batch
    faults."""
    cut_by_max_tokens: int
    """Number of answers truncated by the request's `max_tokens`."""
    prompt_tokens: int
    completion_tokens: int
    in_flight: int
    peak_in_flight: int
    distinct_prompts: int
    """Number of different prompts (model and messages) in well-formed requests."""
    repeated_answers: int
    """Number of answers to prompts that had been answered before, soundly or not."""
    repeated_prompts: int
    """Number of answers to prompts that already had a sound answer, that is, answers paid for twice."""
    batches: int
    """Number of batches created, whatever their outcome."""
    batch_answers: int
    """Number of batch lines answered; they are included in the answers and tokens above."""
    batch_prompt_tokens: int
    batch_completion_tokens: int
    billed_prompt_tokens: float
    """Prompt tokens, with those of batches multiplied by their share of the price."""
    billed_completion_tokens: float
    cpu_seconds: float
    """CPU seconds used by the simulator's process."""


@dataclass
class PromptHistory:
    """History of one prompt."""

    attempts: int = 0
    has_answer: bool = False
    has_sound_answer: bool = False


@dataclass
class Counters:
    requests: int = 0
    answered: int = 0
    abandoned: int = 0
    cut_by_max_tokens: int = 0
    prompt_tokens: int = 0
    completion_tokens: int = 0
    in_flight: int = 0
    peak_in_flight: int = 0
    repeated_answers: int = 0
    repeated_prompts: int = 0
    batches: int = 0
    batch_answers: int = 0
    batch_prompt_tokens: int = 0
    batch_completion_tokens: int = 0
    by_status: Counter[int] = field(default_factory=Counter)
    injected: Counter[str] = field(default_factory=Counter)
    prompts: dict[bytes, PromptHistory] = field(default_factory=dict)
    _cpu_before: float = field(default_factory=time.process_time)

    def reset(self) -> None:
        """Reset all counters except the requests in flight. Prompts are forgotten, so that the same requests have the
        same outcomes again."""
        in_flight = self.in_flight
        self.__init__()  # type: ignore[misc]  # resets every field to its default
        self.in_flight = self.peak_in_flight = in_flight

    def enter(self) -> None:
        self.in_flight += 1
        self.peak_in_flight = max(self.peak_in_flight, self.in_flight)

    def leave(self) -> None:
        self.in_flight -= 1

    def count_delivered(
        self,
        history: PromptHistory,
        is_sound: bool,
        prompt_tokens: int,
        completion_tokens: int,
        is_sampled: bool = False,
        by_batch: bool = False,
    ) -> None:
        """Count a completely delivered answer. A sampled answer is never a repeat, because each sample is requested on
        purpose."""
        self.answered += 1
        self.by_status[200] += 1
        self.prompt_tokens += prompt_tokens
        self.completion_tokens += completion_tokens
        self.repeated_answers += history.has_answer and not is_sampled
        self.repeated_prompts += history.has_sound_answer and not is_sampled
        history.has_answer = True
        history.has_sound_answer = history.has_sound_answer or is_sound
        if by_batch:
            self.batch_answers += 1
            self.batch_prompt_tokens += prompt_tokens
            self.batch_completion_tokens += completion_tokens

    def build_stats(self, batch_price_share: float) -> Stats:
        saved_share = 1 - batch_price_share
        counter_values = {name: getattr(self, name) for name in Stats.model_fields if hasattr(self, name)}
        derived_values = {
            "by_status": {str(status): count for status, count in sorted(self.by_status.items())},
            "injected": {kind: count for kind, count in sorted(self.injected.items()) if count},
            "distinct_prompts": len(self.prompts),
            "billed_prompt_tokens": self.prompt_tokens - saved_share * self.batch_prompt_tokens,
            "billed_completion_tokens": self.completion_tokens - saved_share * self.batch_completion_tokens,
            "cpu_seconds": round(time.process_time() - self._cpu_before, 3),
        }
        return Stats.model_validate(counter_values | derived_values)
