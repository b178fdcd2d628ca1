"""Autoscaling policy for the evaluator pools, run by Serve's controller.

Evaluators lease jobs themselves, so Serve has no calls to count, and a pool without processes cannot report queued
jobs. The policy therefore queries the queue itself."""

import asyncio
import logging
import threading
import time
from functools import cache
from typing import Any

from ray.serve.config import AutoscalingContext

from assayer.errors import AssayerError
from cluster.database import open_database
from cluster.serving.evaluator_scaling import EvaluatorLoad, compute_wanted_evaluators
from cluster.settings import Profile
from cluster.settings_loading import load_settings
from orchestrator.store.queue_depth import PgQueueDepth, QueueDepth

JOBS_IN_HAND = "jobs_in_hand"
"""Name of the statistic that reports how many jobs are running in an evaluator."""

_LOG = logging.getLogger(__name__)
_SECONDS = 2.0
"""Seconds between two queries of the queue depth."""
_STALE_SECONDS = 30.0
"""Seconds after which the last known queue depth is treated as unknown."""


class QueueScaling:
    """A pool's scaling policy. Serve's controller creates one instance per pool and calls it ten times a second."""

    def __init__(self, profile: Profile, patience_seconds: float, takes_interactive: bool, takes_batch: bool) -> None:
        self._profile = profile
        self._patience_seconds = patience_seconds
        self._takes_interactive, self._takes_batch = takes_interactive, takes_batch

    def __call__(self, context: AutoscalingContext) -> tuple[float, dict[str, Any]]:
        in_hand = (context.aggregated_metrics or {}).get(JOBS_IN_HAND, {})
        if context.config is None:
            return context.target_num_replicas, {}
        queue = _get_queue_watch(self._profile).get_latest_depth()
        load = EvaluatorLoad(context.current_num_replicas, tuple(in_hand.values()), queue)
        target = context.config.get_target_ongoing_requests()
        priorities = self._takes_interactive, self._takes_batch
        return compute_wanted_evaluators(load, target, self._patience_seconds, *priorities), {}


class _QueueWatch:
    """Thread that measures the queue depth regularly, because the controller must not block on a database."""

    def __init__(self, profile: Profile) -> None:
        self._profile = profile
        self._latest: tuple[float, QueueDepth] | None = None
        threading.Thread(target=self._run, name="queue watch", daemon=True).start()

    def get_latest_depth(self) -> QueueDepth | None:
        queue_depth = self._latest
        return None if queue_depth is None or time.monotonic() - queue_depth[0] > _STALE_SECONDS else queue_depth[1]

    def _run(self) -> None:
        while True:
            try:
                asyncio.run(self._measure_regularly())
            except AssayerError as error:
                _LOG.warning("the queue depth is unknown, so evaluators scale by running jobs only: %s", error)
            time.sleep(_SECONDS)

    async def _measure_regularly(self) -> None:
        """Measure the queue depth every few seconds, until an error is raised."""
        settings = load_settings(self._profile)
        small = settings.model_copy(update={"database": settings.database.model_copy(update={"max_connections": 1})})
        async with open_database(small) as database:
            depth = PgQueueDepth(database)
            while True:
                self._latest = (time.monotonic(), await depth.measure())
                await asyncio.sleep(_SECONDS)


@cache
def _get_queue_watch(profile: Profile) -> _QueueWatch:
    """Return the controller's queue watch, which all its pools share."""
    return _QueueWatch(profile)
