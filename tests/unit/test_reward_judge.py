"""Which judge rewards are asked of, and what is said where it cannot be asked."""

import pytest

from assayer.errors import InputError, NoFallback
from assayer.methods.debate.composition import COMPOSITIONS, Composition
from assayer.models import EvaluationId
from assayer.models.reward import RewardItem
from assayer.run.run import Run
from cluster.clock import SystemClock
from cluster.reward_judge import RewardJudge, known_judges
from cluster.settings import Settings
from tests.unit.test_job_performer import Silent
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.llm.fallback_llm import FallbackLlm

_EMBEDDER = HashingEmbedder()
WITHOUT_MODEL = RewardJudge(Settings(), FallbackLlm(_EMBEDDER), _EMBEDDER, SystemClock())


def test_judge_is_that_of_the_settings_unless_another_is_named() -> None:
    assert WITHOUT_MODEL.chosen(None).name == Settings().debate.composition
    assert WITHOUT_MODEL.chosen("two-analysts") == COMPOSITIONS["two-analysts"]
    own = Composition(name="mine", analysts=3)
    assert WITHOUT_MODEL.chosen(own) is own


def test_unknown_judge_is_refused_with_the_names_of_the_known_ones() -> None:
    with pytest.raises(InputError, match="two-analysts-evaluator"):
        WITHOUT_MODEL.chosen("three-wise-men")


async def test_debate_without_a_model_is_refused_and_nothing_stands_in_for_it() -> None:
    run = Run(id=EvaluationId("rw_1"), cutoff=None, clock=SystemClock(), progress=Silent())
    with pytest.raises(NoFallback, match="ASSAYER_LLM__MODEL"):
        await WITHOUT_MODEL.reward(RewardItem(question="Why?", idea="We ask.", abstract="We asked."), None, run)


def test_every_composition_is_described_by_its_seats() -> None:
    about = known_judges(Settings().debate)
    assert about.keys() >= COMPOSITIONS.keys()
    assert about["two-analysts-evaluator"].startswith("A debate of 2 analysts, 1 evaluator")
