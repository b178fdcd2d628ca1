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
from assayer.methods.grapheval import GraphEvalOptions
from assayer.methods.grapheval.judge import GraphJudge
from assayer.methods.grapheval.scoring.baselines import LENGTH, MAJORITY, TFIDF
from assayer.methods.grapheval.scoring.choice import CHOICE, candidates, described_choice, titled_text
from assayer.methods.grapheval.scoring.fitted_logistic import FittedLogistic, fit_length, fit_vectors, fit_words
from assayer.methods.grapheval.scoring.metrics import brier
from assayer.methods.grapheval.scoring.verdict_model import VerdictModel, fit_logistic
from assayer.models import Absent, MeasuredScorer, ScorerChoice, Verdict
from cluster.graph_training import Holdout, NetworkEffort, TrainingResult, train
from cluster.viewpoint_graphs import model_file
from tests.unit.test_grapheval_pipeline import MAPS, forty, graph_of, judge_of, known, verdict_of

TEXTS = [f"{word} number {number} of many" for number in range(12) for word in ("maps", "bees", "boats")]
LABELS = np.array([row % 3 for row in range(36)], np.int16)
NOW = dt.datetime(2026, 1, 1, tzinfo=dt.UTC)
ON_HELD_OUT = MeasuredScorer(name=CHOICE, auroc=0.7, low=0.6, high=0.8)


def test_a_fitted_regression_read_back_says_what_the_library_says() -> None:
    fitted = FittedLogistic.model_validate_json(fit_words(TEXTS, LABELS, 4).model_dump_json())
    words = TfidfVectorizer(sublinear_tf=True, stop_words="english")
    expected = LogisticRegression(max_iter=1000).fit(words.fit_transform(TEXTS), LABELS)
    said = fitted.of_texts(["bees and maps", "boats", ""])
    assert said[:, :3] == pytest.approx(expected.predict_proba(words.transform(["bees and maps", "boats", ""])))
    assert (said[:, 3] == 0).all(), "no idea had this outcome"


def test_two_outcomes_by_vectors_and_by_length_add_up_to_one() -> None:
    labels = (np.arange(36) % 2).astype(np.int16)
    vectors = np.eye(2, dtype=np.float32)[labels]
    assert fit_vectors(vectors, labels, 2).of_vectors(vectors[:2]).argmax(axis=1).tolist() == [0, 1]
    lengths = fit_length(["long " * 40 if label else "short" for label in labels], labels, 2)
    said = lengths.of_texts(["x", "long " * 50])
    assert said.sum(axis=1) == pytest.approx([1, 1])
    assert said[0, 1] < 0.5 < said[1, 1]


def test_a_model_file_with_missing_numbers_is_refused() -> None:
    damaged = fit_words(TEXTS, LABELS, 3).model_dump()
    damaged["rarity"] = damaged["rarity"][1:]
    with pytest.raises(ValidationError, match="one coefficient for each outcome"):
        FittedLogistic.model_validate(damaged)


def test_the_brier_score_of_two_outcomes_is_the_squared_error_and_silence_costs_all_of_it() -> None:
    told = np.array([[0.8, 0.2], [np.nan, np.nan]])
    assert brier(np.array([0, 1], np.int16), told) == pytest.approx((0.04 + 1) / 2)


def test_a_choice_says_which_simple_scorers_it_does_not_beat() -> None:
    truth = (np.arange(200) % 2).astype(np.int16)
    noise = np.random.default_rng(0).random(200)
    good, none = np.column_stack([1 - truth, truth]).astype(float), np.column_stack([1 - noise, noise])
    choice = described_choice(TFIDF, good, {LENGTH: none, TFIDF: good, MAJORITY: none}, truth, "a test", seed=0)
    assert choice.unbeaten == (TFIDF,)
    assert [one.name for one in choice.compared] == [TFIDF, LENGTH, MAJORITY]
    assert choice.held_out.auroc == 1.0


def test_length_counts_in_whichever_direction_tells_more() -> None:
    truth = (np.arange(200) % 2).astype(np.int16)
    wrong = np.column_stack([truth, 1 - truth]).astype(float)
    choice = described_choice(TFIDF, 1 - wrong, {LENGTH: wrong, TFIDF: 1 - wrong}, truth, "a test", seed=0)
    assert choice.unbeaten == (LENGTH, TFIDF)


async def _trained(folder: Path, after: dt.date | None = None) -> tuple[TrainingResult, VerdictModel]:
    contents = await (await graph_of(forty())).load()
    holdout = Holdout(folds=3, after=after)
    result = train(contents, folder, GraphEvalOptions(), holdout, NetworkEffort(), NOW, lambda *_: None)
    return result, VerdictModel.model_validate_json(model_file(folder).read_bytes())


