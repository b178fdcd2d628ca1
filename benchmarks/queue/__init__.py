"""Benchmark of the job queue on a real PostgreSQL: tenants' shares, operations per second, queries over many jobs."""
