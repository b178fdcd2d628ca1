"""Webhooks: signed messages about the outcome of jobs, delivered at least once to the tenant's URL."""
