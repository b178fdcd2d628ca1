"""SciCompanion's loop walked by a policy, many times at once: the same steps as in an evaluation, over the same
literature, with the policy as the language model."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from assayer.backends import Backends
from assayer.errors import AssayerError
from assayer.literature.library import Library
from assayer.llm import Llm
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.scicompanion.evaluation import judge_dimensions
from assayer.methods.scicompanion.pipeline import explored
from assayer.methods.scicompanion.trajectory_reward import TrajectoryReward, trajectory_reward
from assayer.models import Absent, EvaluationId
from assayer.ports import Clock, ProgressEvent
from assayer.run.run import Run
from assayer.run.structured_concurrency import both, together
from workers.llm.answer_store import InMemoryAnswerStore
from workers.llm.gateway import LlmGateway
from workers.llm.settings import LlmSettings
from workers.policy_training.companion_plan import CompanionTraining
from workers.policy_training.policy_conversation import PolicyTemplate
from workers.policy_training.policy_transport import Generate, GenerationWaves, PolicyTransport
from workers.policy_training.rated_ideas import RatedIdea
from workers.policy_training.trajectories import TrajectoryTokens

__all__ = ["CompanionRollout", "CompanionRollouts", "judged_dimensions"]


class CompanionRollout(NamedTuple):
    idea: RatedIdea
    calls: tuple[TrajectoryTokens, ...]
    """Each with the prompt that it had: what was retrieved and asked stands in prompts, and between answers where one
    was sent back."""
    reward: TrajectoryReward | Absent


class _Silent:
    def report(self, event: ProgressEvent) -> None:
        """Nobody watches a rollout."""


class CompanionRollouts:
    def __init__(self, plan: CompanionTraining, backends: Backends, clock: Clock) -> None:
        """Of the backends all but the language model is used."""
        self._plan, self._backends, self._clock = plan, backends, clock

    async def walked(
        self, ideas: Sequence[RatedIdea], template: PolicyTemplate, generate: Generate
    ) -> list[CompanionRollout]:
        """One rollout for each idea that is given; to walk several for one idea, give it as often. A rollout that fails
        has no reward, with the reason. What `generate` raises passes through."""
        names = [f"rollout_{number}" for number in range(len(ideas))]
        waves = GenerationWaves(generate, names, self._plan.rollouts.at_once)
        transport = PolicyTransport(template, waves, self._plan.rollouts.most_prompt_tokens)

        async def one(name: str, idea: RatedIdea) -> CompanionRollout:
            # Answers of its own: what another rollout of the same idea was answered is no sample of this one.
            run = Run(EvaluationId(name), idea.idea.cutoff, self._clock, _Silent(), answers_of=name)
            try:
                async with asyncio.timeout(self._plan.rollouts.seconds):
                    reward = await self._reward(idea, run, llm)
            except TimeoutError:
                reward = Absent(reason=f"it took longer than {self._plan.rollouts.seconds:g} s.")
            except AssayerError as error:
                reward = Absent(reason=str(error))
            finally:
                waves.left(name)
            if name in transport.too_long:
                reward = Absent(reason=transport.too_long[name])
            return CompanionRollout(idea, transport.calls_of(name), reward)

        async with LlmGateway(_settings(self._plan), InMemoryAnswerStore(), self._clock, transport) as llm:
            walking = together([one(name, idea) for name, idea in zip(names, ideas, strict=True)])
            walked, _ = await both(walking, waves.serve())
        return walked

    async def _reward(self, idea: RatedIdea, run: Run, llm: Llm) -> TrajectoryReward | Absent:
        plan, backends = self._plan, replace(self._backends, llm=llm)
        library = Library(backends.literature, backends.full_texts, run, idea.idea)
        fit = await library.fit(idea.idea.text)
        state = await explored(idea.idea, backends, library, run, plan.loop, fit.level)
        dimensions = judged_dimensions(plan, idea)
        evaluated = await judge_dimensions(llm, run, state, plan.loop, dimensions)
        return trajectory_reward(state.graph, evaluated.part.assessments, dimensions, idea.scores, plan.reward)


def judged_dimensions(plan: CompanionTraining, idea: RatedIdea) -> tuple[RubricDimension, ...]:
    """Those that have a known score: nothing could be learned from what the others are given."""
    return tuple(one for one in plan.dimensions if one.name in idea.scores)


def _settings(plan: CompanionTraining) -> LlmSettings:
    """Of the gateway that reads, checks and sends back the policy's answers as it does an endpoint's."""
    return LlmSettings(
        base_url="http://policy.invalid",
        model="policy",
        temperature=plan.grpo.temperature,
        max_answer_tokens=plan.grpo.most_tokens,
        repair_attempts=plan.rollouts.repairs,
        max_attempts=1,
    )
