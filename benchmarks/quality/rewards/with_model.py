"""Probes before real debates over HTTP: a script whose errors are known on every seat, or a language model."""

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Literal, NamedTuple

from assayer.llm import Llm
from assayer.methods.debate.composition import Composition
from assayer.methods.debate.judge import judge_by_debate
from assayer.models import Absent, EvaluationId
from assayer.models.reward import Reward
from assayer.run.budget import Budget
from assayer.run.run import Run
from assayer.run.structured_concurrency import together
from benchmarks.quality.kept import Kept, Outcome, Spent, do_the_rest, spent_on
from benchmarks.quality.points import Silent
from benchmarks.quality.rewards.debates import hold
from benchmarks.quality.rewards.noise import SeatNoise, ballot_of
from benchmarks.quality.rewards.probes import Probe
from benchmarks.quality.rewards.scripted_seats import ScriptedSeatsServer, item_key
from cluster.clock import SystemClock
from workers.llm import LlmSettings
from workers.llm.answer_store import InMemoryAnswerStore
from workers.llm.gateway import LlmGateway

__all__ = ["A_CALL", "ProbeOutcome", "ScriptedDebate", "ask_rewards", "most_spent", "scripted_debates"]

A_CALL = Spent(calls=1, prompt_tokens=2_900, completion_tokens=500, usd=None)
"""Of a seat, the mean of 221 calls to the simulator by the default composition; a model's own words may be longer or
shorter."""


class ScriptedDebate(NamedTuple):
    """One probe, judged over HTTP by seats of known error, beside the same ballots counted by the rules alone."""

    composition: str
    noise: str
    probe: Probe
    value: Literal[0, 1] | None
    """None where the debate was lost."""
    calls: int
    by_rules: bool
    calls_by_rules: int

    @property
    def as_by_rules(self) -> bool:
        return self.value == int(self.by_rules) and self.calls == self.calls_by_rules


async def scripted_debates(
    noises: Sequence[SeatNoise], compositions: Sequence[Composition], probes: Sequence[Probe], folder: Path
) -> list[ScriptedDebate]:
    """Every probe before every composition of every noise, through the gateway that asks every model. The answer
    store is in memory: seats that are asked the same by two compositions give the same answer once."""
    truths = {item_key(probe.item): probe.matches for probe in probes}
    found: list[ScriptedDebate] = []
    with ScriptedSeatsServer(noises, truths, folder) as server:
        for noise in noises:
            settings = LlmSettings(base_url=server.base_url, model=noise.name)
            async with LlmGateway(settings, InMemoryAnswerStore(), SystemClock()) as gateway:
                found += await together(
                    _scripted(gateway, noise, composition, probe) for composition in compositions for probe in probes
                )
    return found


async def _scripted(llm: Llm, noise: SeatNoise, composition: Composition, probe: Probe) -> ScriptedDebate:
    key = item_key(probe.item)
    held = hold(composition, lambda seat, number: ballot_of(noise, key, probe.matches, seat, number))
    reward = await judge_by_debate(probe.item, composition, llm, _run(Budget()))
    return ScriptedDebate(
        composition=composition.name,
        noise=noise.name,
        probe=probe,
        value=_value(reward),
        calls=reward.calls,
        by_rules=held.match,
        calls_by_rules=held.calls,
    )


class ProbeOutcome(Outcome):
    kind: str
    value: Literal[0, 1] | None = None
    """None where the judge failed."""


async def ask_rewards(
    llm: Llm, composition: Composition, probes: Sequence[Probe], budget: Budget, kept: Kept[ProbeOutcome]
) -> None:
    """The budget is shared by all; what it does not reach is kept as a failure."""
    kinds: Mapping[str, str] = {probe.name: probe.kind for probe in probes}

    async def one(probe: Probe, seed: int) -> ProbeOutcome:
        run = _run(budget)
        reward = await judge_by_debate(probe.item, composition, llm, run)
        value = _value(reward)
        return ProbeOutcome(
            item=probe.name,
            seed=seed,
            kind=probe.kind,
            value=value,
            failure=reward.reason if value is None else "",
            spent=spent_on(run.journal.calls),
        )

    def failed(name: str, seed: int, why: str) -> ProbeOutcome:
        return ProbeOutcome(item=name, seed=seed, kind=kinds[name], failure=why)

    await do_the_rest(((probe, probe.name, 0) for probe in probes), kept, one, failed)


def most_spent(composition: Composition) -> Spent:
    """On a probe whose debate goes on to its end."""
    calls = composition.most_calls
    return A_CALL.model_copy(
        update={
            "calls": calls,
            "prompt_tokens": calls * A_CALL.prompt_tokens,
            "completion_tokens": calls * A_CALL.completion_tokens,
        }
    )


def _run(budget: Budget) -> Run:
    return Run(EvaluationId("probe"), None, SystemClock(), Silent(), budget=budget)


def _value(reward: Reward) -> Literal[0, 1] | None:
    return None if isinstance(reward.value, Absent) else reward.value
