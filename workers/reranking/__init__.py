"""Reranking: how well texts answer a query, by a cross-encoder on this machine."""

from workers.reranking.reranker import CrossEncoderReranker
from workers.reranking.settings import RerankerSettings

__all__ = ["CrossEncoderReranker", "RerankerSettings"]
