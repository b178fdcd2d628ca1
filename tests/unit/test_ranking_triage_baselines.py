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
from tests.unit.judges import JudgeLlm, ideas_of_worth, ranking_run, right

_WORDS = {
    "reject": "small survey without controls and an unclear question",
    "accept": "measured ablation with held out data and a stated hypothesis",
}


class WordsEmbedder:
    """Sums of one random unit vector a word."""

    name = "words"
    dimensions = 16

    async def embed(self, texts: Sequence[str], kind: Literal["query", "passage"]) -> Vectors:
        rows = [sum((_vector(word) for word in text.casefold().split()), np.zeros(16)) for text in texts]
        return np.array([row / np.linalg.norm(row) for row in rows], np.float32)


def _vector(word: str) -> np.ndarray[tuple[int, ...], np.dtype[np.float64]]:
    return np.random.default_rng(zlib.crc32(word.encode())).standard_normal(16)


def _labelled(each: int) -> list[LabelledIdea]:
    return [
        LabelledIdea(
            id=IdeaId(f"{label}{n}"), title=f"Known {label} {n}", text=f"{words}, number {n}", label=label, date=None
        )
        for label, words in _WORDS.items()
        for n in range(each)
    ]


def _idea(number: int, words: str) -> Idea:
    return Idea(id=IdeaId(f"a{number}"), title=f"Asked {number}", text=words, sections=(), source=f"a{number}.txt")


async def test_ideas_worded_like_accepted_examples_score_higher_with_auroc_reported() -> None:
    asked = [_idea(0, _WORDS["reject"]), _idea(1, _WORDS["accept"])]
    said = await measure_triage_baselines(asked, _labelled(12), ("reject", "accept"), WordsEmbedder())
    assert [item.name for item in said.baselines] == ["TF-IDF + logistic regression", "embedding + logistic regression"]
    for baseline in said.baselines:
        assert said.values[asked[0].id][baseline.name] < 0.5 < said.values[asked[1].id][baseline.name]
        assert baseline.auroc_value == 1.0
        assert baseline.labelled == 24


async def test_baselines_on_random_labels_score_at_chance() -> None:
    labels = np.random.default_rng(0).permutation(["reject"] * 30 + ["accept"] * 30)
    mixed = [item.model_copy(update={"label": str(label)}) for item, label in zip(_labelled(30), labels, strict=True)]
    said = await measure_triage_baselines([_idea(0, "any words")], mixed, ("reject", "accept"), WordsEmbedder())
    assert all(baseline.auroc.low < 0.5 < baseline.auroc.high for baseline in said.baselines)


async def test_labelled_idea_that_is_also_ranked_is_excluded_from_training() -> None:
    known = _labelled(12)
    asked = [_idea(0, known[0].text.upper()), _idea(1, "other words")]
    said = await measure_triage_baselines(asked, known, ("reject", "accept"), WordsEmbedder())
    assert {(baseline.labelled, baseline.excluded_ideas) for baseline in said.baselines} == {(23, 1)}


@pytest.mark.parametrize(
    ("labelled", "said"), [(_labelled(2), "cannot be split"), (_labelled(9)[:9], "have the label 'reject'")]
)
async def test_too_few_labelled_ideas_are_refused(labelled: list[LabelledIdea], said: str) -> None:
    with pytest.raises(InputError, match=said):
        await measure_triage_baselines([_idea(0, "any words")], labelled, ("reject", "accept"), WordsEmbedder())


async def test_ranking_without_labelled_ideas_says_that_there_is_no_baseline() -> None:
    ideas = ideas_of_worth(4)
    ranking = (await rank_ideas(ideas, JudgeLlm(right), ranking_run(), RankingOptions())).ranking
    assert isinstance(ranking.baselines, Absent)
    said = await measure_triage_baselines(ideas, _labelled(12), ("reject", "accept"), WordsEmbedder())
    beside = add_triage_baselines(ranking, said)
    assert beside.baselines == said.baselines
    assert all(
        set(idea.baseline_predictions) == {baseline.name for baseline in said.baselines} for idea in beside.ideas
    )
