"""Gradients of SciCompanion's own rollouts: only tokens the policy wrote have any, each as large as GRPO states."""

import asyncio
from collections.abc import Callable, Sequence
from pathlib import Path
from typing import Any

import pytest
import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

from tests.tiny_companion import (
    BROKEN,
    chance,
    companion_tokenizer,
    tiny_ideas,
    tiny_literature,
    tiny_training,
)
from tests.tiny_policy import TinyPolicy, random_llama
from tests.unit.twins import FixedClock
from workers.policy_training.companion_groups import rows_of
from workers.policy_training.companion_rollouts import CompanionRollouts
from workers.policy_training.configuration import GrpoSettings
from workers.policy_training.policy_conversation import PolicyTemplate, WrittenTokens
from workers.policy_training.trajectories import TrajectoryTokens, rollout_batch

TOKENIZER = companion_tokenizer()
END, UNUSABLE = TOKENIZER.eos_token_id, TOKENIZER.convert_tokens_to_ids(BROKEN)
CALLS, ROLLOUTS, MOST = 3, 2, 16
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
        walked = asyncio.run(rollouts.walked([tiny_ideas(plan)[0]] * ROLLOUTS, template, generate))
        self.rows = [row for item in walked for row in rows_of(item, CALLS, END)]

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
def walked(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Walked:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY", True)
    return Walked(tmp_path)


def _gradients(
    folder: Path, rows: Sequence[TrajectoryTokens], loss: str = "dr_grpo", divergence: float = 0.0
) -> torch.Tensor:
    """Return the gradients of the loss of TRL's trainer with respect to the log-probability of each completion
    token, row by row."""
    model = TinyPolicy(random_llama(len(TOKENIZER), 1), TOKENIZER).save(folder / "model")
    policy = AutoModelForCausalLM.from_pretrained(model)
    caught: list[torch.Tensor] = []

    def watch(_: Any, __: Any, output: Any) -> None:
        if "log_probs" in output and output.log_probs.requires_grad:
            output.log_probs.register_hook(caught.append)

    policy.register_forward_hook(watch)
    order: list[torch.Tensor] = []

    trainer: Any = GRPOTrainer(
        policy,
        lambda trajectory, **_: list(trajectory),
        GRPOConfig(
            output_dir=str(folder / "out"),
            per_device_train_batch_size=len(rows),
            num_generations=len(rows),
            max_completion_length=MOST,
            max_steps=1,
            loss_type=loss,
            scale_rewards="none",
            beta=divergence,
            save_strategy="no",
            report_to=[],
            disable_tqdm=True,
            use_cpu=True,
            bf16=False,
            gradient_checkpointing=False,
        ),
        train_dataset=Dataset.from_list([{"prompt": "0"}] * 4),
        processing_class=TOKENIZER,
        rollout_func=lambda prompts, _: {
            **rollout_batch(rows),
            "trajectory": [reward for reward in REWARDS for _ in range(CALLS)],
        },
    )
    loss_of = trainer._compute_loss

    def in_order(model: Any, inputs: Any) -> Any:
        """Tells in which order the rows of the batch stand: the trainer shuffles them."""
        order.append(inputs["completion_ids"])
        return loss_of(model, inputs)

    trainer._compute_loss = in_order
    trainer.train()
    [found], [stood] = caught, order
    longest = max(len(row.completion) for row in rows)
    by_row = torch.zeros(len(rows), longest)
    for place, ids in enumerate(stood.tolist()):
        number = next(n for n, row in enumerate(rows) if (*row.completion, *[0] * longest)[:longest] == tuple(ids))
        by_row[number] = found[place, -longest:]
    return by_row


def _leaks(walked: Walked, rows: Sequence[TrajectoryTokens], gradients: torch.Tensor) -> float:
    """The largest gradient that comes from predicting a token that the policy did not write."""
    return max(
        (
            abs(float(gradient))
            for row, line in zip(rows, gradients, strict=True)
            for own, gradient in zip(walked.own(row), line.tolist(), strict=False)
            if not own
        ),
        default=0.0,
    )


def _shifted(row: TrajectoryTokens) -> TrajectoryTokens:
    return TrajectoryTokens(row.prompt, row.completion, (row.mask[-1], *row.mask[:-1]))


def _with_a_token_of_the_prompt(row: TrajectoryTokens) -> TrajectoryTokens:
    return TrajectoryTokens(row.prompt[:-1], (row.prompt[-1], *row.completion), (1, *row.mask))


def _without_a_mask(row: TrajectoryTokens) -> TrajectoryTokens:
    return TrajectoryTokens(row.prompt, row.completion, (1,) * len(row.completion))


def test_the_mask_is_what_was_sampled(walked: Walked) -> None:
    assert [tuple(map(bool, row.mask)) for row in walked.rows] == [tuple(walked.own(row)) for row in walked.rows]
    assert [0 in row.mask for row in walked.rows] == [True] * 3 + [False] * 3


def test_injected_tokens_have_exactly_no_gradient_and_written_ones_what_grpo_gives_them(
    tmp_path: Path, walked: Walked
) -> None:
    gradients = _gradients(tmp_path, walked.rows)
    assert _leaks(walked, walked.rows, gradients) == 0.0
    for number, row in enumerate(walked.rows):
        advantage = REWARDS[number // CALLS] - MEAN
        written = [item for item, own in zip(gradients[number].tolist(), walked.own(row), strict=False) if own]
        assert written == pytest.approx([-advantage / (len(walked.rows) * MOST)] * len(written))


@pytest.mark.parametrize(("loss", "divergence"), [("dr_grpo", 0.1), ("grpo", 0.0)])
def test_other_losses_have_no_gradient_of_injected_tokens_either(
    tmp_path: Path, walked: Walked, loss: str, divergence: float
) -> None:
    gradients = _gradients(tmp_path, walked.rows, loss, divergence)
    assert _leaks(walked, walked.rows, gradients) == 0.0
    assert float(gradients.abs().max()) > 0.0


@pytest.mark.parametrize("leaking", [_shifted, _with_a_token_of_the_prompt, _without_a_mask])
def test_planted_leak_is_seen(
    tmp_path: Path, walked: Walked, leaking: Callable[[TrajectoryTokens], TrajectoryTokens]
) -> None:
    rows = [leaking(walked.rows[0]), *walked.rows[1:]]
    assert _leaks(walked, rows, _gradients(tmp_path, rows)) > 0.0


def test_a_rollout_with_fewer_calls_leaves_the_mean_as_it_is(tmp_path: Path, walked: Walked) -> None:
    blank = TrajectoryTokens((END,), (END,), (0,))
    rows = [*walked.rows[:2], blank, *walked.rows[3:]]
    gradients = _gradients(tmp_path, rows)
    assert float(gradients[2].abs().max()) == 0.0
    advantage = REWARDS[1] - MEAN
    assert gradients[3].tolist()[:2] == pytest.approx([-advantage / (len(rows) * MOST)] * 2)
