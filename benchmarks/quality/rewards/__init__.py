"""Probes of the judge of rewards: what earns one that should not, and what seats of known error make of it."""
