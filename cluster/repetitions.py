"""Repeated evaluations of the same text, each with its own model answers."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from cluster.engine import Engine
from cluster.language_model import open_llm
from orchestrator.store import Database


@asynccontextmanager
async def answering_anew(engine: Engine, database: Database, repetition: int) -> AsyncIterator[Engine]:
    """Open the engine with a language model whose answers are stored separately from those of earlier repetitions, so
    that a restarted run finds them. Yields the engine itself for the first repetition or without a model."""
    llm = engine.settings.llm
    async with AsyncExitStack() as stack:
        if llm is not None and repetition > 1:
            apart = llm.model_copy(update={"endpoint_name": f"{llm.endpoint}, evaluation {repetition}"})
            settings = engine.settings.model_copy(update={"llm": apart})
            # An endpoint that has gone since stops the repetition, and costs nothing of what was evaluated before.
            answers = await open_llm(settings, database, stack, must_answer=False)
            engine = replace(engine, settings=settings, backends=replace(engine.backends, llm=answers))
        yield engine
