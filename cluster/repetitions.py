"""Repeated evaluations of the same text, with separate model answers for each repetition."""

from collections.abc import AsyncIterator
from contextlib import AsyncExitStack, asynccontextmanager
from dataclasses import replace

from cluster.engine import Engine
from cluster.language_model import open_llm
from orchestrator.store import Database


@asynccontextmanager
async def answer_anew(engine: Engine, database: Database, repetition: int) -> AsyncIterator[Engine]:
    """Yield a copy of the engine that stores its model answers separately for this repetition, so that earlier answers
    are not reused, but a restarted run finds its own. For the first repetition (1) or without a model, yields the
    engine itself."""
    llm = engine.settings.llm
    async with AsyncExitStack() as stack:
        if llm is not None and repetition > 1:
            separate_llm = llm.model_copy(update={"endpoint_name": f"{llm.endpoint}, evaluation {repetition}"})
            settings = engine.settings.model_copy(update={"llm": separate_llm})
            # Not checked here: if the endpoint has become unreachable, only this repetition should fail.
            gateway = await open_llm(settings, database, stack, must_answer=False)
            engine = replace(engine, settings=settings, backends=replace(engine.backends, llm=gateway))
        yield engine
