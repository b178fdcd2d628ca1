"""Gradients that TRL's trainer computes for a tiny policy, token by token."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import torch
from datasets import Dataset
from transformers import AutoModelForCausalLM
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

from tests.tiny_policy import TinyPolicy
from workers.policy_training.trajectories import TrajectoryTokens, build_rollout_batch

MAX_COMPLETION_TOKENS = 16
"""Tokens that a completion may have."""


def compute_log_probability_gradients(
    folder: Path,
    policy: TinyPolicy,
    rows: Sequence[TrajectoryTokens],
    rewards: Sequence[float],
    loss: str = "dr_grpo",
    divergence: float = 0.0,
) -> torch.Tensor:
    """Return the gradients of the loss with respect to the log-probability of each completion token, row by row.

    A target can only affect the loss through these."""
    model = AutoModelForCausalLM.from_pretrained(policy.save(folder / "model"))
    gradients: list[torch.Tensor] = []

    def watch_log_probabilities(_: Any, __: Any, output: Any) -> None:
        if "log_probs" in output and output.log_probs.requires_grad:
            output.log_probs.register_hook(gradients.append)

    model.register_forward_hook(watch_log_probabilities)
    order: list[torch.Tensor] = []

    trainer: Any = GRPOTrainer(
        model,
        lambda trajectory, **_: list(trajectory),
        GRPOConfig(
            output_dir=str(folder / "out"),
            per_device_train_batch_size=len(rows),
            num_generations=len(rows),
            max_completion_length=MAX_COMPLETION_TOKENS,
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
        processing_class=policy.tokenizer,
        rollout_func=lambda prompts, _: {**build_rollout_batch(rows), "trajectory": list(rewards)},
    )
    compute_loss = trainer._compute_loss

    def record_row_order(model: Any, inputs: Any) -> Any:
        """Record the order of rows in the batch, because the trainer shuffles them."""
        order.append(inputs["completion_ids"])
        return compute_loss(model, inputs)

    trainer._compute_loss = record_row_order
    trainer.train()
    [gradient], [row_order] = gradients, order
    max_length = max(len(row.completion) for row in rows)
    by_row = torch.zeros(len(rows), max_length)
    for place, ids in enumerate(row_order.tolist()):
        number = next(
            n for n, row in enumerate(rows) if (*row.completion, *[0] * max_length)[:max_length] == tuple(ids)
        )
        by_row[number] = gradient[place, -max_length:]
    return by_row


def find_largest_leak(written_mask: Sequence[Sequence[bool]], gradients: torch.Tensor) -> float:
    """Return the largest gradient that comes from predicting a token that the policy did not write."""
    return max(
        (
            abs(float(gradient))
            for row, line in zip(written_mask, gradients, strict=True)
            for is_own, gradient in zip(row, line.tolist(), strict=False)
            if not is_own
        ),
        default=0.0,
    )
