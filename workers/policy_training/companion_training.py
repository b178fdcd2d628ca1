"""Train SciCompanion's policy on trajectories of its own loop."""

from collections.abc import Callable, Sequence

from assayer.backends import Backends
from assayer.errors import InputError
from assayer.models.learning_curve import LearningCurve, LearningPoint
from assayer.ports import Clock
from workers.policy_training.companion_groups import CompanionGroups, create_companion_reward
from workers.policy_training.companion_plan import CompanionTraining
from workers.policy_training.companion_rollouts import CompanionRollouts, list_judged_dimensions
from workers.policy_training.rated_ideas import RatedIdea, read_rated_ideas
from workers.policy_training.training import run_training
from workers.policy_training.trajectories import RolloutGroups

_TRAJECTORIES_FILE = "trajectories.jsonl"


def train_companion(
    plan: CompanionTraining,
    backends: Backends,
    clock: Clock,
    progress: Callable[[LearningPoint], None] = lambda _: None,
) -> LearningCurve:
    """Train as `train_policy` does, with rewards from known scores instead of a judge.

    Each rollout's rewards are written to `trajectories.jsonl`. All backends except the language model are used. Raises
    InputError if the ideas cannot be used, ConfigurationError, and the errors of `run_training`."""
    ideas = read_companion_ideas(plan)
    calls = compute_max_calls(plan, ideas)
    record = plan.folder / _TRAJECTORIES_FILE
    with CompanionGroups(CompanionRollouts(plan, backends, clock), ideas, calls, record) as groups:
        reward = create_companion_reward(plan.rollouts.most_steps_unrewarded)
        rows = [{"prompt": str(number)} for number in range(len(ideas))]
        return run_training(plan, rows, reward, progress, RolloutGroups(groups, calls))


def read_companion_ideas(plan: CompanionTraining) -> list[RatedIdea]:
    """Read a plan's rated ideas. Raises InputError if a line is invalid (the error names the line), or if there are too
    few ideas for a step."""
    ideas = read_rated_ideas(plan.data, plan.dimensions)
    if len(ideas) < plan.grpo.questions:
        raise InputError(
            f"{plan.data.file} has {len(ideas)} ideas, but each step needs {plan.grpo.questions}.",
            "Add more ideas, or reduce grpo.questions.",
        )
    return ideas


def compute_max_calls(plan: CompanionTraining, ideas: Sequence[RatedIdea]) -> int:
    """Return the maximum number of policy calls in one rollout."""
    return plan.compute_max_calls(len(list_judged_dimensions(plan, ideas[0])))
