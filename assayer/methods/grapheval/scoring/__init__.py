"""Scorers of outcomes, their calibration, and their measurement on held-out ideas."""
