"""Processes killed while the service works; small here, for minutes in benchmarks.chaos."""
