"""Who asks for a piece of work, what it may spend, and how a run of it is named."""

import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from assayer.budget import Budget
from assayer.models import EvaluationId
from orchestrator.jobs.requests import Limits

__all__ = ["PRIVATE", "Begun", "Commission", "Request", "as_request", "run_id"]

Request: TypeAlias = dict[str, Any]
"""Everything that determines a result, as JSON holds it."""
Begun: TypeAlias = Callable[[EvaluationId, Request], Awaitable[None]]


class Spending(Protocol):
    """A part of the settings that says what one piece of work may spend."""

    @property
    def max_usd(self) -> float | None: ...

    @property
    def max_prompt_tokens(self) -> int | None: ...


@dataclass(frozen=True)
class Commission:
    """From a person at a terminal, who has nothing to say beyond the settings, or from a job of the service."""

    job: str = ""
    """Of the service: the same work for another job is another run, with its own report and its own cost."""
    limits: Limits = field(default_factory=Limits)
    purse: float | None = None
    """US dollars that whoever pays has left for it. No part of the request: it may differ at the next try."""
    corpus: str = ""
    """The version of the corpus that an earlier try of the job began with; empty at the first."""
    begun: Begun | None = None
    """Called once, before anything is done. What it raises ends the work."""

    def bounds(self, own: Spending) -> Limits:
        """Of the settings' limits and the request's, the lesser."""
        return Limits(
            max_usd=min((one for one in (self.limits.max_usd, own.max_usd) if one is not None), default=None),
            max_prompt_tokens=min(
                (one for one in (self.limits.max_prompt_tokens, own.max_prompt_tokens) if one is not None),
                default=None,
            ),
        )

    def budget(self, own: Spending) -> Budget:
        bounds = self.bounds(own)
        usd = min((one for one in (bounds.max_usd, self.purse) if one is not None), default=None)
        return Budget(max_usd=usd, max_prompt_tokens=bounds.max_prompt_tokens)

    async def begin(self, run: EvaluationId, request: Request) -> None:
        if self.begun is not None:
            await self.begun(run, request)


PRIVATE = Commission()


def as_request(values: Mapping[str, object]) -> Request:
    """As it comes back from JSON, so that a stored one compares equal."""
    request: Request = json.loads(json.dumps(values, allow_nan=False))
    return request


def run_id(kind: str, request: Request, job: str) -> EvaluationId:
    """The same request of the same job is the same run, so a second start resumes the first."""
    content = json.dumps([request, job] if job else request, sort_keys=True)
    return EvaluationId(f"{kind}_{hashlib.sha256(content.encode()).hexdigest()[:20]}")
