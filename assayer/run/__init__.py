"""Evaluation in progress: its context, budget and journal, and the concurrent execution of its steps."""
