"""Options of GraphEval. The defaults follow the paper if it specifies a number."""

from typing import Literal

from pydantic import Field

from assayer.models import Frozen

METHOD = "grapheval"
MAX_ROUNDS = 5
"""Maximum rounds of label propagation."""


class GraphEvalOptions(Frozen):
    graph: str = "default"
    """Name of the viewpoint graph."""
    scorer: Literal["best", "propagation", "network"] = "best"
    """Scorer of ideas. `best` is the scorer that `assayer graph train` chose among propagation and regressions on
    words and embeddings, or propagation if nothing was trained; `network` requires a network trained on this graph."""
    prior: tuple[float, ...] | None = None
    """Label rates of the venue where the idea will be judged, in the graph's class order; None uses the
    calibration's rates."""
    rounds: int = Field(default=MAX_ROUNDS, ge=1)
    strongest: int | None = Field(default=3, ge=1)
    """Number of nearest viewpoints of other ideas from which each viewpoint receives labels. None uses all edges,
    as in the paper. On real decisions, few edges are more informative than many: docs/evidence/grapheval.md."""
    hops: int | None = Field(default=None, ge=1, le=5)
    """Number of hops around an idea within which the graph is examined; None uses the largest number from which the
    scorer benefits."""
    viewpoints: int = Field(default=64, ge=1)
    """Maximum number of viewpoints of one idea; further viewpoints are counted as left out."""
    idea_chars: int = Field(default=30_000, ge=1_000)
    """Maximum characters of an idea; longer ideas are cut, and the cut is reported."""
    explained: int = Field(default=8, ge=0)
    """Number of viewpoints shown as evidence."""
    shown_neighbours: int = Field(default=4, ge=1)
    """Number of neighbours shown for each explained viewpoint."""

    @property
    def reach(self) -> int:
        """Number of hops in use. On ICLR 2017's decisions, propagation over one hop (AUROC 0.556) is as good as
        over two (0.561) or the whole graph (0.560); a network has two layers."""
        return self.hops or {"best": 1, "propagation": 1, "network": 2}[self.scorer]
