"""Gradients of SciCompanion's own rollouts: only tokens the policy wrote have any, each as large as GRPO states."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path

import pytest
import torch

from tests.tiny_companion import BROKEN, chance, companion_tokenizer, tiny_ideas, tiny_literature, tiny_training
from tests.tiny_policy import TinyPolicy, random_llama
from tests.unit.grpo_gradients import MOST, largest_leak, log_probability_gradients
from tests.unit.twins import FixedClock
from workers.policy_training.companion_groups import build_rows
from workers.policy_training.companion_rollouts import CompanionRollouts
from workers.policy_training.configuration import GrpoSettings
from workers.policy_training.policy_conversation import PolicyTemplate, WrittenTokens
from workers.policy_training.trajectories import TrajectoryTokens

TOKENIZER = companion_tokenizer()
END, UNUSABLE = TOKENIZER.eos_token_id, TOKENIZER.convert_tokens_to_ids(BROKEN)
CALLS, ROLLOUTS = 3, 2
REWARDS = (0.25, 1.0)
MEAN = sum(REWARDS) / len(REWARDS)
pytestmark = [
    pytest.mark.slow,
    pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:You are using 'rollout_func'"),
]


class Walked:
    """Two rollouts of one idea, every answer of the first sent back once; and what was written, as it was sampled."""

    def __init__(self, folder: Path) -> None:
        plan = tiny_training(folder, "none", GrpoSettings())
        usable = chance(TOKENIZER, seed=4)
        self.written: list[tuple[tuple[int, ...], tuple[int, ...]]] = []

        def generate(contexts: Sequence[Sequence[int]]) -> list[WrittenTokens]:
            texts = list(usable(contexts))
            if UNUSABLE not in contexts[0]:
                texts[0] = WrittenTokens((UNUSABLE, END))
            self.written += [(tuple(context), text.ids) for context, text in zip(contexts, texts, strict=True)]
            return texts

        rollouts = CompanionRollouts(plan, tiny_literature(), FixedClock())
        template = PolicyTemplate(TOKENIZER, frozenset([END]))
        walked = asyncio.run(rollouts.walk([tiny_ideas(plan)[0]] * ROLLOUTS, template, generate))
        self.rows = [row for item in walked for row in build_rows(item, CALLS, END)]

    def own(self, row: TrajectoryTokens) -> list[bool]:
        """Return whether the policy wrote each token of the completion, derived from the samples and their
        contexts and not the mask."""
        everything = (*row.prompt, *row.completion)
        own = [False] * len(everything)
        for context, ids in self.written:
            if everything[: len(context) + len(ids)] == (*context, *ids):
                own[len(context) : len(context) + len(ids)] = [True] * len(ids)
        return own[len(row.prompt) :]


@pytest.fixture
def walk(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Walked:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY", True)
    return Walked(tmp_path)


def _gradients(folder: Path, rows: Sequence[TrajectoryTokens]) -> torch.Tensor:
    policy = TinyPolicy(random_llama(len(TOKENIZER), 1), TOKENIZER)
    return log_probability_gradients(folder, policy, rows, [reward for reward in REWARDS for _ in range(CALLS)])


def _shifted(row: TrajectoryTokens) -> TrajectoryTokens:
    return TrajectoryTokens(row.prompt, row.completion, (row.mask[-1], *row.mask[:-1]))


def _with_a_token_of_the_prompt(row: TrajectoryTokens) -> TrajectoryTokens:
    return TrajectoryTokens(row.prompt[:-1], (row.prompt[-1], *row.completion), (1, *row.mask))


def _without_a_mask(row: TrajectoryTokens) -> TrajectoryTokens:
    return TrajectoryTokens(row.prompt, row.completion, (1,) * len(row.completion))


def test_loss_mask_covers_exactly_the_sampled_tokens(walked: Walked) -> None:
    assert [tuple(map(bool, row.mask)) for row in walked.rows] == [tuple(walked.own(row)) for row in walked.rows]
    assert [0 in row.mask for row in walked.rows] == [True] * 3 + [False] * 3


def test_injected_tokens_have_zero_gradient_and_sampled_tokens_follow_grpo(tmp_path: Path, walked: Walked) -> None:
    gradients = _gradients(tmp_path, walked.rows)
    assert largest_leak([walked.own(row) for row in walked.rows], gradients) == 0.0
    for number, row in enumerate(walked.rows):
        advantage = REWARDS[number // CALLS] - MEAN
        written = [item for item, own in zip(gradients[number].tolist(), walked.own(row), strict=False) if own]
        assert written == pytest.approx([-advantage / (len(walked.rows) * MOST)] * len(written))


@pytest.mark.parametrize("leaking", [_shifted, _with_a_token_of_the_prompt, _without_a_mask])
def test_deliberate_mask_leak_is_detected(
    tmp_path: Path, walked: Walked, leaking: Callable[[TrajectoryTokens], TrajectoryTokens]
) -> None:
    rows = [leaking(walked.rows[0]), *walked.rows[1:]]
    assert largest_leak([walked.own(row) for row in rows], _gradients(tmp_path, rows)) > 0.0


def test_missing_call_does_not_change_gradient_mean(tmp_path: Path, walked: Walked) -> None:
    blank = TrajectoryTokens((END,), (END,), (0,))
    rows = [*walked.rows[:2], blank, *walked.rows[3:]]
    gradients = _gradients(tmp_path, rows)
    assert float(gradients[2].abs().max()) == 0.0
    advantage = REWARDS[1] - MEAN
    assert gradients[3].tolist()[:2] == pytest.approx([-advantage / (len(rows) * MOST)] * 2)
