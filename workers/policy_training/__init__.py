"""A policy trained with rewards of a judge (GRPO), needs the extra `rl`."""

from workers.policy_training.configuration import PolicyTraining, read_policy_training
from workers.policy_training.training import train_policy

__all__ = ["PolicyTraining", "read_policy_training", "train_policy"]
