"""Decisions forward in time: learned from ICLR to 2021, asked about 2022, 2024 and 2025, year by year."""

from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.options import GraphEvalOptions
from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.scoring.baselines import MAJORITY, TFIDF, IdeaLogistic
from assayer.methods.grapheval.scoring.calibration import TrainingProvenance, fit_calibration
from assayer.methods.grapheval.scoring.choice import CHOICE, BestOf, candidates
from assayer.methods.grapheval.scoring.holdout import held_out_scores, stratified_folds
from assayer.methods.grapheval.scoring.metrics import accuracy, auroc, bootstrap, brier, calibration_error
from benchmarks.quality.figures import Figure, Kind, estimated, figure
from benchmarks.quality.grapheval.baselines import NearestIdeas
from benchmarks.quality.grapheval.data import CLASSES, Labelled, decisions_by_year
from benchmarks.quality.grapheval.graphs import Embedded, Vectoriser, embedded
from benchmarks.quality.grapheval.metrics import macro_f1
from benchmarks.quality.judged_sets.simple import LONGER

__all__ = ["LAST_LEARNED", "Said", "forward_in_time", "years_figures"]

LAST_LEARNED = 2021
_SET = "iclr_years"
_FOLDS = 5
_KINDS: Sequence[Kind] = ("ours", "ours", "simple", "simple", "simple", "simple", "simple", "simple")
"""Of `_scorers`."""


class Said(NamedTuple):
    """What one scorer said of the years asked about, having learned from those before."""

    scorer: str
    kind: Kind
    raw: NDArray[np.float64]
    calibrated: NDArray[np.float64]
    """Fitted inside the years learned from; NaN where nothing was learned."""

    @property
    def nothing_learned(self) -> bool:
        return bool(np.isnan(self.calibrated).all())


def years_figures(vectorise: Vectoriser, provenance: TrainingProvenance, rounds: int) -> Iterator[Figure]:
    """Two outcomes year by year, then as many as 2022 tells apart."""
    for classes in (CLASSES, ("reject", "poster", "spotlight", "oral")):
        by_year = decisions_by_year(classes)
        known = [one for year, papers in by_year.items() if year <= LAST_LEARNED for one in papers]
        later = {year: papers for year, papers in by_year.items() if year > LAST_LEARNED and len(papers) > 1}
        asked = [one for papers in later.values() for one in papers]
        truth = np.array([one.label for one in asked], np.int16)
        years = np.array([year for year, papers in later.items() for _ in papers])
        found = forward_in_time(known, asked, vectorise, classes, provenance)
        parts: list[tuple[str, NDArray[np.bool_]]] = [(str(year), years == year) for year in later]
        if len(parts) > 1:
            parts.append(("2022–2025", np.ones(len(years), np.bool_)))
        outcomes = "" if classes == CLASSES else f", {len(classes)} outcomes"
        for part, rows in parts:
            yield from _figures(found, truth, rows, f"{part}{outcomes}", rounds)


def _figures(
    found: Sequence[Said], truth: NDArray[np.int16], rows: NDArray[np.bool_], part: str, rounds: int
) -> Iterator[Figure]:
    where = (_SET, part)
    for one in found:
        who, raw, calibrated = (one.scorer, one.kind), [one.raw[rows]], [one.calibrated[rows]]
        yield from estimated(where, who, [("AUROC", auroc, 0.5)], truth[rows], raw, rounds)
        for simple in found:
            if simple.scorer in {LONGER, TFIDF} and simple is not one and one.scorer != MAJORITY:
                gap = bootstrap(auroc, truth[rows], raw, rounds, 0, against=[simple.raw[rows]])
                yield figure(where, f"AUROC above {simple.scorer}", who, gap, int(rows.sum()))
        if one.nothing_learned:
            continue
        measures = [("accuracy", accuracy, None), ("macro-F1", macro_f1, None)]
        measures += [("ECE", calibration_error, None), ("Brier", brier, None)]
        yield from estimated(where, who, measures, truth[rows], calibrated, rounds)


def forward_in_time(
    known: Sequence[Labelled],
    asked: Sequence[Labelled],
    vectorise: Vectoriser,
    classes: tuple[str, ...],
    provenance: TrainingProvenance,
) -> list[Said]:
    """Every scorer sees the papers that are asked about one at a time: they are nobody's neighbours."""
    alone = embedded(known, vectorise, classes)
    is_asked = np.arange(len(known) + len(asked)) >= len(known)
    together = embedded([*known, *asked], vectorise, classes, is_asked)
    rows = np.flatnonzero(is_asked).astype(np.int32)
    hidden = together.graph.with_unknown(rows)
    found = []
    for inside, outside, kind in zip(_scorers(alone), _scorers(together), _KINDS, strict=True):
        raw = outside.score(hidden, rows)
        found.append(Said(inside.name, kind, raw, _calibrated(inside, alone, raw, provenance)))
    choosable = candidates(alone.texts, GraphEvalOptions()).choosable
    chosen = BestOf(CHOICE, choosable).choose(alone.graph, np.empty(0, np.int32)).name
    by_choice = next(one for one in found if one.scorer == chosen)
    return [by_choice._replace(scorer=f"{CHOICE}: {chosen}", kind="ours"), *found, _longer(asked, len(classes))]


def _longer(asked: Sequence[Labelled], classes: int) -> Said:
    """The longer a text, the better its outcome: nothing is learned, and nothing is said of probabilities."""
    lengths = np.log([len(one.text) for one in asked])
    shares = (lengths - lengths.min()) / max(np.ptp(lengths), 1e-9)
    raw = np.zeros((len(asked), classes))
    raw[:, 0], raw[:, -1] = 1 - shares, shares
    return Said(LONGER, "simple", raw, np.full_like(raw, np.nan))


def _scorers(data: Embedded) -> Sequence[Scorer]:
    def whole(_: object) -> NDArray[np.float32]:
        return data.whole

    possible = candidates(data.texts, GraphEvalOptions())
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
    scores = held_out_scores(scorer, graph, stratified_folds(graph, _FOLDS, provenance.seed))
    made = fit_calibration("inside", scorer.name, graph.classes, scores, graph.labels, provenance, replicates=1)
    return np.array([verdict.probabilities for verdict in made.verdicts(raw)])
