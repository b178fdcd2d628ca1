"""A budget in dollars needs the price of every model that a method asks by name, before anything is opened or paid."""

import asyncio
from collections import Counter
from typing import Any

import pytest

from assayer.errors import BudgetExhausted, ConfigurationError, Defect, MalformedAnswer, StorageError
from assayer.llm import ask
from assayer.methods.innoeval.options import METHOD as INNOEVAL
from assayer.methods.scholareval import METHOD as SCHOLAREVAL
from assayer.models import Idea, IdeaId
from assayer.ranking.comparison import PairQuestion, build_comparison_task
from assayer.ranking.options import DEFAULT_DIMENSIONS
from cluster.clock import SystemClock
from cluster.engine import Engine, open_engine
from cluster.run_request import RunRequest
from cluster.settings import Settings
from orchestrator.jobs.requests import Limits
from tests.unit.judges import JudgeLlm, judge_correctly, make_ranking_run
from tests.unit.twins import Watcher

TWO_MODELS = ["strong", "second-model"]
ONE_PRICE = {"strong": [2, 8]}
UNUSED: Any = None


def make_settings(max_usd: float | None = 5.0) -> Settings:
    return Settings.model_validate(
        {
            "llm": {"base_url": "http://localhost:1/v1", "model": "strong", "prices": ONE_PRICE},
            "innoeval": {"board": {"models": TWO_MODELS}},
            "evaluation": {"max_usd": max_usd},
        }
    )


async def test_unpriced_board_model_is_rejected_when_engine_opens() -> None:
    with pytest.raises(ConfigurationError, match="price of model 'second-model' is unknown"):
        async with open_engine(make_settings(), (INNOEVAL,)):
            raise AssertionError("The engine must not open.")


@pytest.mark.parametrize("job", [RunRequest(max_usd=1.0), RunRequest(limits=Limits(max_usd=1.0))])
async def test_unpriced_board_model_is_rejected_before_a_budgeted_job_starts(job: RunRequest) -> None:
    engine = Engine(
        settings=make_settings(None),
        backends=UNUSED,
        literature=UNUSED,
        evaluations=UNUSED,
        clock=SystemClock(),
        judge=UNUSED,
        methods={INNOEVAL: None, SCHOLAREVAL: None},
        corpora=UNUSED,
        _slots=asyncio.Semaphore(1),
        _overnight_slots=asyncio.Semaphore(1),
        _running_counts=Counter(),
        bibliography=UNUSED,
    )
    idea = Idea(id=IdeaId("i1"), title="Masks", text="We learn masks.", sections=(), source="ideas.jsonl:1")
    with pytest.raises(ConfigurationError, match="price of model 'second-model' is unknown"):
        await engine.evaluate(idea, INNOEVAL, None, Watcher(), job)


@pytest.mark.parametrize("error", [MalformedAnswer("x"), BudgetExhausted("x"), StorageError("x"), Defect("x")])
async def test_every_call_without_an_answer_is_counted_as_lost(error: Exception) -> None:
    run = make_ranking_run()
    question = PairQuestion(dimensions=DEFAULT_DIMENSIONS, first="Idea of worth 1.", second="Idea of worth 2.")
    with pytest.raises(type(error)):
        await ask(JudgeLlm(judge_correctly, fails=error), build_comparison_task(len(DEFAULT_DIMENSIONS)), question, run)
    assert run.journal.failed_calls == [("ranking.comparison", ())]
