"""Everything a method may use, handed over by whoever composes the program."""

from dataclasses import dataclass

from assayer.ports import Embedder, FullTexts, Literature, Llm

__all__ = ["World"]


@dataclass(frozen=True)
class World:
    llm: Llm
    literature: Literature
    full_texts: FullTexts
    embedder: Embedder
