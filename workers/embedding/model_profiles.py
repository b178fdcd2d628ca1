"""How often used embedding models were trained to be asked: pooling, prefixes and length, which a hub page says only in
prose.
"""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

__all__ = ["EMBEDDING_PROFILES", "AdapterNames", "EmbeddingProfile", "Pooling", "adapters_of", "profile_of"]

Pooling = Literal["mean", "cls", "lasttoken"]


class EmbeddingProfile(NamedTuple):
    """None: as the model's own configuration says."""

    pooling: Pooling | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None
    max_tokens: int | None = None


_MINILM = EmbeddingProfile("mean", "", "", 256)
_BGE = EmbeddingProfile("cls", "Represent this sentence for searching relevant passages: ", "", 512)
_E5 = EmbeddingProfile("mean", "query: ", "passage: ", 512)
_SPECTER = EmbeddingProfile("cls", "", "", 512)

EMBEDDING_PROFILES: Mapping[str, EmbeddingProfile] = MappingProxyType(
    {
        "all-MiniLM-L6-v2": _MINILM,
        **{f"bge-{size}-en-v1.5": _BGE for size in ("small", "base", "large")},
        **{f"e5-{size}-v2": _E5 for size in ("small", "base", "large")},
        **{f"multilingual-e5-{size}": _E5 for size in ("small", "base", "large")},
        "specter2": _SPECTER,
        "specter2_base": _SPECTER,
        "allenai-specter": _SPECTER,
    }
)
"""By the last part of the name, so that a downloaded folder of that name counts too."""


def profile_of(model: str) -> EmbeddingProfile:
    """All None for a model that is not in the table."""
    return EMBEDDING_PROFILES.get(model.rstrip("/").rsplit("/", 1)[-1], EmbeddingProfile())


class AdapterNames(NamedTuple):
    """A model whose adapter differs between queries and passages. Its parts lie beside each other: repositories of one
    organisation, or folders in one folder."""

    base: str
    query: str
    passage: str


_ADAPTERS = {"specter2": AdapterNames("specter2_base", "specter2_adhoc_query", "specter2")}


def adapters_of(model: str) -> AdapterNames | None:
    """None for a model without adapters."""
    place, slash, name = model.rstrip("/").rpartition("/")
    parts = _ADAPTERS.get(name)
    return parts and AdapterNames(*(f"{place}{slash}{part}" for part in parts))
