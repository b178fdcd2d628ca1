"""Metrics of calls to language models, by task and model."""

from prometheus_client import Counter, Gauge, Histogram

CALLS = Counter(
    "assayer_llm_calls_total",
    "Questions of tasks by how they ended: answered, cached (answered before), failed.",
    ["task", "model", "outcome"],
)
SECONDS = Histogram(
    "assayer_llm_call_seconds",
    "From the first send of a question to the end of the last, retries and repairs included.",
    ["task"],
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640),
)
TOKENS = Counter("assayer_llm_tokens_total", "Tokens read (prompt) and written (completion).", ["model", "kind"])
COST = Counter("assayer_llm_cost_usd_total", "US dollars, of calls whose price is known.", ["model"])
FAULTS = Counter("assayer_llm_faults_total", "What went wrong in calls, recovered from or not, by kind.", ["kind"])
ASKED = Gauge(
    "assayer_llm_questions", "Questions in flight, and those that wait for their turn.", multiprocess_mode="livesum"
)
IN_FLIGHT = Gauge("assayer_llm_requests_in_flight", "Questions on their way to an answer.", multiprocess_mode="livesum")
LIMIT = Gauge("assayer_llm_requests_limit", "How many may be in flight now.", multiprocess_mode="livesum")
BATCHES = Counter(
    "assayer_llm_batches_total",
    "Files of calls that this process sent or saw end: sent, completed, expired, cancelled, failed, given_up.",
    ["outcome"],
)
BATCH_CALLS = Counter(
    "assayer_llm_batch_calls_total",
    "Calls that waited for a batch: answered by it, or returned and asked of the live endpoint.",
    ["model", "outcome"],
)
WAITING_FOR_BATCH = Gauge(
    "assayer_llm_batch_questions", "Questions that wait for a batch.", multiprocess_mode="livesum"
)
