"""How GraphEval looks at an idea. The defaults follow the paper where it gives a number."""

from typing import Literal

from pydantic import Field

from assayer.models import Frozen

__all__ = ["MAX_ROUNDS", "METHOD", "GraphEvalOptions"]

METHOD = "grapheval"
MAX_ROUNDS = 5
"""Of label propagation."""


class GraphEvalOptions(Frozen):
    graph: str = "default"
    """Name of the viewpoint graph."""
    scorer: Literal["best", "propagation", "network"] = "best"
    """`best` is what `assayer graph train` chose among propagation and regressions on words and embeddings, and
    propagation before that; `network` needs one trained on this graph."""
    prior: tuple[float, ...] | None = None
    """Shares of the outcomes where the idea will be judged, in the graph's order; None: those of the calibration."""
    rounds: int = Field(default=MAX_ROUNDS, ge=1)
    strongest: int | None = Field(default=3, ge=1)
    """Viewpoints of other ideas that each viewpoint receives labels from, the nearest ones; None: all of its edges, as
    the paper has it. On real decisions few edges tell more than many: docs/quality/grapheval.md."""
    hops: int | None = Field(default=None, ge=1, le=5)
    """How far around an idea the graph is looked at; None: as far as the scorer gains by it."""
    viewpoints: int = Field(default=64, ge=1)
    """Of one idea; what goes beyond is counted as left out."""
    idea_chars: int = Field(default=30_000, ge=1_000)
    """Longer ideas are cut, and the cut is reported."""
    explained: int = Field(default=8, ge=0)
    """Viewpoints shown as evidence."""
    shown_neighbours: int = Field(default=4, ge=1)
    """Of each of these."""

    @property
    def reach(self) -> int:
        """Hops that are used. Propagation tells ICLR 2017's decisions apart as well over one (AUROC 0.556) as over two
        (0.561) or the whole graph (0.560); a network has two layers."""
        return self.hops or {"best": 1, "propagation": 1, "network": 2}[self.scorer]
