"""Blind mode: an idea without what says whose it is."""
