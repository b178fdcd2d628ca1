"""GraphEval: ideas as graphs of viewpoints, judged by their labelled neighbours.

Only the options are exported here, so that reading the settings loads no numerical library.
"""

from assayer.methods.grapheval.options import MAX_ROUNDS, METHOD, GraphEvalOptions

__all__ = ["MAX_ROUNDS", "METHOD", "GraphEvalOptions"]
