"""The embedder that the settings name, on this machine. Importing this module does not import torch."""

from collections.abc import Callable
from typing import Protocol, runtime_checkable

from assayer.ports import Embedder
from workers.embedding.embedder import SentenceTransformerEmbedder
from workers.embedding.lexical_embedder import BgeM3Embedder
from workers.embedding.settings import EmbedderSettings

__all__ = ["LocalEmbedder", "SharesProcessors", "local_embedder"]


@runtime_checkable
class SharesProcessors(Protocol):
    """What a model on this machine can be told besides what it embeds."""

    def share_processors(self, alone: Callable[[], bool]) -> None:
        """From now on `alone()` says whether nobody else computes in this process."""
        ...

    def preload(self) -> None:
        """Begins to load the model, where that may be done beside other work, and does not wait."""
        ...


class LocalEmbedder(Embedder, SharesProcessors, Protocol):
    """Also an `assayer.ports.LexicalEmbedder` where its model weighs tokens."""

    def close(self) -> None:
        """Ends its thread; texts still waiting are not computed."""
        ...


def local_embedder(settings: EmbedderSettings) -> LocalEmbedder:
    """Its model loads at first use."""
    return BgeM3Embedder(settings) if settings.library == "FlagEmbedding" else SentenceTransformerEmbedder(settings)
