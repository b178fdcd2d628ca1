"""Coordination of concurrent work: single-flight, fair queueing, admission by priority, claims."""
