"""GraphEval's scores of proposals, learned only from past ICLR decisions: the program without a language model."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.scoring.calibration import TrainingProvenance
from assayer.methods.grapheval.scoring.metrics import compute_brier_score, compute_calibration_error
from assayer.models import IdeaId
from benchmarks.quality.figures import Figure, Kind, estimated
from benchmarks.quality.grapheval.data import CLASSES, Labelled, decisions_by_year
from benchmarks.quality.grapheval.graphs import Vectoriser
from benchmarks.quality.grapheval.years import LAST_LEARNED, forward_in_time
from benchmarks.quality.judged_sets.judged import JudgedSet

Values = dict[tuple[str, Kind], NDArray[np.float64]]


def past_decisions(
    sets: Sequence[JudgedSet], vectorise: Vectoriser, provenance: TrainingProvenance, rounds: int
) -> tuple[dict[tuple[str, str], Values], list[Figure]]:
    """Return the values of the proposals by set, and figures of how well the decision probabilities are calibrated.
    Every scorer learns from ICLR up to 2021 and sees one proposal at a time."""
    earlier_papers = [paper for year, papers in decisions_by_year().items() if year <= LAST_LEARNED for paper in papers]
    day = max(item.day for item in earlier_papers)
    asked = {item.id: Labelled(IdeaId(item.id), item.text, 0, day) for judged in sets for item in judged.items}
    places = {name: place for place, name in enumerate(asked)}
    values: dict[tuple[str, str], Values] = {judged.where: {} for judged in sets}
    figures: list[Figure] = []
    measures = [("ECE", compute_calibration_error, None), ("Brier", compute_brier_score, None)]
    for prediction in forward_in_time(earlier_papers, [*asked.values()], vectorise, CLASSES, provenance):
        name = prediction.scorer if prediction.nothing_learned else f"{prediction.scorer}, from ICLR to {LAST_LEARNED}"
        for judged in sets:
            rows = np.array([places[item.id] for item in judged.items])
            values[judged.where][name, prediction.kind] = prediction.raw[rows, 1]
            if judged.decided and not prediction.nothing_learned:
                truth = judged.truth.astype(np.int16)
                figures += estimated(
                    judged.where, (name, prediction.kind), measures, truth, [prediction.calibrated[rows]], rounds
                )
    return values, figures
