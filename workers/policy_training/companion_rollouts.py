"""Run SciCompanion's loop many times concurrently, with the policy as the language model. Steps and literature are the
same as in an evaluation."""

import asyncio
from collections.abc import Sequence
from dataclasses import replace
from typing import NamedTuple

from assayer.backends import Backends
from assayer.errors import AssayerError
from assayer.evaluation_context import EvaluationContext
from assayer.llm import Llm
from assayer.methods.innoeval.dimensions import RubricDimension
from assayer.methods.scicompanion.evaluation import judge_dimensions
from assayer.methods.scicompanion.pipeline import explore_literature
from assayer.methods.scicompanion.trajectory_reward import TrajectoryReward, compute_trajectory_reward
from assayer.models import Absent, EvaluationId
from assayer.ports import Clock
from assayer.run.concurrency import gather_all, gather_pair
from assayer.run.no_progress import NoProgress
from assayer.run.run import Run
from workers.llm.gateway import LlmGateway
from workers.llm.settings import LlmSettings
from workers.outbound.store import InMemoryAnswerStore
from workers.policy_training.companion_plan import CompanionTraining
from workers.policy_training.policy_conversation import PolicyTemplate
from workers.policy_training.policy_transport import Generate, GenerationWaves, PolicyTransport
from workers.policy_training.rated_ideas import RatedIdea
from workers.policy_training.trajectories import TrajectoryTokens


class CompanionRollout(NamedTuple):
    idea: RatedIdea
    calls: tuple[TrajectoryTokens, ...]
    """Tokens in each call. Questions and retrieved text are in the prompts and, if an answer was sent back, also
    between answers."""
    reward: TrajectoryReward | Absent


class CompanionRollouts:
    def __init__(self, plan: CompanionTraining, backends: Backends, clock: Clock) -> None:
        """Create the rollouts. All backends except the language model are used."""
        self._plan, self._backends, self._clock = plan, backends, clock

    async def walk(
        self, ideas: Sequence[RatedIdea], template: PolicyTemplate, generate: Generate
    ) -> list[CompanionRollout]:
        """Run one rollout per entry in `ideas`, which may contain an idea several times. A failed rollout has the
        reason instead of a reward. Exceptions from `generate` propagate."""
        names = [f"rollout_{number}" for number in range(len(ideas))]
        waves = GenerationWaves(generate, names, self._plan.rollouts.at_once)
        transport = PolicyTransport(template, waves, self._plan.rollouts.most_prompt_tokens)

        async def walk_idea(name: str, idea: RatedIdea) -> CompanionRollout:
            # `answers_of` keeps rollouts of the same idea from sharing cached answers.
            run = Run(EvaluationId(name), idea.idea.cutoff, self._clock, NoProgress(), answers_of=name)
            try:
                async with asyncio.timeout(self._plan.rollouts.seconds):
                    reward = await self._compute_reward(idea, run, llm)
            except TimeoutError:
                reward = Absent(reason=f"the rollout took longer than {self._plan.rollouts.seconds:g} s.")
            except AssayerError as error:
                reward = Absent(reason=str(error))
            finally:
                waves.remove(name)
            if name in transport.too_long:
                reward = Absent(reason=transport.too_long[name])
            return CompanionRollout(idea, transport.list_calls(name), reward)

        async with LlmGateway(_build_settings(self._plan), InMemoryAnswerStore(), self._clock, transport) as llm:
            walking = gather_all([walk_idea(name, idea) for name, idea in zip(names, ideas, strict=True)])
            rollouts, _ = await gather_pair(walking, waves.serve())
        return rollouts

    async def _compute_reward(self, idea: RatedIdea, run: Run, llm: Llm) -> TrajectoryReward | Absent:
        plan = self._plan
        context = EvaluationContext.open(idea.idea, replace(self._backends, llm=llm), run, plan.loop)
        fit = await context.library.fit(idea.idea.text)
        state = await explore_literature(context, fit.level)
        dimensions = list_judged_dimensions(plan, idea)
        judgements = await judge_dimensions(context, state, dimensions)
        return compute_trajectory_reward(state.graph, judgements.part.assessments, dimensions, idea.scores, plan.reward)


def list_judged_dimensions(plan: CompanionTraining, idea: RatedIdea) -> tuple[RubricDimension, ...]:
    """Return the dimensions with a known score, because assessing others gives no reward."""
    return tuple(dimension for dimension in plan.dimensions if dimension.name in idea.scores)


def _build_settings(plan: CompanionTraining) -> LlmSettings:
    """Return settings for the gateway, which treats the policy's answers in the same way as an endpoint's."""
    return LlmSettings(
        base_url="http://policy.invalid",
        model="policy",
        temperature=plan.grpo.temperature,
        max_answer_tokens=plan.grpo.most_tokens,
        repair_attempts=plan.rollouts.repairs,
        max_attempts=1,
    )
