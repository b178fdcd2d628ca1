"""Predicts decisions forward in time: learns from ICLR up to 2021 and predicts 2022, 2024 and 2025, year by year."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.scoring.baselines import IdeaLogistic
from assayer.methods.grapheval.scoring.calibration import TrainingProvenance, fit_calibration
from assayer.methods.grapheval.scoring.choice import CHOICE, BestOf, list_candidates
from assayer.methods.grapheval.scoring.holdout import score_held_out, split_into_folds
from benchmarks.quality.figures import Kind
from benchmarks.quality.grapheval.baselines import NearestIdeas
from benchmarks.quality.grapheval.data import Labelled
from benchmarks.quality.grapheval.graphs import Embedded, Vectoriser, embedded
from benchmarks.quality.judged_sets.simple import LONGER

LAST_LEARNED = 2021
_FOLDS = 5
_KINDS: Sequence[Kind] = ("ours", "ours", "simple", "simple", "simple", "simple", "simple", "simple")
"""Kinds of the scorers in `_scorers`, in order."""


class Prediction(NamedTuple):
    """One scorer's predictions for the test years, learned from the earlier years."""

    scorer: str
    kind: Kind
    raw: NDArray[np.float64]
    calibrated: NDArray[np.float64]
    """Calibrated within the training years; NaN if nothing was learned."""

    @property
    def nothing_learned(self) -> bool:
        return bool(np.isnan(self.calibrated).all())


def forward_in_time(
    earlier_papers: Sequence[Labelled],
    test_papers: Sequence[Labelled],
    vectorise: Vectoriser,
    classes: tuple[str, ...],
    provenance: TrainingProvenance,
) -> list[Prediction]:
    """Score the test papers. Each scorer sees them one at a time: none is another paper's neighbour."""
    earlier_data = embedded(earlier_papers, vectorise, classes)
    is_test = np.arange(len(earlier_papers) + len(test_papers)) >= len(earlier_papers)
    all_data = embedded([*earlier_papers, *test_papers], vectorise, classes, is_test)
    rows = np.flatnonzero(is_test).astype(np.int32)
    hidden_graph = all_data.graph.hide_labels(rows)
    predictions = []
    for inside, outside, kind in zip(_scorers(earlier_data), _scorers(all_data), _KINDS, strict=True):
        raw = outside.score(hidden_graph, rows)
        predictions.append(Prediction(inside.name, kind, raw, _calibrated(inside, earlier_data, raw, provenance)))
    choosable_scorers = list_candidates(earlier_data.texts).choosable
    chosen_name = BestOf(CHOICE, choosable_scorers).choose(earlier_data.graph, np.empty(0, np.int32)).name
    by_choice = next(item for item in predictions if item.scorer == chosen_name)
    return [
        by_choice._replace(scorer=f"{CHOICE}: {chosen_name}", kind="ours"),
        *predictions,
        _longer(test_papers, len(classes)),
    ]


def _longer(test_papers: Sequence[Labelled], classes: int) -> Prediction:
    """Predict a better outcome for a longer text; it learns nothing and gives no probabilities."""
    lengths = np.log([len(item.text) for item in test_papers])
    shares = (lengths - lengths.min()) / max(np.ptp(lengths), 1e-9)
    raw = np.zeros((len(test_papers), classes))
    raw[:, 0], raw[:, -1] = 1 - shares, shares
    return Prediction(LONGER, "simple", raw, np.full_like(raw, np.nan))


def _scorers(data: Embedded) -> Sequence[Scorer]:
    def whole(_: object) -> NDArray[np.float32]:
        return data.whole

    available = list_candidates(data.texts)
    return (
        *available.choosable,
        IdeaLogistic("embedding + logistic regression", whole),
        NearestIdeas(20, "20 nearest neighbours, embedding", whole),
        *available.yardsticks,
    )


def _calibrated(
    scorer: Scorer, data: Embedded, raw: NDArray[np.float64], provenance: TrainingProvenance
) -> NDArray[np.float64]:
    graph = data.graph
    scores = score_held_out(scorer, graph, split_into_folds(graph, _FOLDS, provenance.seed))
    calibration = fit_calibration("inside", scorer.name, graph.classes, scores, graph.labels, provenance, replicates=1)
    return np.array([verdict.probabilities for verdict in calibration.calibrate(raw)])
