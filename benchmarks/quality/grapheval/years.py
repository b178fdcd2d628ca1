"""Predicts decisions forward in time: learns from ICLR up to 2021 and predicts 2022, 2024 and 2025, year by year."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.scoring.baselines import IdeaLogistic
from assayer.methods.grapheval.scoring.calibration import TrainingProvenance, fit_calibration
from assayer.methods.grapheval.scoring.choice import CHOICE, BestOf, candidates
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


class Said(NamedTuple):
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
    known: Sequence[Labelled],
    asked: Sequence[Labelled],
    vectorise: Vectoriser,
    classes: tuple[str, ...],
    provenance: TrainingProvenance,
) -> list[Said]:
    """Score the test papers. Each scorer sees them one at a time: none is another paper's neighbour."""
    alone = embedded(known, vectorise, classes)
    is_asked = np.arange(len(known) + len(asked)) >= len(known)
    together = embedded([*known, *asked], vectorise, classes, is_asked)
    rows = np.flatnonzero(is_asked).astype(np.int32)
    hidden = together.graph.hide_labels(rows)
    found = []
    for inside, outside, kind in zip(_scorers(alone), _scorers(together), _KINDS, strict=True):
        raw = outside.score(hidden, rows)
        found.append(Said(inside.name, kind, raw, _calibrated(inside, alone, raw, provenance)))
    choosable = candidates(alone.texts).choosable
    chosen = BestOf(CHOICE, choosable).choose(alone.graph, np.empty(0, np.int32)).name
    by_choice = next(item for item in found if item.scorer == chosen)
    return [by_choice._replace(scorer=f"{CHOICE}: {chosen}", kind="ours"), *found, _longer(asked, len(classes))]


def _longer(asked: Sequence[Labelled], classes: int) -> Said:
    """Predict a better outcome for a longer text; it learns nothing and gives no probabilities."""
    lengths = np.log([len(item.text) for item in asked])
    shares = (lengths - lengths.min()) / max(np.ptp(lengths), 1e-9)
    raw = np.zeros((len(asked), classes))
    raw[:, 0], raw[:, -1] = 1 - shares, shares
    return Said(LONGER, "simple", raw, np.full_like(raw, np.nan))


def _scorers(data: Embedded) -> Sequence[Scorer]:
    def whole(_: object) -> NDArray[np.float32]:
        return data.whole

    possible = candidates(data.texts)
    return (
        *possible.choosable,
        IdeaLogistic("embedding + logistic regression", whole),
        NearestIdeas(20, "20 nearest neighbours, embedding", whole),
        *possible.yardsticks,
    )


def _calibrated(
    scorer: Scorer, data: Embedded, raw: NDArray[np.float64], provenance: TrainingProvenance
) -> NDArray[np.float64]:
    graph = data.graph
    scores = score_held_out(scorer, graph, split_into_folds(graph, _FOLDS, provenance.seed))
    made = fit_calibration("inside", scorer.name, graph.classes, scores, graph.labels, provenance, replicates=1)
    return np.array([verdict.probabilities for verdict in made.verdicts(raw)])
