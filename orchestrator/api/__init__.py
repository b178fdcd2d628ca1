"""The HTTP API: FastAPI over the stores, RFC 9457 problems, nothing kept between requests."""
