"""Thousands of calls in flight in one process that speaks to an LLM."""
