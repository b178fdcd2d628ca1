"""Prometheus metrics of workers."""

from prometheus_client import Counter, Gauge, Histogram

from assayer.errors import AssayerError

ATTEMPTS = Counter(
    "assayer_job_attempts_total",
    "Attempts on jobs by how they ended: done, failed, again (back in the queue), stopped (cancelled, drained, lost).",
    ["kind", "outcome"],
)
SECONDS = Histogram(
    "assayer_job_attempt_seconds",
    "Time from a worker's taking a job to the end of that attempt.",
    ["kind"],
    buckets=(1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560),
)
FAULTS = Counter(
    "assayer_faults_total",
    "Errors that ended an attempt, by the boundary at which they arose (assayer/errors.py draws them all).",
    ["boundary", "error"],
)
IN_WORK = Gauge("assayer_worker_jobs", "Jobs in this process's hands.", multiprocess_mode="livesum")
ITEMS = Counter(
    "assayer_items_total",
    "Items of jobs that have many (rewards, curations, proposals, scores): done, or problem where nothing was made.",
    ["kind", "outcome"],
)
ITEM_SECONDS = Histogram(
    "assayer_item_seconds",
    "Time from the beginning of an item to its end; items that repeat another are not counted.",
    ["kind"],
    buckets=(0.01, 0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320),
)
REWARDS = Counter(
    "assayer_rewards_total",
    "Items judged, by how they ended: match, no_match, guard (before any call), absent (the judge failed), problem.",
    ["judge", "outcome"],
)
REWARD_SECONDS = Histogram(
    "assayer_reward_seconds",
    "Time from the beginning of an item's judgement to its end.",
    ["judge"],
    buckets=(0.01, 0.1, 0.5, 1, 2.5, 5, 7.5, 10, 15, 20, 40, 80, 160),
)


def count_fault(error: AssayerError) -> None:
    lineage = type(error).__mro__
    boundary = lineage[max(0, lineage.index(AssayerError) - 1)]
    FAULTS.labels(boundary.__name__, type(error).__name__).inc()
