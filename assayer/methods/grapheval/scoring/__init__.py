"""Scorers of outcomes, their calibration, and how they are measured on held-out ideas."""
