"""Decisions forward in time, on invented papers: nothing of the years asked about is learned."""

import datetime as dt
from pathlib import Path

import numpy as np

from assayer.methods.grapheval.scoring.choice import CHOICE
from assayer.models import IdeaId
from benchmarks.quality.figures import Figure, build_figures, format_table
from benchmarks.quality.grapheval.data import CLASSES, LabelledPaper
from benchmarks.quality.grapheval.graphs import Vectoriser, embed_papers
from benchmarks.quality.grapheval.years import predict_forward
from benchmarks.quality.judged_sets.simple import LONGER
from tests.unit.grapheval_graphs import PROVENANCE
from workers.embedding.hashing_embedder import HashingEmbedder

TOPICS = (
    "Maps of towns are drawn by hand with ink number {n}. Paper maps fade after winters of rain.",
    "Bees visit {n} flower strips beside the orchards. Honey from orchards weighs more each summer.",
)


def _papers(first: int, count: int, flip: bool = False) -> list[LabelledPaper]:
    """Return papers of which every second is accepted, recognisable by its topic."""
    return [
        LabelledPaper(IdeaId(f"p{n}"), f"Plan {n}\n\n{TOPICS[n % 2].format(n=n)}", (n + flip) % 2, dt.date(2020, 1, 1))
        for n in range(first, first + count)
    ]


def test_labels_of_test_years_do_not_affect_predictions(tmp_path: Path) -> None:
    vectorise = Vectoriser(HashingEmbedder(), tmp_path)
    known = _papers(0, 40)
    honest, flipped = (
        predict_forward(known, _papers(100, 6, flip), vectorise, CLASSES, PROVENANCE) for flip in (False, True)
    )
    for item, other in zip(honest, flipped, strict=True):
        np.testing.assert_array_equal(item.raw, other.raw)
    assert honest[0].scorer.startswith(CHOICE)
    assert (honest[0].raw.argmax(axis=1) == np.arange(6) % 2).all()
    assert honest[-1].scorer == LONGER


def test_held_out_papers_are_not_neighbours_of_each_other(tmp_path: Path) -> None:
    papers = _papers(0, 10)
    asked = np.arange(10) >= 8
    graph = embed_papers(papers, Vectoriser(HashingEmbedder(), tmp_path), CLASSES, asked).graph
    between = graph.idea_of[graph.sources] != graph.idea_of[graph.targets]
    ends = asked[graph.idea_of[graph.sources[between]]] & asked[graph.idea_of[graph.targets[between]]]
    assert not ends.any()


def test_table_counts_missing_answers_and_marks_simulated_rows() -> None:
    told = np.array([[0.9, 0.1], [np.nan, np.nan]])
    measures = [("right", lambda truth, said: float((said[:, 1] > 0.5).mean()), 0.5)]
    made: list[Figure] = list(
        build_figures(("a set", "all"), ("a judge", "ours"), measures, np.array([0, 1], np.int16), [told], 10)
    )
    lines = list(format_table([made[0].model_copy(update={"simulated": True})]))
    assert "chance 0.50" in lines[0]
    assert "| all | SIMULATED: a judge | 2 | 1 |" in lines[2]
