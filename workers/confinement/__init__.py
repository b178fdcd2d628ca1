"""Parsers of hostile documents, each in a process of its own that can be killed.

Nothing is imported here: the confined process imports `workers.confinement.limits` and must stay small.
"""
