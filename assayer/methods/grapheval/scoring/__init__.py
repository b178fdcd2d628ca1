"""Scorers for outcomes, their calibration, and their measurement on held-out ideas."""
