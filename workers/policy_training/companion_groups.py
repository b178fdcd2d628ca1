"""Convert rollouts of SciCompanion's loop to the rows that TRL's GRPO trainer expects: a fixed number per group.

A rollout consists of several calls, each with its own prompt, as in evaluations. Each call is a row with the whole
rollout's reward, so a group of G rollouts with K calls each is a group of G x K rows with the same mean reward. A
rollout with fewer calls is padded with rows whose tokens are all masked, which keep the mean correct."""

import asyncio
import logging
from collections import Counter
from collections.abc import Callable, Sequence
from pathlib import Path
from types import TracebackType
from typing import Any, Self

from assayer.errors import Defect
from assayer.methods.scicompanion.trajectory_reward import TrajectoryReward
from assayer.models import Absent, Frozen
from workers.policy_training.companion_rollouts import CompanionRollout, CompanionRollouts
from workers.policy_training.policy_conversation import PolicyTemplate, WrittenTokens
from workers.policy_training.policy_transport import Generate
from workers.policy_training.rated_ideas import RatedIdea
from workers.policy_training.trajectories import TrajectoryTokens, build_rollout_batch
from workers.policy_training.watched_reward import ACCURACY, SCORED, STRUCTURE, SilentSteps

_LOG = logging.getLogger(__name__)


class TrajectoryRecord(Frozen):
    """Line in `trajectories.jsonl`. Steps that are repeated after a restart appear again."""

    step: int
    idea: str
    reward: TrajectoryReward | Absent
    calls: int
    tokens: int
    """Number of tokens that the policy generated."""


class CompanionGroups:
    """Rollout function for TRL (`rollout_func`), which also returns its rows' rewards. It uses one event loop for the
    whole training, so that resources stay open between steps."""

    def __init__(self, rollouts: CompanionRollouts, ideas: Sequence[RatedIdea], calls: int, record: Path) -> None:
        """Create the rollout function. `calls` is the number of rows per rollout; `record` is the file to which rewards
        are appended. The trainer's prompts are indices into `ideas`."""
        self._rollouts, self._ideas, self._calls, self._record = rollouts, ideas, calls, record
        self._runner = asyncio.Runner()

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        self._runner.close()

    def __call__(self, prompts: Sequence[str], trainer: Any) -> dict[str, Any]:
        template = PolicyTemplate(trainer.processing_class, frozenset(trainer.eos_token_ids))
        ideas = [self._ideas[int(prompt)] for prompt in prompts[:: self._calls]]
        rollouts = self._runner.run(self._rollouts.walk(ideas, template, _make_sampler(trainer)))
        self._write(trainer.state.global_step + 1, rollouts)
        rows = [row for item in rollouts for row in build_rows(item, self._calls, min(template.end_tokens))]
        rewards = [item.reward for item in rollouts for _ in range(self._calls)]
        return {
            **build_rollout_batch(rows),
            "trajectory": [None if isinstance(reward, Absent) else reward for reward in rewards],
        }

    def _write(self, step: int, rollouts: Sequence[CompanionRollout]) -> None:
        self._record.parent.mkdir(parents=True, exist_ok=True)
        with self._record.open("a", encoding="utf-8") as file:
            for item in rollouts:
                token_count = sum(sum(call.mask) for call in item.calls)
                record = TrajectoryRecord(
                    step=step, idea=item.idea.idea.source, reward=item.reward, calls=len(item.calls), tokens=token_count
                )
                file.write(record.model_dump_json() + "\n")
        for reason, count in Counter(
            item.reward.reason for item in rollouts if isinstance(item.reward, Absent)
        ).items():
            _LOG.warning("Step %s: %s of %s rollouts have no reward: %s", step, count, len(rollouts), reason)


def build_rows(rollout: CompanionRollout, calls: int, end: int) -> list[TrajectoryTokens]:
    """Return a rollout's rows, padded to `calls` rows with masked ones. Raises Defect if it has more."""
    if len(rollout.calls) > calls:
        raise Defect(f"A rollout has {len(rollout.calls)} calls; at most {calls} were expected.")
    masked_row = TrajectoryTokens((end,), (end,), (0,))
    return [*rollout.calls, *[masked_row] * (calls - len(rollout.calls))]


def create_companion_reward(most_steps_unrewarded: int) -> Callable[..., list[float | None]]:
    """Return a reward function that assigns each row its rollout's reward. The function raises ComponentUnavailable
    after `most_steps_unrewarded` consecutive steps without any reward."""
    silent_steps = SilentSteps(
        most_steps_unrewarded,
        "No rollout had a reward",
        "trajectories.jsonl gives the reason for each. Run the command again to resume from the last checkpoint.",
    )

    def get_trajectory_rewards(
        prompts: Sequence[Any],
        completions: Sequence[Any],
        *,
        trajectory: Sequence[TrajectoryReward | None],
        log_metric: Callable[[str, float], None],
        **columns: Any,
    ) -> list[float | None]:
        rewards = [item for item in trajectory if item is not None]
        silent_steps.record_step(bool(rewards))
        log_metric("judged", len(rewards) / len(trajectory))
        accuracies = [item.accuracy for item in rewards if item.accuracy is not None]
        if accuracies:
            log_metric(ACCURACY, sum(accuracies) / len(accuracies))
        log_metric(SCORED, len(accuracies) / len(trajectory))
        if rewards:
            log_metric(STRUCTURE, sum(item.structure for item in rewards) / len(rewards))
        return [None if item is None else item.value for item in trajectory]

    return get_trajectory_rewards


def _make_sampler(trainer: Any) -> Generate:
    """Return a function that samples with the trainer's own engine (transformers or vLLM) and its current weights."""

    def generate(contexts: Sequence[Sequence[int]]) -> list[WrittenTokens]:
        ids, logprobs = trainer._generate_single_turn([list(context) for context in contexts], None, {}, 1)
        known_logprobs = logprobs or [()] * len(ids)
        return [WrittenTokens(tuple(item), tuple(values)) for item, values in zip(ids, known_logprobs, strict=True)]

    return generate
