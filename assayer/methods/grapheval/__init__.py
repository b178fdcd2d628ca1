"""GraphEval: ideas as graphs of viewpoints, judged by their labelled neighbours.

Only the options are exported here, so that reading the settings loads no numerical library.
"""

from assayer.methods.grapheval.options import METHOD, GraphEvalOptions

__all__ = ["METHOD", "GraphEvalOptions"]
