"""Whether a version can be read here."""

from pathlib import Path
from typing import Protocol

from assayer.errors import CorpusError
from assayer.ports import Embedder

__all__ = ["refuse_other_model"]


class Made(Protocol):
    """With an embedding model: a manifest, or what is known of a corpus elsewhere."""

    @property
    def embedder(self) -> str: ...

    @property
    def dimensions(self) -> int: ...


def refuse_other_model(manifest: Made, embedder: Embedder, directory: Path) -> None:
    """Raises CorpusError for a corpus of another embedding model."""
    # The name first: to tell its dimensions a model may have to be fetched and loaded.
    if manifest.embedder != embedder.name or manifest.dimensions != embedder.dimensions:
        raise CorpusError(
            f"The corpus in {directory} was built with the embedding model {manifest.embedder} "
            f"({manifest.dimensions} dimensions), not with the present {embedder.name}.",
            "Configure that model (ASSAYER_EMBEDDER__MODEL), or build again: assayer corpus build PATH.",
        )
