"""Who asks for a run, what it may spend, and how its id follows from all that determines its result."""

import datetime as dt
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from assayer.models import EvaluationId
from assayer.run.budget import Budget
from orchestrator.jobs.requests import Limits

__all__ = ["LOCAL_REQUEST", "OnStart", "ResultInputs", "RunRequest", "result_inputs", "run_id"]

ResultInputs: TypeAlias = dict[str, Any]
"""Everything that determines a result, as JSON holds it."""
OnStart: TypeAlias = Callable[[EvaluationId, ResultInputs], Awaitable[None]]


class SpendingLimits(Protocol):
    """A part of the settings that says what one piece of work may spend."""

    @property
    def max_usd(self) -> float | None: ...

    @property
    def max_prompt_tokens(self) -> int | None: ...


@dataclass(frozen=True)
class RunRequest:
    """Of a person at a terminal, who adds nothing to the settings, or of a job of the service."""

    job: str = ""
    """Of the service: the same work for another job is another run, with its own report and its own cost."""
    limits: Limits = field(default_factory=Limits)
    max_usd: float | None = None
    """The most that all attempts of the job may cost together, as far as the tenant's budget goes. No part of the run's
    id: it may differ at the next attempt."""
    paid_usd: float = 0.0
    """What earlier attempts have cost; they count in every limit of dollars."""
    paid_prompt_tokens: int = 0
    """What earlier attempts have sent; they count in every limit of tokens."""
    blind: bool = False
    """Names, affiliations and the like are masked before anything judges the ideas: another run than with them."""
    board: int | None = None
    """Reviewers on InnoEval's board, in place of what the settings say."""
    board_models: tuple[str, ...] = ()
    """Among which they are dealt, in place of those of the settings."""
    answers_of: str = ""
    """The tenant whose answers of language models alone may be used; empty: everybody's."""
    corpus: str = ""
    """The version of the corpus that an earlier attempt of the job began with; empty at the first."""
    waits_until: dt.datetime | None = None
    """Until then its questions to language models may wait for batches. No part of the run's id."""
    on_start: OnStart | None = None
    """Called once, before anything is done. What it raises ends the work."""

    def bounds(self, own: SpendingLimits) -> Limits:
        """The lower of the settings' limits and the request's."""
        return Limits(
            max_usd=min((one for one in (self.limits.max_usd, own.max_usd) if one is not None), default=None),
            max_prompt_tokens=min(
                (one for one in (self.limits.max_prompt_tokens, own.max_prompt_tokens) if one is not None),
                default=None,
            ),
        )

    def budget(self, own: SpendingLimits) -> Budget:
        bounds = self.bounds(own)
        return Budget(
            max_usd=min((one for one in (bounds.max_usd, self.max_usd) if one is not None), default=None),
            max_prompt_tokens=bounds.max_prompt_tokens,
            earlier_usd=self.paid_usd,
            earlier_prompt_tokens=self.paid_prompt_tokens,
        )

    async def begin(self, run: EvaluationId, inputs: ResultInputs) -> None:
        if self.on_start is not None:
            await self.on_start(run, inputs)


LOCAL_REQUEST = RunRequest()


def result_inputs(values: Mapping[str, object]) -> ResultInputs:
    """As it comes back from JSON, so that a stored one compares equal."""
    inputs: ResultInputs = json.loads(json.dumps(values, allow_nan=False))
    return inputs


def run_id(kind: str, inputs: ResultInputs, job: str) -> EvaluationId:
    """The same inputs of the same job are the same run, so a second start resumes the first."""
    content = json.dumps([inputs, job] if job else inputs, sort_keys=True)
    return EvaluationId(f"{kind}_{hashlib.sha256(content.encode()).hexdigest()[:20]}")
