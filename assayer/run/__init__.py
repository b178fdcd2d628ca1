"""A running evaluation: its context, budget and journal, and concurrent execution of its steps."""
