"""What engines are asked for here: work that can travel to another process, as `__main__` cannot."""

from dataclasses import dataclass

from assayer.models import Idea, Report
from assayer.ports import Progress
from cluster.engine import Engine

__all__ = ["Evaluate", "WarmUp"]


@dataclass(frozen=True)
class WarmUp:
    async def __call__(self, engine: Engine, progress: Progress) -> None:
        await engine.backends.embedder.embed(["warm-up"], "query")


@dataclass(frozen=True)
class Evaluate:
    idea: Idea
    method: str

    async def __call__(self, engine: Engine, progress: Progress) -> Report:
        return (await engine.evaluate(self.idea, self.method, self.idea.cutoff, progress)).report
