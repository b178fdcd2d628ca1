"""Rewards through the service: how many an hour, how long one takes, and what it costs."""
