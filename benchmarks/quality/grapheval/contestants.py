"""Who is measured: GraphEval in its variants, and beside it what it must beat."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.graph.arrays import GraphArrays
from assayer.methods.grapheval.graph.subgraph import LocalScorer
from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.scoring.baselines import IdeaLogistic, LengthLogistic, Majority, TfidfLogistic
from assayer.methods.grapheval.scoring.calibration import TrainingProvenance
from assayer.methods.grapheval.scoring.choice import BestOf
from assayer.methods.grapheval.scoring.label_propagation import LabelPropagation, StrongestEdgesScorer
from benchmarks.quality.grapheval.baselines import NearestIdeas
from benchmarks.quality.grapheval.graphs import Embedded
from workers.viewpoint_network import FreshNetwork, TrainingSettings
from workers.viewpoint_network.settings import Architecture

__all__ = ["Contestant", "contestants"]


class Contestant(NamedTuple):
    scorer: Scorer
    baseline: bool
    calibrated: bool = True
    """Calibration inside each training part asks five times as often; those that choose or train go without."""
    trained: bool = False
    """Measured on fewer repeats."""


def contestants(data: Embedded, provenance: TrainingProvenance, network: bool) -> list[Contestant]:
    found = [Contestant(one, True, not isinstance(one, BestOf)) for one in _baselines(data)]
    found += [Contestant(one, False, not isinstance(one, BestOf)) for one in _propagations()]
    if network:
        found += [Contestant(one, False, False, trained=True) for one in _networks(provenance)]
    return found


def _baselines(data: Embedded) -> Sequence[Scorer]:
    def whole(_: GraphArrays) -> NDArray[np.float32]:
        return data.whole

    return (
        Majority(),
        LengthLogistic(data.texts),
        TfidfLogistic(data.texts),
        IdeaLogistic("embedding + logistic regression", whole),
        IdeaLogistic(),
        NearestIdeas(20, "20 nearest neighbours, embedding", whole),
        BestOf("nearest by mean viewpoint, number chosen inside", [NearestIdeas(k) for k in (5, 10, 20, 50)]),
    )


def _propagations() -> Sequence[Scorer]:
    paper = LabelPropagation()
    candidates = [StrongestEdgesScorer(paper, inter) for inter in (1, 2, 3, 5, 10)]
    return (
        paper,
        StrongestEdgesScorer(paper, 1),
        StrongestEdgesScorer(paper, 3),
        LocalScorer(StrongestEdgesScorer(paper, 3), hops=2),
        BestOf("label propagation, strongest edges chosen inside", candidates),
    )


def _networks(provenance: TrainingProvenance) -> Sequence[Scorer]:
    def network(name: str, **architecture: bool) -> Scorer:
        settings = TrainingSettings(architecture=Architecture(**architecture), members=1, patience=10, threads=1)
        return FreshNetwork(settings, provenance, name)

    return (
        network("GraphEval-GNN, the paper's", reads_labels=False),
        StrongestEdgesScorer(network("GraphEval-GNN that reads labels"), 3),
    )
