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


def make_papers(first: int, count: int, flip: bool = False) -> list[LabelledPaper]:
    """Return papers of which every second is accepted, recognisable by its topic."""
    return [
        LabelledPaper(IdeaId(f"p{n}"), f"Plan {n}\n\n{TOPICS[n % 2].format(n=n)}", (n + flip) % 2, dt.date(2020, 1, 1))
        for n in range(first, first + count)
    ]


def test_labels_of_test_years_do_not_affect_predictions(tmp_path: Path) -> None:
    vectorise = Vectoriser(HashingEmbedder(), tmp_path)
    known_papers = make_papers(0, 40)
    predictions, flipped_predictions = (
        predict_forward(known_papers, make_papers(100, 6, flip), vectorise, CLASSES, PROVENANCE)
        for flip in (False, True)
    )
    for item, flipped_item in zip(predictions, flipped_predictions, strict=True):
        np.testing.assert_array_equal(item.raw, flipped_item.raw)
    assert predictions[0].scorer.startswith(CHOICE)
    assert (predictions[0].raw.argmax(axis=1) == np.arange(6) % 2).all()
    assert predictions[-1].scorer == LONGER


def test_held_out_papers_are_not_neighbours_of_each_other(tmp_path: Path) -> None:
    papers = make_papers(0, 10)
    is_held_out = np.arange(10) >= 8
    graph = embed_papers(papers, Vectoriser(HashingEmbedder(), tmp_path), CLASSES, is_held_out).graph
    between = graph.idea_of[graph.sources] != graph.idea_of[graph.targets]
    is_held_out_pair = (
        is_held_out[graph.idea_of[graph.sources[between]]] & is_held_out[graph.idea_of[graph.targets[between]]]
    )
    assert not is_held_out_pair.any()


def test_table_counts_missing_answers_and_marks_simulated_rows() -> None:
    probabilities = np.array([[0.9, 0.1], [np.nan, np.nan]])
    measures = [("right", lambda truth, predicted: float((predicted[:, 1] > 0.5).mean()), 0.5)]
    figures: list[Figure] = list(
        build_figures(("a set", "all"), ("a judge", "ours"), measures, np.array([0, 1], np.int16), [probabilities], 10)
    )
    lines = list(format_table([figures[0].model_copy(update={"simulated": True})]))
    assert "chance 0.50" in lines[0]
    assert "| all | SIMULATED: a judge | 2 | 1 |" in lines[2]
