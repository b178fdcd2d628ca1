"""Metrics of language model requests, by task and model."""

from prometheus_client import Counter, Gauge, Histogram

LLM_REQUESTS = Counter(
    "assayer_llm_requests_total",
    "Requests by outcome: answered, cached (answered before), failed, cancelled (by the caller).",
    ["task", "model", "outcome"],
)
REQUEST_SECONDS = Histogram(
    "assayer_llm_request_seconds",
    "Seconds from sending a request to its valid answer, including retries and repairs.",
    ["task"],
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 20, 40, 80, 160, 320, 640),
)
TOKENS = Counter(
    "assayer_llm_tokens_total",
    "Tokens read (prompt), those of them from the endpoint's prompt cache (cached), and written (completion).",
    ["model", "kind"],
)
COST = Counter("assayer_llm_cost_usd_total", "Cost in US dollars of requests whose price is known.", ["model"])
FAULTS = Counter(
    "assayer_llm_faults_total", "Faults by kind, including those that a retry or repair recovered from.", ["kind"]
)
ASKED = Gauge("assayer_llm_requests_pending", "Requests in flight or waiting for a slot.", multiprocess_mode="livesum")
IN_FLIGHT = Gauge("assayer_llm_requests_in_flight", "Requests in flight.", multiprocess_mode="livesum")
LIMIT = Gauge("assayer_llm_requests_limit", "Current limit on requests in flight.", multiprocess_mode="livesum")
BATCHES = Counter(
    "assayer_llm_batches_total",
    "Batches that this process sent or closed, by outcome: sent, completed, expired, cancelled, failed, abandoned.",
    ["outcome"],
)
BATCH_CALLS = Counter(
    "assayer_llm_batch_requests_total",
    "Requests that waited for a batch: answered by it, or returned and sent to the live endpoint.",
    ["model", "outcome"],
)
WAITING_FOR_BATCH = Gauge(
    "assayer_llm_batch_requests_waiting", "Requests awaiting a batch.", multiprocess_mode="livesum"
)
