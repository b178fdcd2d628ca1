"""Pools on one small Ray: each test starts those that it asks, and no service."""
