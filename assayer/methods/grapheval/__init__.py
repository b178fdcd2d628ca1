"""GraphEval: ideas as graphs of viewpoints, judged by their labelled neighbours."""

from assayer.methods.grapheval.judge import Judge
from assayer.methods.grapheval.options import Options
from assayer.methods.grapheval.pipeline import METHOD, evaluate, judged

__all__ = ["METHOD", "Judge", "Options", "evaluate", "judged"]
