"""Options for GraphEval. Where the paper specifies a number, it is the default."""

from pydantic import Field

from assayer.models import Frozen

METHOD = "grapheval"
HOPS = 1
"""Number of hops around an idea within which the graph is examined. On ICLR 2017's decisions, propagation over one hop
(AUROC 0.556) does as well as over two (0.561) or over the whole graph (0.560)."""


class GraphEvalOptions(Frozen):
    graph: str = "default"
    """Name of the viewpoint graph."""
    viewpoints: int = Field(default=64, ge=1)
    """Maximum number of viewpoints per idea; further ones are counted as left out."""
    idea_chars: int = Field(default=30_000, ge=1_000)
    """Maximum number of an idea's characters that are read. Longer ideas are cut, and the report says so."""
    explained: int = Field(default=8, ge=0)
    """Number of viewpoints shown as evidence."""
    shown_neighbours: int = Field(default=4, ge=1)
    """Number of neighbours shown for each of these viewpoints."""
