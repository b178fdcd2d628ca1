"""Webhooks: signed notifications to an address of the tenant about the outcome of jobs, delivered at least once."""
