"""HTTP API: FastAPI over the stores, with RFC 9457 problems and no state between requests."""
