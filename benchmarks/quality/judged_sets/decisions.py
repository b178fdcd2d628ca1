"""GraphEval's scores of proposals, learned only from past ICLR decisions: the program without a language model."""

from collections.abc import Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.scoring.calibration import TrainingProvenance
from assayer.methods.grapheval.scoring.metrics import compute_brier_score, compute_calibration_error
from assayer.models import IdeaId
from benchmarks.quality.figures import Figure, Kind, build_figures
from benchmarks.quality.grapheval.data import CLASSES, LabelledPaper, read_decisions
from benchmarks.quality.grapheval.graphs import Vectoriser
from benchmarks.quality.grapheval.years import LAST_TRAINING_YEAR, predict_forward
from benchmarks.quality.judged_sets.judged import JudgedSet

Values = dict[tuple[str, Kind], NDArray[np.float64]]


def score_by_past_decisions(
    sets: Sequence[JudgedSet], vectorise: Vectoriser, provenance: TrainingProvenance, rounds: int
) -> tuple[dict[tuple[str, str], Values], list[Figure]]:
    """Return the values of the proposals by set, and figures of how well the decision probabilities are calibrated.
    Every scorer learns from ICLR up to 2021 and sees one proposal at a time."""
    earlier_papers = [
        paper for year, papers in read_decisions().items() if year <= LAST_TRAINING_YEAR for paper in papers
    ]
    day = max(item.day for item in earlier_papers)
    papers_by_id = {
        item.id: LabelledPaper(IdeaId(item.id), item.text, 0, day) for judged_set in sets for item in judged_set.items
    }
    rows_by_id = {name: row for row, name in enumerate(papers_by_id)}
    values: dict[tuple[str, str], Values] = {judged_set.set_and_part: {} for judged_set in sets}
    figures: list[Figure] = []
    measures = [("ECE", compute_calibration_error, None), ("Brier", compute_brier_score, None)]
    for prediction in predict_forward(earlier_papers, [*papers_by_id.values()], vectorise, CLASSES, provenance):
        name = (
            prediction.scorer
            if prediction.nothing_learned
            else f"{prediction.scorer}, from ICLR to {LAST_TRAINING_YEAR}"
        )
        for judged_set in sets:
            rows = np.array([rows_by_id[item.id] for item in judged_set.items])
            values[judged_set.set_and_part][name, prediction.kind] = prediction.raw[rows, 1]
            if judged_set.has_decisions and not prediction.nothing_learned:
                truth = judged_set.truth.astype(np.int16)
                figures += build_figures(
                    judged_set.set_and_part,
                    (name, prediction.kind),
                    measures,
                    truth,
                    [prediction.calibrated[rows]],
                    rounds,
                )
    return values, figures
