"""Webhooks: tenants are told, at an address of theirs, how their jobs ended: at least once, and signed."""
