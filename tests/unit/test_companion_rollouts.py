"""SciCompanion's own loop walked by a policy: what it wrote is kept apart, and what fails has no reward."""

import asyncio
import random
from collections.abc import Sequence
from dataclasses import replace
from pathlib import Path

import pytest

from assayer.errors import CorpusError, InputError
from assayer.methods.scicompanion.trajectory_reward import TrajectoryReward
from assayer.models import Absent, Hit, Window
from tests.memory_corpus import MemoryCorpus
from tests.tiny_companion import (
    ANSWERS,
    BROKEN,
    PAPERS,
    find_task,
    make_companion_tokenizer,
    make_random_generator,
    make_tiny_backends,
    make_tiny_training,
    read_tiny_ideas,
)
from tests.unit.twins import FixedClock
from workers.embedding.hashing_embedder import HashingEmbedder
from workers.policy_training.companion_groups import build_rows
from workers.policy_training.companion_plan import CompanionTraining, LoopRollouts
from workers.policy_training.companion_rollouts import CompanionRollout, CompanionRollouts
from workers.policy_training.configuration import GrpoSettings
from workers.policy_training.policy_conversation import PolicyTemplate, WrittenTokens
from workers.policy_training.policy_transport import Generate
from workers.policy_training.trajectories import TrajectoryTokens

TOKENIZER = make_companion_tokenizer()
END = TOKENIZER.eos_token_id
TEMPLATE = PolicyTemplate(TOKENIZER, frozenset([END]))


def get_token(text: str) -> int:
    return int(TOKENIZER.convert_tokens_to_ids(text))


def answer_always(**chosen: str) -> Generate:
    def generate(contexts: Sequence[Sequence[int]]) -> list[WrittenTokens]:
        return [WrittenTokens((get_token(chosen[find_task(TOKENIZER, context)]), END)) for context in contexts]

    return generate


EDITS = answer_always(queries=ANSWERS["queries"][0], step=ANSWERS["step"][1], judging=ANSWERS["judging"][8])


async def run_rollouts(
    plan: CompanionTraining, generate: Generate, times: int = 1, literature: MemoryCorpus | None = None
) -> list[CompanionRollout]:
    backends = make_tiny_backends()
    if literature is not None:
        backends = replace(backends, literature=literature)
    ideas = [tiny_idea for tiny_idea in read_tiny_ideas(plan) for _ in range(times)]
    return await CompanionRollouts(plan, backends, FixedClock()).walk(ideas, TEMPLATE, generate)


@pytest.fixture
def plan(tmp_path: Path) -> CompanionTraining:
    return make_tiny_training(tmp_path, "none", GrpoSettings())


async def test_rollout_follows_evaluation_loop_and_rewards_score_and_graph(plan: CompanionTraining) -> None:
    sky_rollout, sea_rollout, *_ = await run_rollouts(plan, EDITS)
    assert isinstance(sea_rollout.reward, TrajectoryReward)
    assert (sea_rollout.reward.accuracy, round(sea_rollout.reward.structure, 3)) == (
        1.0,
        round((1 / 6 + 1 + 5 / 6) / 3, 3),
    )
    assert isinstance(sky_rollout.reward, TrajectoryReward)
    assert sky_rollout.reward.accuracy == pytest.approx(1 - 7 / 9)
    assert [call.completion for call in sea_rollout.calls] == [
        (get_token(ANSWERS[task][number]), END) for task, number in (("queries", 0), ("step", 1), ("judging", 8))
    ]
    assert all(call.mask == (1, 1) for call in sea_rollout.calls)


async def test_rollouts_of_an_idea_are_sampled_independently(plan: CompanionTraining) -> None:
    rollouts = await run_rollouts(plan, make_random_generator(TOKENIZER, seed=1), times=8)
    of_first = {tuple(call.completion for call in item.calls) for item in rollouts[:8]}
    assert len(of_first) > 4


async def test_tokens_inserted_between_repaired_answers_are_masked(plan: CompanionTraining) -> None:
    generator = random.Random(2)  # noqa: S311 - an answer that is drawn is no secret
    usable = make_random_generator(TOKENIZER, seed=3)

    def generate(contexts: Sequence[Sequence[int]]) -> list[WrittenTokens]:
        unusable = WrittenTokens((get_token(BROKEN), END))
        texts = zip(contexts, usable(contexts), strict=True)
        return [
            text if get_token(BROKEN) in context or generator.random() < 0.5 else unusable for context, text in texts
        ]

    rollouts = await run_rollouts(plan, generate, times=4)
    repaired = [call for item in rollouts for call in item.calls if 0 in call.mask]
    assert repaired
    for call in repaired:
        own_tokens = [token for token, is_written in zip(call.completion, call.mask, strict=True) if is_written]
        assert own_tokens[0] == get_token(BROKEN)
        assert len(own_tokens) == 4
        assert TOKENIZER.convert_tokens_to_ids("<|assistant|>") not in own_tokens
    assert all(isinstance(item.reward, TrajectoryReward) for item in rollouts)


