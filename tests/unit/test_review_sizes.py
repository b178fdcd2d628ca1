"""Smaller reviews for slow models: chosen by speed, with fewer requests, and announced first."""

from pathlib import Path

import pytest
from pydantic import BaseModel

from assayer.methods.review import METHOD, ReviewOptions
from assayer.methods.review.schemas import PaperNotes, PassageQuestion, ReadingAnswer
from assayer.methods.review.sizes import SMALL
from assayer.models import Score
from cluster.local_model import ChosenModel, fit_settings_to_speed
from cluster.settings_loading import load_settings
from tests.unit.review_answers import answer_referee, make_finding, score, script_editor, script_panel
from tests.unit.review_runs import review_idea
from tests.unit.scholareval_runs import make_twin_backends
from workers.local_model.server import LocalModel, LocalModelOptions
from workers.local_model.speed import ModelSpeed

LOCAL = LocalModel("small", "http://127.0.0.1:1/v1", "key", "file", LocalModelOptions(), 1, Path("log"))
SLOW, FAST = ModelSpeed(70.0, 15.0), ModelSpeed(4_000.0, 100.0)


async def test_small_review_makes_four_requests_and_says_first_that_it_is_small() -> None:
    backends, llm = make_twin_backends()
    report = await review_idea(backends, options=ReviewOptions.model_validate(SMALL.options))
    names = [name for name, _ in llm.requests]
    assert names[:2] == ["review.referee_brief", "review.reading_brief"]
    assert sorted(names[2:]) == ["review.editor_brief", "support.claims"]
    assert report.notices[0].kind == "small_review"
    assert "at most 4 points instead of 76" in report.notices[0].text
    assert "4 papers read instead of 20" in report.notices[0].text


def answer_without_notes(question: BaseModel) -> ReadingAnswer:
    assert isinstance(question, PassageQuestion)
    return ReadingAnswer(papers=[PaperNotes(label=item.label, subject="same", notes=[]) for item in question.evidence])


async def test_low_contribution_of_a_small_review_is_raised_to_the_lowest_that_its_citations_allow() -> None:
    editor = script_editor(contribution=score(25), major=[make_finding(["Q2"], "Baselines are not named.")], further=[])
    answers = script_panel(editor_brief=editor, referee_brief=answer_referee, reading_brief=answer_without_notes)
    backends, _ = make_twin_backends(scripted=answers)
    contribution = (await review_idea(backends, options=ReviewOptions.model_validate(SMALL.options))).parts[1].score
    assert isinstance(contribution, Score)
    assert (contribution.value, contribution.certainty) == (5, "low")
    assert "The editor gave 2.5, but cited no passage" in contribution.basis


def choose_for_speed(speed: ModelSpeed) -> ChosenModel:
    return fit_settings_to_speed(load_settings("laptop", "small", base_url=LOCAL.base_url), LOCAL, speed)


def test_slow_model_gets_small_review_one_repair_and_an_estimate() -> None:
    chosen = choose_for_speed(SLOW)
    assert chosen.settings.review == ReviewOptions.model_validate(SMALL.options)
    assert chosen.settings.llm is not None
    assert chosen.settings.llm.repair_attempts == 1
    assert chosen.settings.evaluation.concurrency == LOCAL.options.slots
    announcement = chosen.describe_speed(1, METHOD)
    assert announcement is not None
    assert (
        f"about {SLOW.estimate_seconds(SMALL.prompt_tokens, SMALL.completion_tokens) / 60:.0f} minutes" in announcement
    )
    assert "smaller" in announcement


@pytest.mark.parametrize(
    ("load", "expected_text"),
    [
        (1.0, "more while other programs use the processors (load 1 on 2)"),
        (10.5, "up to 5 times that while other programs use the processors (load 10 on 2)"),
    ],
)
def test_estimate_says_how_much_other_programs_may_add(
    load: float, expected_text: str, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr("psutil.getloadavg", lambda: (load, 0.0, 0.0))
    monkeypatch.setattr("psutil.cpu_count", lambda: 2)
    assert expected_text in str(choose_for_speed(SLOW).describe_speed(1, METHOD))


def test_fast_model_gets_usual_review() -> None:
    assert choose_for_speed(FAST).settings.review == ReviewOptions()
    announcement = choose_for_speed(FAST).describe_speed(1, METHOD)
    assert announcement is not None
    assert "smaller" not in announcement
