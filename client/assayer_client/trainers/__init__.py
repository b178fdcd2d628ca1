"""Reward functions for the trainers TRL, verl and verifiers, none of which is imported here."""

from assayer_client.trainers.reward_sources import GatheredRewards, RewardQuery, RewardSource, ServiceRewards, Unjudged
from assayer_client.trainers.trl import TrlReward, trl_reward
from assayer_client.trainers.verifiers import verifiers_reward
from assayer_client.trainers.verl import VerlScore, compute_score

__all__ = [
    "GatheredRewards",
    "RewardQuery",
    "RewardSource",
    "ServiceRewards",
    "TrlReward",
    "Unjudged",
    "VerlScore",
    "compute_score",
    "trl_reward",
    "verifiers_reward",
]
