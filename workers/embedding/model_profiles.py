"""Profiles of common embedding models: pooling, prefixes and maximum length as used in training, which model pages
state only in prose."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

Pooling = Literal["mean", "cls", "lasttoken"]


class EmbeddingProfile(NamedTuple):
    """An embedding model's pooling, prefixes and maximum length. None means that the model's own configuration
    applies."""

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
"""Profiles keyed by the last part of the model's name, so that they also apply to a downloaded folder with that
name."""


def find_profile(model: str) -> EmbeddingProfile:
    """Return a model's profile. All its fields are None if the model is not in the table."""
    return EMBEDDING_PROFILES.get(model.rstrip("/").rsplit("/", 1)[-1], EmbeddingProfile())


class AdapterNames(NamedTuple):
    """Model with different adapters for queries and for passages. Base model and adapters are repositories of one
    organisation, or subfolders of one folder."""

    base: str
    query: str
    passage: str


_ADAPTERS = {"specter2": AdapterNames("specter2_base", "specter2_adhoc_query", "specter2")}


def find_adapters(model: str) -> AdapterNames | None:
    """Return a model's adapters, or None if it has none."""
    folder, slash, name = model.rstrip("/").rpartition("/")
    parts = _ADAPTERS.get(name)
    return parts and AdapterNames(*(f"{folder}{slash}{part}" for part in parts))
