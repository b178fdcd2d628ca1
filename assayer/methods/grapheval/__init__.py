"""GraphEval method: splits ideas into graphs of viewpoints and judges an idea by its labelled neighbours.

Only the options are exported here, so that reading the settings does not load numerical libraries.
"""

from assayer.methods.grapheval.options import METHOD, GraphEvalOptions

__all__ = ["METHOD", "GraphEvalOptions"]
