"""Reranking: score how well texts answer a query, with a cross-encoder or a language model on this machine.

Only the settings are exported here, so that importing them does not load the implementation."""

from workers.reranking.settings import RerankerSettings

__all__ = ["RerankerSettings"]
