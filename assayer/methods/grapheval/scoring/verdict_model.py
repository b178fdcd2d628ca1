"""What `assayer graph train` writes and a verdict is spoken from: the chosen scorer, its calibration, its card."""

import datetime as dt
from collections.abc import Mapping

import numpy as np

from assayer.methods.grapheval.graph.arrays import GraphArrays, Rows
from assayer.methods.grapheval.scoring.baselines import IdeaLogistic, TfidfLogistic
from assayer.methods.grapheval.scoring.calibration import ProbabilityCalibration
from assayer.methods.grapheval.scoring.fitted_logistic import FeatureKind, FittedLogistic
from assayer.models import Frozen, IdeaId, ScorerChoice

__all__ = ["VerdictModel", "fit_logistic"]


class VerdictModel(Frozen):
    """JSON-able. Its card is `choice` with the provenance of the calibration: what it learned from, how it was split,
    what it and simpler scorers are worth on ideas held out."""

    calibration: ProbabilityCalibration
    choice: ScorerChoice
    earliest: dt.date | None
    latest: dt.date | None
    """Of the ideas learned from; None where none is dated."""
    fitted: FittedLogistic | None
    """None where the chosen scorer reads labels off the graph and nothing has to be fitted."""


def fit_logistic(
    kind: FeatureKind, graph: GraphArrays, texts: Mapping[IdeaId, str], without: Rows | None = None
) -> FittedLogistic:
    """From all ideas with a label but some. Raises InputError where fewer than two outcomes are left."""
    left_out = np.empty(0, np.int32) if without is None else without
    if kind == "mean viewpoint":
        return IdeaLogistic().fitted(graph, left_out)
    return TfidfLogistic(texts).fitted(graph, left_out)
