"""Measure how well texts cover experts' statements on ScholarIdeas' ideas, by sentence similarity or by a judge."""

from collections.abc import Iterator, Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from assayer.text.sentences import sentences
from benchmarks.quality.figures import Figure, Kind, build_figure, estimate_mean
from benchmarks.quality.grapheval.graphs import Vectoriser
from benchmarks.quality.rubrics import Rubric
from benchmarks.quality.scholarideas import measure_similarity

_SET = "scholarideas"
_MIN_STATED_SCORE = 4
"""Lowest score at which a judge considers a statement made: complete but for a minor omission."""


def build_similarity_figures(
    rubrics: Sequence[Rubric],
    ideas: Mapping[str, str],
    sentences_by_idea: Mapping[str, Sequence[str]],
    vectorise: Vectoriser,
    rounds: int,
) -> Iterator[Figure]:
    """Yield similarity figures. `sentences_by_idea` are the sentences of reports by idea; it is empty if there are no
    reports."""
    texts = {name: sentences(text, min_words=4) for name, text in ideas.items()}
    for way, values in measure_similarity(rubrics, sentences_by_idea, texts, vectorise).items():
        if not sentences_by_idea and way != "the idea itself":
            continue
        scorer = f"ScholarEval without a language model: {way}" if way != "the idea itself" else way
        kind: Kind = "ours" if way == "its report" else "simple"
        note = "cosine with the nearest sentence: the same subject is not the same statement"
        estimate = estimate_mean(values, rounds)
        yield build_figure(
            (_SET, "likeness of sentences"), "nearest cosine", (scorer, kind), estimate, len(values), note=note
        )


def build_coverage_figures(
    rubrics: Sequence[Rubric], scores: Mapping[tuple[str, int], int], scorer: tuple[str, Kind], rounds: int
) -> Iterator[Figure]:
    """Yield the judged coverage; `scores` are 1 to 5 by idea and rubric number.

    Rubrics without a judgement count as not covered and are also counted as unanswered."""
    parts = {"all": rubrics} | {
        kind: [rubric for rubric in rubrics if rubric.type == kind] for kind in ("strength", "weakness")
    }
    for part, part_rubrics in parts.items():
        if part_rubrics:
            is_covered = flag_covered_rubrics(part_rubrics, scores)
            unjudged_count = int(np.isnan(is_covered).sum())
            part_of_set = (_SET, f"coverage as judged, {part}")
            yield build_figure(
                part_of_set,
                "statements said",
                scorer,
                estimate_mean(is_covered, rounds),
                len(part_rubrics),
                unjudged_count,
            )


def flag_covered_rubrics(rubrics: Sequence[Rubric], scores: Mapping[tuple[str, int], int]) -> NDArray[np.float64]:
    """Return (rubrics,): 1 if the rubric is covered, 0 if not, NaN without a judgement."""
    judged_scores = [scores.get((rubric.idea, rubric.number)) for rubric in rubrics]
    return np.array([np.nan if score is None else float(score >= _MIN_STATED_SCORE) for score in judged_scores])
