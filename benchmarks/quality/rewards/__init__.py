"""Probes of the reward judge: which ideas earn a reward that they do not deserve."""
