"""Webhooks: signed messages about the outcome of jobs, delivered at least once to an address of the tenant."""
