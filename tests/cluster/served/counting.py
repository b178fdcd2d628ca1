"""A pool whose processes count something."""

from cluster.serving.replica import Replica, ReplicaConfig
from orchestrator.execution.metrics import ATTEMPTS


class Counting(Replica):
    def __init__(self, config: ReplicaConfig) -> None:
        ATTEMPTS.labels("of this test", "succeeded").inc(3)
        self.begin(config)
