"""What the remote sources cost, by source."""

from prometheus_client import Counter, Gauge, Histogram

__all__ = [
    "BREAKER_OPEN",
    "BYTES",
    "CACHE_HITS",
    "FAILURES",
    "PARSE_FAILURES",
    "RATE_LIMITED",
    "REQUESTS",
    "TURN_WAITS",
]

REQUESTS = Counter("assayer_source_requests_total", "Requests sent, by status of the answer.", ["source", "status"])
TURN_WAITS = Histogram(
    "assayer_source_turn_wait_seconds",
    "Time from wanting to send a request to having a turn.",
    ["source"],
    buckets=(0.01, 0.1, 0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600),
)
RATE_LIMITED = Counter("assayer_source_rate_limited_total", "Answers that said: too many requests.", ["source"])
CACHE_HITS = Counter(
    "assayer_source_cache_hits_total",
    "Calls answered without a request of their own: from the shared cache (stored), or by another's (shared).",
    ["source", "how"],
)
BYTES = Counter("assayer_source_bytes_total", "Bytes of answers' bodies, decompressed.", ["source"])
FAILURES = Counter(
    "assayer_source_failures_total",
    "Calls that ended without an answer, by cause: unavailable, busy, refused, storage.",
    ["source", "cause"],
)
PARSE_FAILURES = Counter(
    "assayer_source_parse_failures_total", "Answers, or records in them, that could not be read.", ["source", "cause"]
)
BREAKER_OPEN = Gauge(
    "assayer_source_breaker_open",
    "1 while a source that keeps failing is left alone.",
    ["source"],
    multiprocess_mode="livemax",
)
