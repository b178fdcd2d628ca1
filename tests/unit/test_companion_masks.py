"""Gradients of SciCompanion's own rollouts: only tokens the policy wrote have any, each as large as GRPO states."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch

from tests.tiny_companion import (
    BROKEN,
    make_companion_tokenizer,
    make_random_generator,
    make_tiny_backends,
    make_tiny_training,
    read_tiny_ideas,
)
from tests.tiny_policy import TinyPolicy, make_random_llama
from tests.unit.grpo_gradients import MAX_COMPLETION_TOKENS, compute_log_probability_gradients, find_largest_leak
from tests.unit.twins import FixedClock
from workers.policy_training.companion_groups import build_rows
from workers.policy_training.companion_rollouts import CompanionRollouts
from workers.policy_training.configuration import GrpoSettings
from workers.policy_training.policy_conversation import PolicyTemplate, WrittenTokens
from workers.policy_training.trajectories import TrajectoryTokens

TOKENIZER = make_companion_tokenizer()
END, UNUSABLE = TOKENIZER.eos_token_id, TOKENIZER.convert_tokens_to_ids(BROKEN)
CALLS, ROLLOUTS = 3, 2
REWARDS = (0.25, 1.0)
MEAN_REWARD = sum(REWARDS) / len(REWARDS)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:You are using 'rollout_func'"),
]


class RecordedRollouts:
    """Two rollouts of one idea with every first answer rejected once, and the sampled tokens."""

    def __init__(self, folder: Path) -> None:
        plan = make_tiny_training(folder, "none", GrpoSettings())
        usable = make_random_generator(TOKENIZER, seed=4)
        self.written: list[tuple[tuple[int, ...], tuple[int, ...]]] = []

        def generate(contexts: Sequence[Sequence[int]]) -> list[WrittenTokens]:
            texts = list(usable(contexts))
            if UNUSABLE not in contexts[0]:
                texts[0] = WrittenTokens((UNUSABLE, END))
            self.written += [(tuple(context), text.ids) for context, text in zip(contexts, texts, strict=True)]
            return texts

        rollouts = CompanionRollouts(plan, make_tiny_backends(), FixedClock())
        template = PolicyTemplate(TOKENIZER, frozenset([END]))
        walked = asyncio.run(rollouts.walk([read_tiny_ideas(plan)[0]] * ROLLOUTS, template, generate))
        self.rows = [row for item in walked for row in build_rows(item, CALLS, END)]

    def find_own_tokens(self, row: TrajectoryTokens) -> list[bool]:
        """Return whether the policy wrote each token of the completion, derived from the samples and their
        contexts and not the mask."""
        tokens = (*row.prompt, *row.completion)
        is_own = [False] * len(tokens)
        for context, ids in self.written:
            if tokens[: len(context) + len(ids)] == (*context, *ids):
                is_own[len(context) : len(context) + len(ids)] = [True] * len(ids)
        return is_own[len(row.prompt) :]


@pytest.fixture
def recorded(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> RecordedRollouts:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY", True)
    return RecordedRollouts(tmp_path)


def compute_gradients(folder: Path, rows: Sequence[TrajectoryTokens]) -> torch.Tensor:
    policy = TinyPolicy(make_random_llama(len(TOKENIZER), 1), TOKENIZER)
    return compute_log_probability_gradients(folder, policy, rows, [reward for reward in REWARDS for _ in range(CALLS)])


def shift_mask(row: TrajectoryTokens) -> TrajectoryTokens:
    return TrajectoryTokens(row.prompt, row.completion, (row.mask[-1], *row.mask[:-1]))


def include_prompt_token(row: TrajectoryTokens) -> TrajectoryTokens:
    return TrajectoryTokens(row.prompt[:-1], (row.prompt[-1], *row.completion), (1, *row.mask))


def drop_mask(row: TrajectoryTokens) -> TrajectoryTokens:
    return TrajectoryTokens(row.prompt, row.completion, (1,) * len(row.completion))


def test_loss_mask_covers_exactly_the_sampled_tokens(recorded: RecordedRollouts) -> None:
    assert [tuple(map(bool, row.mask)) for row in recorded.rows] == [
        tuple(recorded.find_own_tokens(row)) for row in recorded.rows
    ]
    assert [0 in row.mask for row in recorded.rows] == [True] * 3 + [False] * 3


def test_injected_tokens_have_zero_gradient_and_sampled_tokens_follow_grpo(
    tmp_path: Path, recorded: RecordedRollouts
) -> None:
    gradients = compute_gradients(tmp_path, recorded.rows)
    assert find_largest_leak([recorded.find_own_tokens(row) for row in recorded.rows], gradients) == 0.0
    for number, row in enumerate(recorded.rows):
        advantage = REWARDS[number // CALLS] - MEAN_REWARD
        own_gradients = [
            item
            for item, is_own in zip(gradients[number].tolist(), recorded.find_own_tokens(row), strict=False)
            if is_own
        ]
        assert own_gradients == pytest.approx(
            [-advantage / (len(recorded.rows) * MAX_COMPLETION_TOKENS)] * len(own_gradients)
        )


@pytest.mark.parametrize("leaking", [shift_mask, include_prompt_token, drop_mask])
def test_deliberate_mask_leak_is_detected(
    tmp_path: Path, recorded: RecordedRollouts, leaking: Callable[[TrajectoryTokens], TrajectoryTokens]
) -> None:
    rows = [leaking(recorded.rows[0]), *recorded.rows[1:]]
    assert find_largest_leak([recorded.find_own_tokens(row) for row in rows], compute_gradients(tmp_path, rows)) > 0.0


def test_missing_call_does_not_change_gradient_mean(tmp_path: Path, recorded: RecordedRollouts) -> None:
    blank = TrajectoryTokens((END,), (END,), (0,))
    rows = [*recorded.rows[:2], blank, *recorded.rows[3:]]
    gradients = compute_gradients(tmp_path, rows)
    assert float(gradients[2].abs().max()) == 0.0
    advantage = REWARDS[1] - MEAN_REWARD
    assert gradients[3].tolist()[:2] == pytest.approx([-advantage / (len(rows) * MAX_COMPLETION_TOKENS)] * 2)
