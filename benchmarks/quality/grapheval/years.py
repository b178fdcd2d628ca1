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
from benchmarks.quality.grapheval.data import LabelledPaper
from benchmarks.quality.grapheval.graphs import EmbeddedPapers, Vectoriser, embed_papers
from benchmarks.quality.judged_sets.simple import LONGER

LAST_TRAINING_YEAR = 2021
_FOLDS = 5
_KINDS: Sequence[Kind] = ("ours", "ours", "simple", "simple", "simple", "simple", "simple", "simple")
"""Kinds of the scorers in `_list_scorers`, in order."""


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


def predict_forward(
    earlier_papers: Sequence[LabelledPaper],
    test_papers: Sequence[LabelledPaper],
    vectorise: Vectoriser,
    classes: tuple[str, ...],
    provenance: TrainingProvenance,
) -> list[Prediction]:
    """Score the test papers. Each scorer sees them one at a time: none is another paper's neighbour."""
    earlier_data = embed_papers(earlier_papers, vectorise, classes)
    is_test = np.arange(len(earlier_papers) + len(test_papers)) >= len(earlier_papers)
    all_data = embed_papers([*earlier_papers, *test_papers], vectorise, classes, is_test)
    rows = np.flatnonzero(is_test).astype(np.int32)
    hidden_graph = all_data.graph.hide_labels(rows)
    predictions = []
    for earlier_scorer, full_scorer, kind in zip(
        _list_scorers(earlier_data), _list_scorers(all_data), _KINDS, strict=True
    ):
        raw = full_scorer.score(hidden_graph, rows)
        predictions.append(
            Prediction(earlier_scorer.name, kind, raw, _calibrate(earlier_scorer, earlier_data, raw, provenance))
        )
    choosable_scorers = list_candidates(earlier_data.texts).choosable
    chosen_name = BestOf(CHOICE, choosable_scorers).choose(earlier_data.graph, np.empty(0, np.int32)).name
    chosen_prediction = next(prediction for prediction in predictions if prediction.scorer == chosen_name)
    return [
        chosen_prediction._replace(scorer=f"{CHOICE}: {chosen_name}", kind="ours"),
        *predictions,
        _predict_by_length(test_papers, len(classes)),
    ]


def _predict_by_length(test_papers: Sequence[LabelledPaper], classes: int) -> Prediction:
    """Predict a better outcome for a longer text; it learns nothing and gives no probabilities."""
    lengths = np.log([len(paper.text) for paper in test_papers])
    shares = (lengths - lengths.min()) / max(np.ptp(lengths), 1e-9)
    raw = np.zeros((len(test_papers), classes))
    raw[:, 0], raw[:, -1] = 1 - shares, shares
    return Prediction(LONGER, "simple", raw, np.full_like(raw, np.nan))


def _list_scorers(data: EmbeddedPapers) -> Sequence[Scorer]:
    def get_text_vectors(_: object) -> NDArray[np.float32]:
        return data.text_vectors

    available = list_candidates(data.texts)
    return (
        *available.choosable,
        IdeaLogistic("embedding + logistic regression", get_text_vectors),
        NearestIdeas(20, "20 nearest neighbours, embedding", get_text_vectors),
        *available.yardsticks,
    )


def _calibrate(
    scorer: Scorer, data: EmbeddedPapers, raw: NDArray[np.float64], provenance: TrainingProvenance
) -> NDArray[np.float64]:
    graph = data.graph
    scores = score_held_out(scorer, graph, split_into_folds(graph, _FOLDS, provenance.seed))
    calibration = fit_calibration("inside", scorer.name, graph.classes, scores, graph.labels, provenance, replicates=1)
    return np.array([verdict.probabilities for verdict in calibration.calibrate(raw)])
