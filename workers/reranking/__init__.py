"""Reranking: how well texts answer a query, by a cross-encoder or a language model on this machine.

Only the settings are exported here, so that reading the settings loads nothing that does the work.
"""

from workers.reranking.settings import RerankerSettings

__all__ = ["RerankerSettings"]