async def test_unscored_rollout_has_absent_reward_with_reason(plan: CompanionTraining) -> None:
    generate_unjudged = answer_always(queries=ANSWERS["queries"][0], step=BROKEN, judging=BROKEN)
    for item in await run_rollouts(plan, generate_unjudged):
        assert isinstance(item.reward, Absent)
        assert item.reward.reason.startswith("Overall has no score: Not judged:")
        assert len(item.calls) == 3


async def test_rollout_continues_after_a_lost_step(plan: CompanionTraining) -> None:
    rollouts = await run_rollouts(plan, answer_always(queries=BROKEN, step=BROKEN, judging=ANSWERS["judging"][3]))
    assert all(isinstance(item.reward, TrajectoryReward) and item.reward.structure == 0 for item in rollouts)


class UnreadableCorpus(MemoryCorpus):
    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Hit]]:
        raise CorpusError("The corpus is damaged.")


async def test_failed_literature_search_makes_reward_absent(plan: CompanionTraining) -> None:
    rollouts = await run_rollouts(plan, EDITS, literature=UnreadableCorpus(PAPERS, HashingEmbedder()))
    assert [item.reward for item in rollouts] == [Absent(reason="The corpus is damaged.")] * 4
    assert all(len(item.calls) == 1 for item in rollouts)


class SilentCorpus(MemoryCorpus):
    async def search(self, queries: Sequence[str], limit: int, window: Window) -> list[list[Hit]]:
        never: asyncio.Future[list[list[Hit]]] = asyncio.get_running_loop().create_future()
        return await never


async def test_literature_timeout_makes_reward_absent_without_stopping_training(plan: CompanionTraining) -> None:
    hasty = plan.model_copy(update={"rollouts": LoopRollouts(most_prompt_tokens=64, seconds=0.5)})
    rollouts = await run_rollouts(hasty, EDITS, literature=SilentCorpus(PAPERS, HashingEmbedder()))
    assert [item.reward for item in rollouts] == [Absent(reason="the rollout took longer than 0.5 s.")] * 4


async def test_overlong_prompt_makes_reward_absent(plan: CompanionTraining) -> None:
    short = plan.model_copy(update={"rollouts": LoopRollouts(most_prompt_tokens=5)})
    for item in await run_rollouts(short, EDITS):
        assert isinstance(item.reward, Absent)
        assert "tokens; the limit is 5" in item.reward.reason
        assert item.calls == ()


def test_missing_calls_are_padded_with_masked_rows(plan: CompanionTraining) -> None:
    call = TrajectoryTokens((1, 2), (3, END), (1, 1))
    rows = build_rows(CompanionRollout(read_tiny_ideas(plan)[0], (call,), Absent(reason="none")), 3, END)
    assert rows[0] == call
    assert [row.mask for row in rows[1:]] == [(0,), (0,)]


@pytest.mark.parametrize(
    ("query_source", "steps", "max_calls"), [("together", 3, 5), ("apart", 3, 10), ("apart", 1, 4)]
)
def test_number_of_calls_per_rollout_is_calculated(
    plan: CompanionTraining, query_source: str, steps: int, max_calls: int
) -> None:
    loop = plan.loop.model_copy(update={"asked": query_source, "steps": steps})
    assert plan.model_copy(update={"loop": loop}).compute_max_calls(judged=1) == max_calls


LINE = '{"title": "A title", "text": "TEXT", "scores": {"overall": 5}, "known_until": null}\n'.replace(
    "TEXT", "word " * 30
)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "has no ideas"),
        ("{}\n", "line 1: title: Field required"),
        (LINE.replace("5", "11"), "line 1: the score 11 for overall is outside its scale from 1 to 10"),
        (
            LINE.replace("overall", "beauty"),
            "line 1: unknown dimension 'beauty'. The dimensions are feasibility, impact",
        ),
        (LINE + LINE.replace("overall", "impact"), "line 2 has scores for impact, but the first idea has scores for"),
        (LINE.replace("word ", ""), "line 1"),
    ],
)
def test_invalid_training_idea_is_reported_with_its_line(plan: CompanionTraining, lines: str, message: str) -> None:
    plan.data.file.write_text(lines)
    with pytest.raises(InputError) as raised:
        read_tiny_ideas(plan)
    assert message in str(raised.value)
