"""How models that are often used were trained to be asked; what a folder or a hub page says only in prose."""

from collections.abc import Mapping
from types import MappingProxyType
from typing import Literal, NamedTuple

__all__ = ["KNOWN", "Adapted", "Pooling", "Usage", "adapted", "known"]

Pooling = Literal["mean", "cls", "lasttoken"]


class Usage(NamedTuple):
    """None: as the model's own configuration says."""

    pooling: Pooling | None = None
    query_prefix: str | None = None
    passage_prefix: str | None = None
    max_tokens: int | None = None


_MINILM = Usage("mean", "", "", 256)
_BGE = Usage("cls", "Represent this sentence for searching relevant passages: ", "", 512)
_E5 = Usage("mean", "query: ", "passage: ", 512)
_SPECTER = Usage("cls", "", "", 512)

KNOWN: Mapping[str, Usage] = MappingProxyType(
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


def known(model: str) -> Usage:
    """All None for a model that is not in the table."""
    return KNOWN.get(model.rstrip("/").rsplit("/", 1)[-1], Usage())


class Adapted(NamedTuple):
    """A model whose adapter differs between queries and passages. Its parts lie beside each other: repositories of one
    organisation, or folders in one folder."""

    base: str
    query: str
    passage: str


_ADAPTED = {"specter2": Adapted("specter2_base", "specter2_adhoc_query", "specter2")}


def adapted(model: str) -> Adapted | None:
    """None for a model without adapters."""
    place, slash, name = model.rstrip("/").rpartition("/")
    parts = _ADAPTED.get(name)
    return parts and Adapted(*(f"{place}{slash}{part}" for part in parts))
