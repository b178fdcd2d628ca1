"""Choice of the judge of rewards, and the message if it is unavailable."""

import pytest

from assayer.errors import InputError, NoFallback
from assayer.llm import NoLlm
from assayer.methods.debate.composition import COMPOSITIONS, Composition
from assayer.methods.debate.options import ViewpointJudge
from assayer.models import Absent, EvaluationId
from assayer.models.reward import RewardItem
from assayer.run.run import Run
from cluster.clock import SystemClock
from cluster.reward_judge import RewardJudge, describe_known_judges, find_usable_judge
from cluster.settings import Settings
from tests.unit.twins import Watcher
from workers.embedding.hashing_embedder import HashingEmbedder

_EMBEDDER = HashingEmbedder()
SETTINGS = Settings.model_validate({"llm": {"base_url": "http://localhost/v1", "model": "judge"}})
WITHOUT_MODEL = RewardJudge(Settings(), NoLlm(), _EMBEDDER, SystemClock())


def test_judge_from_settings_is_used_unless_another_is_requested() -> None:
    assert find_usable_judge(SETTINGS, None).name == Settings().debate.composition
    assert find_usable_judge(SETTINGS, "two-analysts") == COMPOSITIONS["two-analysts"]
    own_composition = Composition(name="mine", analysts=3)
    assert find_usable_judge(SETTINGS, own_composition) is own_composition


def test_unknown_judge_is_rejected_with_list_of_known_judges() -> None:
    with pytest.raises(InputError, match="two-analysts-evaluator"):
        find_usable_judge(SETTINGS, "three-wise-men")


async def test_debate_without_llm_is_rejected_without_fallback() -> None:
    run = Run(id=EvaluationId("rw_1"), cutoff=None, clock=SystemClock(), progress=Watcher())
    with pytest.raises(NoFallback, match="ASSAYER_LLM__MODEL"):
        await WITHOUT_MODEL.reward(RewardItem(question="Why?", idea="We ask.", abstract="We asked."), None, run)


@pytest.mark.parametrize(
    ("idea", "value"),
    [
        ("The loss of the student gets a term for the order of the items that its teacher ranks at the top.", 1),
        ("A crawler looks for broken links on web pages and tells their owners by electronic mail every night.", 0),
    ],
)
async def test_viewpoint_judge_runs_without_llm_when_requested(idea: str, value: int) -> None:
    abstract = "We add to the loss of a student a term for the order of the top items as its teacher ranks them."
    fitted = ViewpointJudge(fitted_for=_EMBEDDER.name, threshold=0.6)
    run = Run(id=EvaluationId("rw_1"), cutoff=None, clock=SystemClock(), progress=Watcher())
    reward = await WITHOUT_MODEL.reward(RewardItem(question="How to rank?", idea=idea, abstract=abstract), fitted, run)
    assert (reward.value, reward.judge, reward.llm_requests) == (value, "viewpoints", 0)
    assert reward.similarity is not None
    assert (reward.similarity >= 0.6) == bool(value)


async def test_threshold_is_not_applied_to_another_embedding_model() -> None:
    run = Run(id=EvaluationId("rw_1"), cutoff=None, clock=SystemClock(), progress=Watcher())
    idea = "A crawler looks for broken links on web pages and tells their owners by electronic mail."
    item = RewardItem(question="How to rank?", idea=idea, abstract="We rank what the teacher ranks.")
    reward = await WITHOUT_MODEL.reward(item, "viewpoints", run)
    assert isinstance(reward.value, Absent)
    assert "all-MiniLM-L6-v2" in reward.reason


def test_every_composition_is_described_by_its_seats() -> None:
    description_by_judge = describe_known_judges(Settings().debate)
    assert description_by_judge.keys() >= COMPOSITIONS.keys()
    assert description_by_judge["two-analysts-evaluator"].startswith("A debate of 2 analysts, 1 evaluator")
