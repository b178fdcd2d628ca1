"""Benchmark of the console's table for a large call."""
