"""The verdict model that `assayer graph train` writes: the chosen scorer, its calibration and its model card."""

import datetime as dt
from collections.abc import Mapping

import numpy as np

from assayer.methods.grapheval.graph.arrays import GraphArrays, Rows
from assayer.methods.grapheval.scoring.baselines import IdeaLogistic, TfidfLogistic
from assayer.methods.grapheval.scoring.calibration import ProbabilityCalibration
from assayer.methods.grapheval.scoring.fitted_logistic import FeatureKind, FittedLogistic
from assayer.models import Frozen, IdeaId, ScorerChoice


class VerdictModel(Frozen):
    """A verdict model, serialisable to JSON. Its model card consists of `choice` and the calibration's provenance: the
    training data, the split, and the measured quality of the model and of simpler scorers on held-out ideas."""

    calibration: ProbabilityCalibration
    choice: ScorerChoice
    earliest: dt.date | None
    latest: dt.date | None
    """Latest date among the training ideas; `earliest` is the earliest. None if no idea is dated."""
    fitted: FittedLogistic | None
    """The fitted regression, or None if the chosen scorer reads labels from the graph and needs no fitting."""


def fit_logistic(
    kind: FeatureKind, graph: GraphArrays, texts: Mapping[IdeaId, str], excluded_rows: Rows | None = None
) -> FittedLogistic:
    """Fit a regression to all labelled ideas except `excluded_rows`. Raises InputError if fewer than two outcomes are
    left."""
    left_out = np.empty(0, np.int32) if excluded_rows is None else excluded_rows
    if kind == "mean viewpoint":
        return IdeaLogistic().fit(graph, left_out)
    return TfidfLogistic(texts).fit(graph, left_out)
