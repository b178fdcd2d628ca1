"""Request for a run: the job to which it belongs, its spending limits, and its id, which is derived from everything
that determines the result."""

import datetime as dt
import hashlib
import json
from collections.abc import Awaitable, Callable, Mapping
from dataclasses import dataclass, field
from typing import Any, Protocol, TypeAlias

from assayer.llm import Llm
from assayer.models import Criterion, EvaluationId
from assayer.ports import Clock, Progress
from assayer.run.budget import Budget
from assayer.run.run import Run
from cluster.language_model import require_prices
from orchestrator.jobs.requests import Limits

ResultInputs: TypeAlias = dict[str, Any]
"""Everything that determines a result, in JSON-compatible form."""
OnStart: TypeAlias = Callable[[EvaluationId, ResultInputs], Awaitable[None]]


class SpendingLimits(Protocol):
    """Settings section that contains spending limits."""

    @property
    def max_usd(self) -> float | None: ...

    @property
    def max_prompt_tokens(self) -> int | None: ...


@dataclass(frozen=True)
class RunRequest:
    """Request for a run, made by a service job or, with the default values, by the command line."""

    job: str = ""
    """Id of the job; empty on the command line. The same work for a different job is a separate run, with its own
    report and cost."""
    limits: Limits = field(default_factory=Limits)
    max_usd: float | None = None
    """Maximum cost in US dollars of all the job's attempts together, from the tenant's budget. It is not part of the
    run id, because it may change between attempts."""
    paid_usd: float = 0.0
    """Cost of earlier attempts in US dollars; it counts towards every dollar limit."""
    paid_prompt_tokens: int = 0
    """Prompt tokens sent by earlier attempts; they count towards every token limit."""
    blind: bool = False
    """Whether to mask names, affiliations and similar details before the ideas are judged; part of the run id."""
    board: int | None = None
    """Number of reviewers on InnoEval's board, overriding the settings."""
    board_models: tuple[str, ...] = ()
    """Models among which the board's reviewers are distributed, overriding the settings."""
    criteria: tuple[Criterion, ...] = ()
    """Criteria in the call for proposals, which the report answers one by one; part of the run id."""
    answers_of: str = ""
    """Tenant whose stored model answers may be reused; if empty, any tenant's answers may be reused."""
    corpus: str = ""
    """Corpus version with which an earlier attempt of the job started; empty in the first attempt."""
    waits_until: dt.datetime | None = None
    """Time until which LLM requests may wait for the batch API; None for live requests. Not part of the run id."""
    on_start: OnStart | None = None
    """Callback invoked once before any work starts. If it raises an exception, the work ends."""

    def combine_limits(self, configured_limits: SpendingLimits) -> Limits:
        """Return, for each limit, the lower of the settings' and the request's values."""
        return Limits(
            max_usd=min(
                (limit for limit in (self.limits.max_usd, configured_limits.max_usd) if limit is not None), default=None
            ),
            max_prompt_tokens=min(
                (
                    limit
                    for limit in (self.limits.max_prompt_tokens, configured_limits.max_prompt_tokens)
                    if limit is not None
                ),
                default=None,
            ),
        )

    def create_budget(self, configured_limits: SpendingLimits) -> Budget:
        bounds = self.combine_limits(configured_limits)
        return Budget(
            max_usd=min((limit for limit in (bounds.max_usd, self.max_usd) if limit is not None), default=None),
            max_prompt_tokens=bounds.max_prompt_tokens,
            earlier_usd=self.paid_usd,
            earlier_prompt_tokens=self.paid_prompt_tokens,
        )

    async def start_run(
        self,
        kind: str,
        inputs: ResultInputs,
        llm: Llm,
        clock: Clock,
        progress: Progress,
        configured_limits: SpendingLimits,
    ) -> Run:
        """Start a run for work other than an evaluation. Raises ConfigurationError if its budget is in dollars and
        prices are unknown."""
        budget = self.create_budget(configured_limits)
        if budget.max_usd is not None:
            require_prices(llm)
        run = Run(
            id=compute_run_id(kind, inputs, self.job),
            cutoff=None,
            clock=clock,
            progress=progress,
            budget=budget,
            answers_of=self.answers_of,
        )
        await self.begin(run.id, inputs)
        return run

    async def begin(self, run: EvaluationId, inputs: ResultInputs) -> None:
        if self.on_start is not None:
            await self.on_start(run, inputs)


LOCAL_REQUEST = RunRequest()


def normalise_result_inputs(values: Mapping[str, object]) -> ResultInputs:
    """Return the values after a round trip through JSON, so that they compare equal to stored inputs."""
    inputs: ResultInputs = json.loads(json.dumps(values, allow_nan=False))
    return inputs


def compute_run_id(kind: str, inputs: ResultInputs, job: str) -> EvaluationId:
    """Return the run id. It is the same for the same inputs in the same job, so that a restarted run resumes."""
    content = json.dumps([inputs, job] if job else inputs, sort_keys=True)
    return EvaluationId(f"{kind}_{hashlib.sha256(content.encode()).hexdigest()[:20]}")
