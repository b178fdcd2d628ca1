"""Webhooks: signed notifications about the outcome of jobs, sent to an address of the tenant and delivered at least
once."""
