"""The HTTP API: FastAPI routes on top of the stores. Errors are RFC 9457 problem documents; no state is kept between
requests."""
