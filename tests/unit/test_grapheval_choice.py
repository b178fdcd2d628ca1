"""A verdict's scorer is chosen on ideas held out, kept as numbers, and says what it is worth."""

import asyncio
import dataclasses
import datetime as dt
import threading
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from pydantic import ValidationError
from sklearn.feature_extraction.text import TfidfVectorizer
from sklearn.linear_model import LogisticRegression

import assayer.methods.grapheval.judge as judge_module
from assayer.methods.grapheval.judge import GraphJudge
from assayer.methods.grapheval.scoring.baselines import LENGTH, MAJORITY, TFIDF
from assayer.methods.grapheval.scoring.choice import CHOICE, build_titled_text, describe_choice, list_candidates
from assayer.methods.grapheval.scoring.fitted_logistic import FittedLogistic, fit_words
from assayer.methods.grapheval.scoring.verdict_model import VerdictModel, fit_logistic
from assayer.models import Absent, MeasuredScorer, ScorerChoice
from cluster.graph_training import Holdout, NetworkEffort, ScorerKind, TrainingResult, train
from cluster.viewpoint_graphs import MODEL_FILE, UNCALIBRATED, create_judge_from
from index.viewpoint_neighbours import FaissNeighbours
from tests.unit.grapheval_judging import (
    MAPS_TEXT,
    build_idea_graph,
    judge_idea,
    judge_over,
    make_forty_labelled_ideas,
    make_labelled_idea,
)

TEXTS = [f"{word} number {number} of many" for number in range(12) for word in ("maps", "bees", "boats")]
LABELS = np.array([row % 3 for row in range(36)], np.int16)
NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
HELD_OUT_SCORE = MeasuredScorer(name=CHOICE, auroc=0.7, low=0.6, high=0.8)


def test_reloaded_regression_matches_scikit_learn_predictions() -> None:
    fitted = FittedLogistic.model_validate_json(fit_words(TEXTS, LABELS, 4).model_dump_json())
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    expected = LogisticRegression(max_iter=1000).fit(words.fit_transform(TEXTS), LABELS)
    probabilities = fitted.score_texts(["bees and maps", "boats", ""])
    assert probabilities[:, :3] == pytest.approx(
        expected.predict_proba(words.transform(["bees and maps", "boats", ""]))
    )
    assert (probabilities[:, 3] == 0).all(), "no idea had this outcome"


def test_a_model_file_with_missing_numbers_is_refused() -> None:
    damaged_model = fit_words(TEXTS, LABELS, 3).model_dump()
    damaged_model["rarity"] = damaged_model["rarity"][1:]
    with pytest.raises(ValidationError, match="one coefficient per pair of outcome"):
        FittedLogistic.model_validate(damaged_model)


def test_a_choice_says_which_simple_scorers_it_does_not_beat() -> None:
    truth = (np.arange(200) % 2).astype(np.int16)
    noise = np.random.default_rng(0).random(200)
    good_scores, uninformative_scores = (
        np.column_stack([1 - truth, truth]).astype(float),
        np.column_stack([1 - noise, noise]),
    )
    choice = describe_choice(
        TFIDF,
        good_scores,
        {LENGTH: uninformative_scores, TFIDF: good_scores, MAJORITY: uninformative_scores},
        truth,
        "a test",
        seed=0,
    )
    assert choice.baselines_not_beaten == (TFIDF,)
    assert [item.name for item in choice.scorer_accuracies] == [TFIDF, LENGTH, MAJORITY]
    assert choice.held_out_accuracy.auroc == 1.0


def test_length_baseline_is_scored_in_its_more_predictive_direction() -> None:
    truth = (np.arange(200) % 2).astype(np.int16)
    wrong_scores = np.column_stack([truth, 1 - truth]).astype(float)
    choice = describe_choice(
        TFIDF, 1 - wrong_scores, {LENGTH: wrong_scores, TFIDF: 1 - wrong_scores}, truth, "a test", seed=0
    )
    assert choice.baselines_not_beaten == (LENGTH, TFIDF)


async def train_model(folder: Path, after: dt.date | None = None) -> tuple[TrainingResult, VerdictModel]:
    contents = await build_idea_graph(make_forty_labelled_ideas())
    holdout = Holdout(folds=3, after=after)
    result = train(contents, folder, "best", holdout, NetworkEffort(), NOW, lambda *_: None)
    return result, VerdictModel.model_validate_json((folder / MODEL_FILE).read_bytes())


async def test_training_writes_choice_and_training_data_summary_to_a_file(tmp_path: Path) -> None:
    result, model = await train_model(tmp_path / "graph")
    assert result.choice == model.choice
    names = {item.name for item in model.choice.scorer_accuracies}
    assert {LENGTH, MAJORITY, TFIDF} < names
    assert model.choice.scorer in names - {LENGTH, MAJORITY}
    assert model.calibration.provenance.counts == {"reject": 20, "accept": 20}
    assert (model.earliest, model.latest) == (dt.date(2020, 1, 1), dt.date(2020, 1, 1))
    assert result.scorer.brier.low <= result.scorer.brier.value <= result.scorer.brier.high


