"""Prometheus metrics of workers."""

from prometheus_client import Counter, Gauge, Histogram

from assayer.errors import AssayerError

ATTEMPTS = Counter(
    "assayer_job_attempts_total",
    "Attempts on jobs, by outcome: succeeded, failed, again (back in the queue), stopped (cancelled, drained, lost).",
    ["kind", "outcome"],
)
ATTEMPT_SECONDS = Histogram(
    "assayer_job_attempt_seconds",
    "Duration of attempts on jobs in a worker.",
    ["kind"],
    buckets=(1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640, 1_280, 2_560),
)
ERRORS = Counter(
    "assayer_faults_total",
    "Errors that ended an attempt, by the boundary at which they occurred (listed in assayer/errors.py).",
    ["boundary", "error"],
)
RUNNING_JOBS = Gauge("assayer_worker_jobs", "Jobs running in this process.", multiprocess_mode="livesum")
ITEMS = Counter(
    "assayer_items_total",
    "Items of jobs with many items (rewards, curations, proposals, scores), by outcome: done, or problem (no result).",
    ["kind", "outcome"],
)
ITEM_SECONDS = Histogram(
    "assayer_item_seconds",
    "Duration of items, without items that repeat another item.",
    ["kind"],
    buckets=(0.01, 0.1, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320),
)
REWARDS = Counter(
    "assayer_rewards_total",
    "Judged items, by outcome: match, no_match, guard (before any call), absent (the judge failed), problem.",
    ["judge", "outcome"],
)
REWARD_SECONDS = Histogram(
    "assayer_reward_seconds",
    "Duration of the judgement of items.",
    ["judge"],
    buckets=(0.01, 0.1, 0.5, 1, 2.5, 5, 7.5, 10, 15, 20, 40, 80, 160),
)


def count_error(error: AssayerError) -> None:
    classes = type(error).__mro__
    boundary = classes[max(0, classes.index(AssayerError) - 1)]
    ERRORS.labels(boundary.__name__, type(error).__name__).inc()
