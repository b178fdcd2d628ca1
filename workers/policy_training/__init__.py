"""Train policies with GRPO: the debate policy with rewards from a judge, and SciCompanion's policy on trajectories of
its own loop. Needs the extra `rl`."""

from workers.policy_training.companion_plan import CompanionTraining
from workers.policy_training.companion_training import train_companion
from workers.policy_training.configuration import PolicyTraining
from workers.policy_training.plan_reading import AnyTraining, parse_plan, read_policy_training
from workers.policy_training.training import train_policy

__all__ = [
    "AnyTraining",
    "CompanionTraining",
    "PolicyTraining",
    "parse_plan",
    "read_policy_training",
    "train_companion",
    "train_policy",
]
