"""Labelled ideas on their way into a graph: taken apart and embedded, many at once."""

from collections.abc import Callable, Sequence

import numpy as np

from assayer.errors import InputError
from assayer.flow import together
from assayer.methods.grapheval.extraction import extract, relate
from assayer.methods.grapheval.records import GraphPlan, KnownIdea, NewIdea
from assayer.methods.grapheval.splitter import SPLITTER, split
from assayer.methods.grapheval.viewpoints import Viewpoints
from assayer.ports import Embedder, Llm
from assayer.run import Run

__all__ = ["prepare"]

_IDEAS_AT_ONCE = 32

Pairs = tuple[tuple[int, int], ...]
Told = Callable[[int, int], None]
"""Ideas done, and ideas in all."""


async def prepare(
    ideas: Sequence[KnownIdea],
    plan: GraphPlan,
    embedder: Embedder,
    llm: Llm,
    run: Run,
    most: int,
    characters: int,
    progress: Told = lambda done, total: None,
) -> list[NewIdea]:
    """In the same order, at most `most` viewpoints of the first `characters` of each. Raises InputError for an idea
    without a statement, and what the model's door raises."""
    prepared: list[NewIdea] = []
    for start in range(0, len(ideas), _IDEAS_AT_ONCE):
        some = ideas[start : start + _IDEAS_AT_ONCE]
        taken = await together(_take_apart(idea, plan, llm, run, most, characters) for idea in some)
        texts = [viewpoint.text for one, _ in taken for viewpoint in one.viewpoints]
        vectors = await embedder.embed(texts, "passage")
        ends = np.cumsum([len(one.viewpoints) for one, _ in taken])
        parts = np.split(vectors, ends[:-1])
        prepared += [
            NewIdea(idea, one, part, pairs) for idea, (one, pairs), part in zip(some, taken, parts, strict=True)
        ]
        progress(len(prepared), len(ideas))
    return prepared


async def _take_apart(
    idea: KnownIdea, plan: GraphPlan, llm: Llm, run: Run, most: int, characters: int
) -> tuple[Viewpoints, Pairs]:
    text = idea.text[:characters]
    if plan.maker == SPLITTER:
        taken = Viewpoints(viewpoints=split(text, most), maker=SPLITTER)
    else:
        taken = await extract(text, llm, run, most)
    if not taken.viewpoints:
        raise InputError(
            f"Idea {idea.id!r} holds no statement to compare: {text[:60]!r}.", "It needs at least one whole sentence."
        )
    pairs = tuple(await relate(text, taken.viewpoints, llm, run)) if plan.relations else ()
    return taken, pairs
