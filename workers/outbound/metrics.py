"""Metrics of requests to other services, by kind (`llm` or `source`) and target (the model or the source)."""

from prometheus_client import Counter, Gauge, Histogram

REQUESTS = Counter(
    "assayer_outbound_requests_total",
    "Requests sent, by response status; `none` if there was no response.",
    ["kind", "target", "status"],
)
BYTES = Counter("assayer_outbound_bytes_total", "Bytes of response bodies after decompression.", ["kind", "target"])
TURN_WAITS = Histogram(
    "assayer_outbound_wait_seconds",
    "Seconds that requests waited for admission.",
    ["kind", "target"],
    buckets=(0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600),
)
CACHE_HITS = Counter(
    "assayer_outbound_cache_hits_total",
    "Calls answered without a request: from the shared cache (stored), or by another caller's request (shared).",
    ["kind", "target", "how"],
)
FAILURES = Counter(
    "assayer_outbound_failures_total",
    "Calls that failed, by cause: unavailable, busy, refused, storage, defect.",
    ["kind", "target", "cause"],
)
PARSE_FAILURES = Counter(
    "assayer_source_parse_failures_total",
    "Responses, or records in them, that could not be parsed.",
    ["source", "cause"],
)
BREAKER_OPEN = Gauge(
    "assayer_outbound_breaker_open",
    "1 while requests to a target are suspended because it keeps failing.",
    ["kind", "target"],
    multiprocess_mode="livemax",
)
