"""Shared HTTP infrastructure of the API and the console: problems, authentication, limits, the request log."""
