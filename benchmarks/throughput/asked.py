"""Work that the benchmark submits to engines, in a module of its own because `__main__` cannot be pickled."""

from dataclasses import dataclass

from assayer.models import Idea, Report
from assayer.ports import Progress
from cluster.engine import Engine


@dataclass(frozen=True)
class Evaluate:
    idea: Idea
    method: str

    async def __call__(self, engine: Engine, progress: Progress) -> Report:
        return (await engine.evaluate(self.idea, self.method, self.idea.cutoff, progress)).report
