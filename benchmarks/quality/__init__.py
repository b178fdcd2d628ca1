"""Benchmark of the quality of verdicts and the validity of reports."""
