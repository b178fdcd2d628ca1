"""Triage baselines: scores for the ranked ideas predicted by simple models, which learn from the words and embeddings
of labelled ideas."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.blinding.blind import blind_idea
from assayer.methods.grapheval.graph.arrays import UNKNOWN, GraphArrays
from assayer.methods.grapheval.graph.records import LabelledIdea
from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.scoring.baselines import IdeaLogistic, TfidfLogistic
from assayer.methods.grapheval.scoring.holdout import score_held_out, split_into_folds
from assayer.methods.grapheval.scoring.metrics import bootstrap, compute_auroc
from assayer.models import Absent, Idea, IdeaId
from assayer.ports import Embedder
from assayer_client.rankings import Baseline, Interval, Ranking

NO_BASELINE = Absent(
    reason="no labelled ideas were provided, so the judge cannot be compared with simpler methods; --labelled FILE "
    "adds ideas with known outcomes."
)
_FOLDS = 5
_ROUNDS = 200


class TriageBaselines(NamedTuple):
    baselines: tuple[Baseline, ...]
    values: dict[IdeaId, dict[str, float]]
    """Each idea's scores, keyed by baseline name."""


async def measure_triage_baselines(
    ideas: Sequence[Idea], labelled: Sequence[LabelledIdea], outcomes: Sequence[str], embedder: Embedder
) -> TriageBaselines:
    """Measure the baselines' quality and score the ranked ideas with them. Labelled ideas that are also ranked are
    excluded, because they would predict themselves. Raises InputError if too few labelled ideas remain, or if all have
    the same outcome."""
    ranked_texts = {_normalise_words(text) for idea in ideas for text in (idea.title, idea.text)}
    known = [
        item
        for item in labelled
        if _normalise_words(item.title) not in ranked_texts and _normalise_words(item.text) not in ranked_texts
    ]
    texts = [f"{item.title}\n\n{item.text}" for item in known]
    vectors = await embedder.embed(texts + [_build_titled_text(idea) for idea in ideas], "passage")
    labels = [outcomes.index(item.label) if item.label is not None else UNKNOWN for item in known]
    graph = _build_graph(vectors, labels + [UNKNOWN] * len(ideas), tuple(outcomes))
    labelled_graph = _build_graph(vectors[: len(known)], labels, tuple(outcomes))
    texts_by_idea = dict(zip(graph.ideas, texts + [_build_titled_text(idea) for idea in ideas], strict=True))
    asked_rows = np.arange(len(known), len(graph.ideas), dtype=np.int32)
    positions = np.linspace(0.0, 1.0, len(outcomes))
    baselines: list[Baseline] = []
    values: dict[IdeaId, dict[str, float]] = {idea.id: {} for idea in ideas}
    scorers: tuple[Scorer, ...] = (TfidfLogistic(texts_by_idea), IdeaLogistic("embedding + logistic regression"))
    for scorer in scorers:
        baselines.append(_measure_baseline(scorer, labelled_graph, len(labelled) - len(known)))
        for idea, value in zip(ideas, scorer.score(graph, asked_rows) @ positions, strict=True):
            values[idea.id][scorer.name] = float(value)
    return TriageBaselines(tuple(baselines), values)


def mask_labelled_idea(labelled: LabelledIdea) -> LabelledIdea:
    """Mask a labelled idea for a blind ranking. Features learned from names would be useless there, and would inflate
    the measured quality."""
    idea = blind_idea(Idea(id=labelled.id, title=labelled.title, text=labelled.text, sections=(), source=labelled.id))
    return labelled.model_copy(update={"title": idea.title, "text": idea.text})


def add_triage_baselines(ranking: Ranking, triage: TriageBaselines) -> Ranking:
    ideas = tuple(idea.model_copy(update={"baseline_predictions": triage.values[idea.id]}) for idea in ranking.ideas)
    return ranking.model_copy(update={"ideas": ideas, "baselines": triage.baselines})


def _measure_baseline(scorer: Scorer, labelled_graph: GraphArrays, set_aside: int) -> Baseline:
    folds = split_into_folds(labelled_graph, _FOLDS, 0)
    rows = np.concatenate(folds)
    probabilities = score_held_out(scorer, labelled_graph, folds)[rows]
    estimate = bootstrap(compute_auroc, labelled_graph.labels[rows], [probabilities], _ROUNDS, 0)
    return Baseline(
        name=scorer.name,
        auroc=Interval(low=estimate.low, high=estimate.high),
        auroc_value=estimate.value,
        labelled=len(rows),
        outcomes=labelled_graph.classes,
        excluded_ideas=set_aside,
    )


def _build_graph(vectors: NDArray[np.float32], labels: Sequence[int], outcomes: tuple[str, ...]) -> GraphArrays:
    """Return a graph without edges in which every idea is one viewpoint, for scorers that work on whole ideas."""
    count = len(vectors)
    return GraphArrays(
        vectors=vectors,
        idea_of=np.arange(count, dtype=np.int32),
        ideas=tuple(IdeaId(f"row {row}") for row in range(count)),
        labels=np.array(labels, np.int16),
        dates=np.full(count, UNKNOWN, np.int32),
        classes=outcomes,
        sources=np.empty(0, np.int32),
        targets=np.empty(0, np.int32),
        weights=np.empty(0, np.float32),
        kinds=np.empty(0, np.int8),
    )


def _build_titled_text(idea: Idea) -> str:
    return idea.text if idea.text.startswith(idea.title) else f"{idea.title}\n\n{idea.text}"


def _normalise_words(text: str) -> str:
    return " ".join(text.casefold().split())