async def test_judge_uses_the_scorer_of_the_last_training(tmp_path: Path) -> None:
    contents, neighbours = await build_idea_graph(make_forty_labelled_ideas()), FaissNeighbours()
    neighbours.add(contents.arrays.vectors)
    assert create_judge_from(tmp_path, contents, neighbours).calibration == UNCALIBRATED
    kinds: tuple[ScorerKind, ...] = ("best", "network", "propagation", "best")
    for kind in kinds:
        result = train(contents, tmp_path, kind, Holdout(folds=3), NetworkEffort(2, 1), NOW, lambda *_: None)
        judge = create_judge_from(tmp_path, contents, neighbours)
        assert judge.calibration == result.calibration
        assert judge.scorer_name == result.calibration.scorer
        assert isinstance(judge.choice, Absent) == (kind != "best")


def test_length_and_label_rates_are_never_chosen() -> None:
    possible = list_candidates({})
    assert {yardstick.name for yardstick in possible.yardsticks} == {LENGTH, MAJORITY}
    assert not {item.name for item in possible.choosable} & {LENGTH, MAJORITY}


async def _judge_by_words(folder: Path, auroc_of_length: float = 0.5, extra: str | None = None) -> GraphJudge:
    """Train a judge that chose words, as `train` leaves it when TF-IDF has won."""
    _, model = await train_model(folder)
    ideas = [*make_forty_labelled_ideas(), *([make_labelled_idea(60, "accept", text=extra)] if extra else [])]
    contents = await build_idea_graph(ideas)
    compared = (MeasuredScorer(name=LENGTH, auroc=auroc_of_length, low=0.4, high=0.6),)
    choice = ScorerChoice(
        scorer=TFIDF,
        held_out_accuracy=HELD_OUT_SCORE,
        scorer_accuracies=compared,
        baselines_not_beaten=(LENGTH,),
        ideas=40,
        split="a test",
    )
    fitted = fit_words([build_titled_text(idea.title, idea.text) for idea in contents.ideas], contents.arrays.labels, 2)
    calibration = model.calibration.model_copy(update={"scorer": TFIDF})
    by_words = VerdictModel(calibration=calibration, choice=choice, earliest=None, latest=None, fitted=fitted)
    return dataclasses.replace(judge_over(contents), model=by_words, calibration=calibration)


async def test_word_based_verdict_includes_neighbour_evidence_and_scorer_choice(tmp_path: Path) -> None:
    verdict = await judge_idea(await _judge_by_words(tmp_path))
    assert verdict.scorer == TFIDF
    assert isinstance(verdict.choice, ScorerChoice)
    assert verdict.probabilities[0].probability > verdict.probabilities[0].rate
    assert {neighbour.label for neighbour in verdict.evidence[0].neighbours} == {"reject"}
    assert verdict.evidence[0].leaning == "reject"


async def test_no_outcome_is_named_when_text_length_predicts_equally_well(tmp_path: Path) -> None:
    verdict = await judge_idea(await _judge_by_words(tmp_path, auroc_of_length=0.75))
    assert isinstance(verdict.decision, Absent)
    assert "length of the text" in verdict.decision.reason


async def test_regression_trained_on_the_idea_is_refitted_without_it(tmp_path: Path) -> None:
    verdict = await judge_idea(await _judge_by_words(tmp_path, extra=MAPS_TEXT))
    verdict_without_idea = await judge_idea(await _judge_by_words(tmp_path))
    assert verdict.probabilities == verdict_without_idea.probabilities


async def test_concurrent_verdicts_share_a_single_refit_outside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = await _judge_by_words(tmp_path, extra=MAPS_TEXT)
    fit_started, may_fit = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def fit_when_allowed(*arguments: Any) -> FittedLogistic:
        threads.append(threading.current_thread())
        fit_started.set()
        assert may_fit.wait(30)
        return fit_logistic(*arguments)

    monkeypatch.setattr(judge_module, "fit_logistic", fit_when_allowed)
    impatient, first, second = (asyncio.create_task(judge_idea(judge)) for _ in range(3))
    await asyncio.to_thread(fit_started.wait, 30)
    impatient.cancel()
    with pytest.raises(asyncio.CancelledError):
        await impatient
    may_fit.set()
    assert (await first).probabilities == (await second).probabilities != ()
    (thread,) = threads
    assert thread is not threading.main_thread()


async def test_outcomes_known_after_cutoff_are_excluded_from_training(tmp_path: Path) -> None:
    judge = await _judge_by_words(tmp_path)
    verdict = await judge_idea(judge, cutoff=dt.date(2019, 1, 1))
    assert isinstance(verdict.decision, Absent)
    assert verdict.probabilities == ()


def test_code_links_and_repeated_titles_are_removed_from_idea_text() -> None:
    assert build_titled_text("Maps", "We map towns. Code: https://example.org/a.") == "Maps\n\nWe map towns."
    assert build_titled_text("Maps", "Maps of towns. They fade.") == "Maps of towns. They fade."
