"""SciCompanion's policy, trained on trajectories of its own loop."""

from collections.abc import Callable, Sequence

from assayer.backends import Backends
from assayer.errors import InputError
from assayer.models.learning_curve import LearningCurve, LearningPoint
from assayer.ports import Clock
from workers.policy_training.companion_groups import CompanionGroups, companion_reward
from workers.policy_training.companion_plan import CompanionTraining
from workers.policy_training.companion_rollouts import CompanionRollouts, judged_dimensions
from workers.policy_training.rated_ideas import RatedIdea, read_rated_ideas
from workers.policy_training.training import run_training
from workers.policy_training.trajectories import RolloutGroups

__all__ = ["calls_of", "read_companion_ideas", "train_companion"]

_TRAJECTORIES = "trajectories.jsonl"


def train_companion(
    plan: CompanionTraining,
    backends: Backends,
    clock: Clock,
    progress: Callable[[LearningPoint], None] = lambda _: None,
) -> LearningCurve:
    """As `train_policy`, with rewards of known scores in place of a judge's; what each rollout got stands in
    `trajectories.jsonl`. Of the backends all but the language model is used. Raises InputError and
    ConfigurationError."""
    ideas = read_companion_ideas(plan)
    calls = calls_of(plan, ideas)
    record = plan.folder / _TRAJECTORIES
    with CompanionGroups(CompanionRollouts(plan, backends, clock), ideas, calls, record) as groups:
        reward = companion_reward(plan.rollouts.most_steps_unrewarded)
        rows = [{"prompt": str(number)} for number in range(len(ideas))]
        return run_training(plan, rows, reward, progress, RolloutGroups(groups, calls))


def read_companion_ideas(plan: CompanionTraining) -> list[RatedIdea]:
    """Raises InputError that says what is wrong with which line, and where there are too few for a step."""
    ideas = read_rated_ideas(plan.data, plan.dimensions)
    if len(ideas) < plan.grpo.questions:
        raise InputError(
            f"{plan.data.file} has {len(ideas)} ideas, and a step takes {plan.grpo.questions}.",
            "Give more, or set grpo.questions lower.",
        )
    return ideas


def calls_of(plan: CompanionTraining, ideas: Sequence[RatedIdea]) -> int:
    """Of the policy in one rollout, at most."""
    return plan.calls(len(judged_dimensions(plan, ideas[0])))
