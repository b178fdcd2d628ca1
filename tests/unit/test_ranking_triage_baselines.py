"""Baselines of labelled ideas beside a ranking."""

import zlib
from collections.abc import Sequence
from typing import Literal

import numpy as np
import pytest

from assayer.errors import InputError
from assayer.methods.grapheval.graph.records import LabelledIdea
from assayer.models import Absent, Idea, IdeaId
from assayer.ports import Vectors
from assayer.ranking.options import RankingOptions
from assayer.ranking.pipeline import rank_ideas
from assayer.ranking.triage_baselines import add_triage_baselines, measure_triage_baselines
from tests.unit.judges import JudgeLlm, judge_correctly, make_ideas_of_worth, make_ranking_run

_WORDS = {
    "reject": "small survey without controls and an unclear question",
    "accept": "measured ablation with held out data and a stated hypothesis",
}


class WordsEmbedder:
    """Embedder that sums one random unit vector per word."""

    name = "words"
    dimensions = 16

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        vectors = [sum((make_word_vector(word) for word in text.casefold().split()), np.zeros(16)) for text in texts]
        return np.array([row / np.linalg.norm(row) for row in vectors], np.float32)


def make_word_vector(word: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.random.default_rng(zlib.crc32(word.encode())).standard_normal(16)


def make_labelled_ideas(ideas_per_label: int) -> list[LabelledIdea]:
    return [
        LabelledIdea(
            id=IdeaId(f"{label}{n}"), title=f"Known {label} {n}", text=f"{words}, number {n}", label=label, date=None
        )
        for label, words in _WORDS.items()
        for n in range(ideas_per_label)
    ]


def make_idea(number: int, words: str) -> Idea:
    return Idea(id=IdeaId(f"a{number}"), title=f"Asked {number}", text=words, sections=(), source=f"a{number}.txt")


async def test_ideas_worded_like_accepted_examples_score_higher_with_auroc_reported() -> None:
    ranked_ideas = [make_idea(0, _WORDS["reject"]), make_idea(1, _WORDS["accept"])]
    baselines = await measure_triage_baselines(
        ranked_ideas, make_labelled_ideas(12), ("reject", "accept"), WordsEmbedder()
    )
    assert [item.name for item in baselines.baselines] == [
        "TF-IDF + logistic regression",
        "embedding + logistic regression",
    ]
    for baseline in baselines.baselines:
        assert (
            baselines.values[ranked_ideas[0].id][baseline.name]
            < 0.5
            < baselines.values[ranked_ideas[1].id][baseline.name]
        )
        assert baseline.auroc_value == 1.0
        assert baseline.labelled == 24


async def test_baselines_on_random_labels_score_at_chance() -> None:
    labels = np.random.default_rng(0).permutation(["reject"] * 30 + ["accept"] * 30)
    mixed = [
        item.model_copy(update={"label": str(label)})
        for item, label in zip(make_labelled_ideas(30), labels, strict=True)
    ]
    baselines = await measure_triage_baselines(
        [make_idea(0, "any words")], mixed, ("reject", "accept"), WordsEmbedder()
    )
    assert all(baseline.auroc.low < 0.5 < baseline.auroc.high for baseline in baselines.baselines)


async def test_labelled_idea_that_is_also_ranked_is_excluded_from_training() -> None:
    labelled_ideas = make_labelled_ideas(12)
    ranked_ideas = [make_idea(0, labelled_ideas[0].text.upper()), make_idea(1, "other words")]
    baselines = await measure_triage_baselines(ranked_ideas, labelled_ideas, ("reject", "accept"), WordsEmbedder())
    assert {(baseline.labelled, baseline.excluded_ideas) for baseline in baselines.baselines} == {(23, 1)}


@pytest.mark.parametrize(
    ("labelled", "message"),
    [(make_labelled_ideas(2), "cannot be split"), (make_labelled_ideas(9)[:9], "have the label 'reject'")],
)
async def test_too_few_labelled_ideas_are_refused(labelled: list[LabelledIdea], message: str) -> None:
    with pytest.raises(InputError, match=message):
        await measure_triage_baselines([make_idea(0, "any words")], labelled, ("reject", "accept"), WordsEmbedder())


async def test_ranking_without_labelled_ideas_reports_a_missing_baseline() -> None:
    ideas = make_ideas_of_worth(4)
    ranking = (await rank_ideas(ideas, JudgeLlm(judge_correctly), make_ranking_run(), RankingOptions())).ranking
    assert isinstance(ranking.baselines, Absent)
    baselines = await measure_triage_baselines(ideas, make_labelled_ideas(12), ("reject", "accept"), WordsEmbedder())
    ranking_with_baselines = add_triage_baselines(ranking, baselines)
    assert ranking_with_baselines.baselines == baselines.baselines
    assert all(
        set(idea.baseline_predictions) == {baseline.name for baseline in baselines.baselines}
        for idea in ranking_with_baselines.ideas
    )
