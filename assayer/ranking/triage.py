"""Baselines for triage: what the words and the embeddings of labelled ideas say of the ideas that are ranked."""

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from assayer.methods.grapheval.arrays import UNKNOWN, GraphArrays
from assayer.methods.grapheval.baselines import IdeaLogistic, TfidfLogistic
from assayer.methods.grapheval.holdout import held_out, stratified_folds
from assayer.methods.grapheval.measures import auroc, bootstrap
from assayer.methods.grapheval.ports import Scorer
from assayer.methods.grapheval.records import KnownIdea
from assayer.models import Absent, Idea, IdeaId
from assayer.models.ranking import Baseline, Interval, Ranking
from assayer.ports import Embedder

__all__ = ["NO_BASELINE", "Triage", "triage", "with_baselines"]

NO_BASELINE = Absent(
    reason="no labelled ideas were given, so nothing says how well simpler means would do; --labelled FILE of ideas "
    "with known outcomes adds them."
)
_FOLDS = 5
_ROUNDS = 200


class Triage(NamedTuple):
    baselines: tuple[Baseline, ...]
    values: dict[IdeaId, dict[str, float]]
    """Of each idea, by the name of the baseline."""


async def triage(
    ideas: Sequence[Idea], labelled: Sequence[KnownIdea], outcomes: Sequence[str], embedder: Embedder
) -> Triage:
    """Labelled ideas that are among the ranked ones are set aside: they would answer for themselves.

    Raises InputError where the rest are too few, or all of one outcome.
    """
    own = {_words(text) for idea in ideas for text in (idea.title, idea.text)}
    known = [one for one in labelled if _words(one.title) not in own and _words(one.text) not in own]
    texts = [f"{one.title}\n\n{one.text}" for one in known]
    vectors = await embedder.embed(texts + [_text(idea) for idea in ideas], "passage")
    labels = [outcomes.index(one.label) if one.label is not None else UNKNOWN for one in known]
    graph = _graph(vectors, labels + [UNKNOWN] * len(ideas), tuple(outcomes))
    past = _graph(vectors[: len(known)], labels, tuple(outcomes))
    words = dict(zip(graph.ideas, texts + [_text(idea) for idea in ideas], strict=True))
    asked = np.arange(len(known), len(graph.ideas), dtype=np.int32)
    places = np.linspace(0.0, 1.0, len(outcomes))
    found: list[Baseline] = []
    values: dict[IdeaId, dict[str, float]] = {idea.id: {} for idea in ideas}
    scorers: tuple[Scorer, ...] = (TfidfLogistic(words), IdeaLogistic("embedding + logistic regression"))
    for scorer in scorers:
        found.append(_measured(scorer, past, len(labelled) - len(known)))
        for idea, value in zip(ideas, scorer.score(graph, asked) @ places, strict=True):
            values[idea.id][scorer.name] = float(value)
    return Triage(tuple(found), values)


def with_baselines(ranking: Ranking, said: Triage) -> Ranking:
    ideas = tuple(one.model_copy(update={"by_baseline": said.values[one.id]}) for one in ranking.ideas)
    return ranking.model_copy(update={"ideas": ideas, "baselines": said.baselines})


def _measured(scorer: Scorer, past: GraphArrays, set_aside: int) -> Baseline:
    folds = stratified_folds(past, _FOLDS, 0)
    rows = np.concatenate(folds)
    said = held_out(scorer, past, folds)[rows]
    measured = bootstrap(auroc, past.labels[rows], [said], _ROUNDS, 0)
    return Baseline(
        name=scorer.name,
        auroc=Interval(low=measured.low, high=measured.high),
        auroc_value=measured.value,
        labelled=len(rows),
        outcomes=past.classes,
        set_aside=set_aside,
    )


def _graph(vectors: NDArray[np.float32], labels: Sequence[int], outcomes: tuple[str, ...]) -> GraphArrays:
    """Every idea as one viewpoint, without edges: what the scorers of whole ideas look at."""
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


def _text(idea: Idea) -> str:
    return idea.text if idea.text.startswith(idea.title) else f"{idea.title}\n\n{idea.text}"


def _words(text: str) -> str:
    return " ".join(text.casefold().split())
