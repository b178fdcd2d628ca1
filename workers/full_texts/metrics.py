"""Metrics of fetching and reading full texts."""

from prometheus_client import Counter, Gauge, Histogram

COPIES = Counter(
    "assayer_full_text_copies_total",
    "Requested copies of papers, by repository and outcome: fetched, stored, or the class of the error.",
    ["source", "outcome"],
)
PARSED = Counter("assayer_full_texts_parsed_total", "Documents read, by parser.", ["parser"])
PARSE_FAILURES = Counter(
    "assayer_full_text_parse_failures_total", "Documents that a parser could not read, by cause.", ["parser", "cause"]
)
PARSE_SECONDS = Histogram(
    "assayer_full_text_parse_seconds",
    "Seconds from calling a parser to its result, including the wait for a slot.",
    ["parser"],
    buckets=(0.1, 0.25, 0.5, 1, 2.5, 5, 10, 30, 60, 120, 300),
)
GROBID_ANSWERS = Counter(
    "assayer_grobid_responses_total",
    "Responses of GROBID servers by outcome: tei, empty, busy, refused, broken.",
    ["server", "outcome"],
)
GROBID_UP = Gauge("assayer_grobid_up", "1 while a server is in the pool.", ["server"], multiprocess_mode="livemin")
