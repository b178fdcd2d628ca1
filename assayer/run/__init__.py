"""Evaluation in progress: its context, budget and journal, and how its steps run concurrently."""
