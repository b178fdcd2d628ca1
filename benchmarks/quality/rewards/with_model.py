"""Judges probes by debates of a language model over HTTP."""

from collections.abc import Mapping, Sequence
from typing import Literal

from assayer.llm import Llm
from assayer.methods.debate.composition import Composition
from assayer.methods.debate.judge import judge_by_debate
from assayer.models import Absent, EvaluationId
from assayer.run.budget import Budget
from assayer.run.no_progress import NoProgress
from assayer.run.run import Run
from assayer_client.rewards import Reward
from benchmarks.quality.outcome_file import Outcome, OutcomeFile, Spending, measure_missing, sum_spending
from benchmarks.quality.rewards.probes import Probe
from cluster.clock import SystemClock

MEAN_CALL = Spending(calls=1, prompt_tokens=2_900, completion_tokens=500, usd=None)
"""Mean cost of one call of a seat, from 221 calls to the simulator by the default composition; a model's answers may be
longer or shorter."""


class ProbeOutcome(Outcome):
    kind: str
    value: Literal[0, 1] | None = None
    """None if the judge failed."""


async def ask_rewards(
    llm: Llm, composition: Composition, probes: Sequence[Probe], budget: Budget, outcome_file: OutcomeFile[ProbeOutcome]
) -> None:
    """Judge the probes. They share the budget; probes beyond it are kept as failures."""
    kinds: Mapping[str, str] = {probe.name: probe.kind for probe in probes}

    async def judge_probe(probe: Probe, seed: int) -> ProbeOutcome:
        run = _create_run(budget)
        reward = await judge_by_debate(probe.item, composition, llm, run)
        value = _get_value(reward)
        return ProbeOutcome(
            item=probe.name,
            seed=seed,
            kind=probe.kind,
            value=value,
            failure=reward.reason if value is None else "",
            spent=sum_spending(run.journal.calls),
        )

    def build_failure(name: str, seed: int, reason: str) -> ProbeOutcome:
        return ProbeOutcome(item=name, seed=seed, kind=kinds[name], failure=reason)

    await measure_missing(((probe, probe.name, 0) for probe in probes), outcome_file, judge_probe, build_failure)


def compute_max_spending(composition: Composition) -> Spending:
    """Return the maximum cost of a probe, with a debate of full length."""
    calls = composition.max_calls
    return MEAN_CALL.model_copy(
        update={
            "calls": calls,
            "prompt_tokens": calls * MEAN_CALL.prompt_tokens,
            "completion_tokens": calls * MEAN_CALL.completion_tokens,
        }
    )


def _create_run(budget: Budget) -> Run:
    return Run(EvaluationId("probe"), None, SystemClock(), NoProgress(), budget=budget)


def _get_value(reward: Reward) -> Literal[0, 1] | None:
    return None if isinstance(reward.value, Absent) else reward.value
