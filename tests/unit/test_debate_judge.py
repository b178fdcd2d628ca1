"""A reward by debate: what the seats are shown, what it says, what it costs, and what becomes of failures."""

import pytest

from assayer.errors import AssayerError, LlmRejected, LlmUnavailable
from assayer.llm import NoLlm
from assayer.methods.debate.composition import Composition, get_composition
from assayer.methods.debate.judge import judge_by_debate
from assayer.models import Absent
from assayer.models.reward import RewardItem
from assayer_client.rewards import Reward
from tests.unit.debate_answers import ITEM, ScriptedSeats
from tests.unit.twins import make_run

PAIR = get_composition("two-analysts-evaluator")
FULL = get_composition("moderator-two-analysts-critic-evaluator")


async def judge(llm: ScriptedSeats, chosen: Composition = PAIR, item: RewardItem = ITEM) -> Reward:
    return await judge_by_debate(item, chosen, llm, make_run())


async def test_first_round_agreement_decides_verdict_with_three_calls() -> None:
    reward = await judge(ScriptedSeats())
    assert (reward.value, reward.decided_in_round, reward.judge) == (1, 1, "two-analysts-evaluator")
    assert (reward.llm_requests, reward.prompt_tokens, reward.completion_tokens, reward.cost_usd) == (3, 300, 30, 0.003)
    assert reward.models == ("judge",)
    assert [prompt.task for prompt in reward.prompts] == ["debate.analyst", "debate.evaluator"]
    assert all(prompt.digest for prompt in reward.prompts)
    assert reward.reason == "All seats agreed in round 1 that it matches. So I say match."


async def test_seats_see_earlier_turns_but_not_parallel_turns() -> None:
    llm = ScriptedSeats({("analyst", 1): "mm", ("analyst", 2): "nm", ("evaluator", 1): "nm"})
    reward = await judge(llm)
    assert reward.value == 1
    turns_seen = [(task.name, data.seat, data.round, len(data.history)) for task, data in llm.requests]
    assert turns_seen == [
        ("debate.analyst", 1, 1, 0),
        ("debate.analyst", 2, 1, 0),
        ("debate.evaluator", 1, 1, 2),
        ("debate.analyst", 1, 2, 3),
        ("debate.analyst", 2, 2, 3),
        ("debate.evaluator", 1, 2, 5),
    ]
    assert [(turn.role, turn.seat, turn.round) for turn in reward.transcript[:3]] == [
        ("analyst", 1, 1),
        ("analyst", 2, 1),
        ("evaluator", 1, 1),
    ]


async def test_seats_of_the_same_role_are_sampled_separately() -> None:
    llm = ScriptedSeats()
    await judge(llm)
    assert [(task.sample, task.temperature, task.tier) for task, _ in llm.requests] == [
        (0, 0.7, "judge"),
        (1, 0.7, "judge"),
        (0, None, "judge"),
    ]


async def test_moderator_who_halts_costs_one_call_and_has_no_vote() -> None:
    reward = await judge(ScriptedSeats({("moderator", 1): "h"}), FULL)
    assert (reward.value, reward.llm_requests, reward.decided_in_round) == (0, 1, 1)
    assert reward.transcript[0].vote == Absent(reason="A moderator has no vote.")
    assert reward.reason.startswith("The moderator found no idea to compare.")


@pytest.mark.parametrize(
    "error", [LlmUnavailable("down"), LlmRejected("wrong key")], ids=lambda error: type(error).__name__
)
async def test_a_lost_answer_makes_the_reward_absent_with_the_reason(error: AssayerError) -> None:
    reward = await judge(ScriptedSeats(failing={("analyst", 2, 1): error}))
    assert reward.value == Absent(reason=reward.reason)
    assert reward.reason.startswith("No answer from analyst 2 in round 1. ")
    assert reward.reason.lower().endswith(f"{error.reason.lower()}.")
    assert (reward.decided_in_round, reward.llm_requests) == (None, 1)


async def test_without_a_language_model_there_is_no_verdict() -> None:
    reward = await judge_by_debate(ITEM, PAIR, NoLlm(), make_run())
    assert isinstance(reward.value, Absent)
    assert "language model" in reward.reason


async def test_a_guard_decides_before_any_call() -> None:
    llm = ScriptedSeats()
    reward = await judge(llm, item=ITEM.model_copy(update={"idea": ITEM.abstract}))
    assert (reward.value, reward.guard, reward.leakage, llm.requests) == (0, "copied_abstract", True, [])


@pytest.mark.parametrize("field", ["question", "abstract"])
@pytest.mark.parametrize("text", [" \n", "word " * 10_000])
async def test_item_with_empty_or_overlong_text_gets_absent_reward(field: str, text: str) -> None:
    llm = ScriptedSeats()
    reward = await judge(llm, item=ITEM.model_copy(update={field: text}))
    assert isinstance(reward.value, Absent)
    assert llm.requests == []