async def test_training_writes_one_file_with_the_choice_and_what_it_was_learned_from(tmp_path: Path) -> None:
    result, model = await _trained(tmp_path / "graph")
    assert result.choice == model.choice
    names = {one.name for one in model.choice.compared}
    assert {LENGTH, MAJORITY, TFIDF} < names
    assert model.choice.chosen in names - {LENGTH, MAJORITY}
    assert model.calibration.provenance.counts == {"reject": 20, "accept": 20}
    assert (model.earliest, model.latest) == (dt.date(2020, 1, 1), dt.date(2020, 1, 1))
    assert result.scorer.brier.low <= result.scorer.brier.value <= result.scorer.brier.high


def test_length_and_label_rates_are_never_chosen() -> None:
    possible = candidates({}, GraphEvalOptions())
    assert {one.name for one in possible.yardsticks} == {LENGTH, MAJORITY}
    assert not {one.name for one in possible.choosable} & {LENGTH, MAJORITY}


async def _judge_by_words(folder: Path, auroc_of_length: float = 0.5, extra: str | None = None) -> GraphJudge:
    """As `train` would leave it had TF-IDF won."""
    _, model = await _trained(folder)
    ideas = [*forty(), *([known(60, "accept", text=extra)] if extra else [])]
    graph = await graph_of(ideas)
    contents = await graph.load()
    compared = (MeasuredScorer(name=LENGTH, auroc=auroc_of_length, low=0.4, high=0.6),)
    choice = ScorerChoice(
        chosen=TFIDF, held_out=ON_HELD_OUT, compared=compared, unbeaten=(LENGTH,), ideas=40, split="a test"
    )
    fitted = fit_words([titled_text(one.title, one.text) for one in contents.ideas], contents.arrays.labels, 2)
    calibration = model.calibration.model_copy(update={"scorer": TFIDF})
    by_words = VerdictModel(calibration=calibration, choice=choice, earliest=None, latest=None, fitted=fitted)
    return dataclasses.replace(await judge_of(graph), model=by_words, calibration=calibration)


async def test_a_verdict_by_words_shows_the_same_evidence_and_says_what_it_is_worth(tmp_path: Path) -> None:
    verdict = await verdict_of(await _judge_by_words(tmp_path))
    assert verdict.scorer == TFIDF
    assert isinstance(verdict.choice, ScorerChoice)
    assert verdict.probabilities[0].probability > verdict.probabilities[0].rate
    assert {near.label for near in verdict.evidence[0].neighbours} == {"reject"}
    assert verdict.evidence[0].leaning == "reject"


async def test_no_outcome_is_named_where_the_length_of_a_text_told_as_much(tmp_path: Path) -> None:
    verdict = await verdict_of(await _judge_by_words(tmp_path, auroc_of_length=0.75))
    assert isinstance(verdict.decision, Absent)
    assert "length of the text" in verdict.decision.reason


async def test_a_regression_that_has_seen_the_idea_itself_is_fitted_again_without_it(tmp_path: Path) -> None:
    told = await verdict_of(await _judge_by_words(tmp_path, extra=MAPS))
    alone = await verdict_of(await _judge_by_words(tmp_path))
    assert told.probabilities == alone.probabilities


async def test_a_regression_is_fitted_again_once_for_all_who_need_it_and_beside_the_event_loop(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    judge = await _judge_by_words(tmp_path, extra=MAPS)
    begun, go = threading.Event(), threading.Event()
    threads: list[threading.Thread] = []

    def fit(*given: Any) -> FittedLogistic:
        threads.append(threading.current_thread())
        begun.set()
        assert go.wait(30)
        return fit_logistic(*given)

    monkeypatch.setattr(judge_module, "fit_logistic", fit)
    impatient, first, second = (asyncio.create_task(verdict_of(judge)) for _ in range(3))
    await asyncio.to_thread(begun.wait, 30)
    impatient.cancel()
    with pytest.raises(asyncio.CancelledError):
        await impatient
    go.set()
    assert (await first).probabilities == (await second).probabilities != ()
    (only,) = threads
    assert only is not threading.main_thread()


async def test_outcomes_known_after_the_cutoff_are_not_learned_from(tmp_path: Path) -> None:
    judge = await _judge_by_words(tmp_path)
    verdict = await verdict_of(judge, cutoff=dt.date(2019, 1, 1))
    assert isinstance(verdict.decision, Absent)
    assert verdict.probabilities == ()


async def test_the_notice_before_a_verdict_names_the_scorer_and_its_worth(tmp_path: Path) -> None:
    from assayer.methods.grapheval.pipeline import verdict_notices

    (weak,) = verdict_notices(await verdict_of(await _judge_by_words(tmp_path)))
    assert f"by {TFIDF}, chosen among 1 scorers; on 40 ideas" in weak.text
    assert "not shown to be better than length of the text (0.50)" in weak.text


def test_words_that_only_accepted_ideas_got_afterwards_are_not_learned_from() -> None:
    assert titled_text("Maps", "We map towns. Code: https://example.org/a.") == "Maps\n\nWe map towns."
    assert titled_text("Maps", "Maps of towns. They fade.") == "Maps of towns. They fade."


def test_a_report_made_before_scorers_were_chosen_still_reads() -> None:
    assert isinstance(Verdict.model_fields["choice"].default, Absent)
