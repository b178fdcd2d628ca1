"""Run TRL's GRPO trainer. This module needs the extra `rl`, and is imported only when training starts."""

import math
import warnings
from collections.abc import Callable, Mapping, Sequence
from pathlib import Path
from typing import Any

import huggingface_hub.constants
import torch
import transformers
from datasets import Dataset
from peft import LoraConfig
from transformers import (
    AutoModelForCausalLM,
    AutoTokenizer,
    TrainerCallback,
    TrainerControl,
    TrainerState,
    TrainingArguments,
)
from trl.trainer.grpo_config import GRPOConfig
from trl.trainer.grpo_trainer import GRPOTrainer

from assayer.errors import ConfigurationError
from assayer.models.learning_curve import LearningPoint
from workers.policy_training.configuration import LoraSettings, TrainingPlan
from workers.policy_training.trajectories import RolloutGroups
from workers.policy_training.watched_reward import ACCURACY, LENGTH_REWARDED, LENGTH_UNREWARDED, SCORED, STRUCTURE

_transformers: Any = transformers
_transformers.utils.logging.disable_progress_bar()
huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY = True  # TRL would report each training to the model hub


class GrpoRun:
    def __init__(
        self,
        plan: TrainingPlan,
        rows: Sequence[Mapping[str, object]],
        reward: Callable[..., Any],
        on_points: Callable[[list[LearningPoint]], None],
        groups: RolloutGroups | None = None,
    ) -> None:
        """Create a run. After each step, `on_points` receives all points so far. Without `groups`, one completion is
        sampled per prompt. Raises ConfigurationError if the model cannot be loaded or the machine does not support the
        settings."""
        reward_function: Any = reward  # TRL also awaits coroutines, but its types allow only lists
        with _quiet():
            model, tokenizer = _load_policy(plan)
            self._trainer = GRPOTrainer(
                model=model,
                reward_funcs=reward_function,
                args=_build_arguments(plan, 1 if groups is None else groups.rows),
                train_dataset=Dataset.from_list([dict(row) for row in rows]),
                processing_class=tokenizer,
                peft_config=None if plan.policy.lora is None else _build_lora_config(plan.policy.lora),
                callbacks=[_PointsCallback(on_points)],
                rollout_func=None if groups is None else groups.walk,
            )

    def train(self, checkpoint: Path | None) -> list[LearningPoint]:
        """Train from the start, or resume from a checkpoint. Exceptions from the reward function propagate."""
        with _quiet():
            self._trainer.train(resume_from_checkpoint=None if checkpoint is None else str(checkpoint))
        return _extract_points(self._trainer.state)

    def save(self, folder: Path) -> None:
        """Save the policy or its adapters, with the tokenizer."""
        self._trainer.save_model(str(folder))


class _PointsCallback(TrainerCallback):  # type: ignore[misc] # types of TRL are ignored, see pyproject.toml
    def __init__(self, on_points: Callable[[list[LearningPoint]], None]) -> None:
        self._on_points = on_points

    def on_log(self, args: TrainingArguments, state: TrainerState, control: TrainerControl, **more: Any) -> None:
        self._on_points(_extract_points(state))


def _extract_points(state: TrainerState) -> list[LearningPoint]:
    """Return the points in the history stored in checkpoints. A step repeated after a restart appears once."""
    return [_build_point(row) for row in state.log_history if "reward" in row]


def _build_point(row: Mapping[str, Any]) -> LearningPoint:
    reward = row["reward"]
    return LearningPoint(
        step=row["step"],
        reward=None if reward is None or math.isnan(reward) else reward,
        judged=row["judged"],
        length=row["completions/mean_length"],
        length_rewarded=row.get(LENGTH_REWARDED),
        length_unrewarded=row.get(LENGTH_UNREWARDED),
        truncated=row["completions/clipped_ratio"],
        entropy=row["entropy"],
        divergence=row.get("kl"),
        accuracy=row.get(ACCURACY),
        structure=row.get(STRUCTURE),
        scored=row.get(SCORED),
        loss=row["loss"],
        seconds=row["step_time"],
    )


def _load_policy(plan: TrainingPlan) -> tuple[Any, Any]:
    name = plan.policy.model
    # With adapters, the frozen weights are loaded in bfloat16; full training uses float32 weights under autocast.
    uses_bfloat16 = plan.policy.precision == "bfloat16" and plan.policy.lora is not None
    load: Any = AutoTokenizer.from_pretrained
    try:
        tokenizer = load(name, padding_side="left", trust_remote_code=False)
        model = AutoModelForCausalLM.from_pretrained(
            name, dtype=torch.bfloat16 if uses_bfloat16 else torch.float32, trust_remote_code=False
        )
    except (OSError, ValueError) as error:
        first_line = str(error).strip().split("\n", 1)[0]
        raise ConfigurationError(
            f"The policy {name} cannot be loaded: {first_line}",
            "Set policy.model to a model folder or a name on a hub.",
        ) from None
    if tokenizer.eos_token is None:
        raise ConfigurationError(f"The tokenizer of {name} has no end-of-sequence token.")
    return model, tokenizer


def _build_lora_config(settings: LoraSettings) -> LoraConfig:
    targets = settings.targets if isinstance(settings.targets, str) else list(settings.targets)
    return LoraConfig(
        r=settings.rank,
        lora_alpha=settings.alpha,
        lora_dropout=settings.dropout,
        target_modules=targets,
        task_type="CAUSAL_LM",
    )


def _build_arguments(plan: TrainingPlan, rows: int) -> GRPOConfig:
    """Return the trainer's arguments. `rows` is the number of rows per generation."""
    grpo, on_cpu = plan.grpo, not torch.cuda.is_available()
    vllm: dict[str, Any] = {}
    if plan.rollouts.engine == "vllm":
        if on_cpu:
            raise ConfigurationError("vLLM needs a GPU.", 'Set rollouts.engine = "transformers".')
        vllm = {"use_vllm": True, "vllm_mode": "colocate", "vllm_gpu_memory_utilization": plan.rollouts.memory}
    return GRPOConfig(
        output_dir=str(plan.folder),
        max_steps=grpo.steps,
        num_generations=grpo.generations * rows,
        per_device_train_batch_size=grpo.batch,
        gradient_accumulation_steps=grpo.completions * rows // grpo.batch,
        max_completion_length=grpo.most_tokens,
        learning_rate=grpo.learning_rate,
        lr_scheduler_type=grpo.schedule,
        warmup_steps=grpo.warm_up,
        weight_decay=grpo.weight_decay,
        adam_beta2=grpo.squares_kept,
        max_grad_norm=grpo.longest_gradient,
        loss_type=grpo.loss,
        scale_rewards=grpo.scale_rewards,
        epsilon=grpo.clip,
        beta=grpo.divergence_weight,
        temperature=grpo.temperature,
        seed=grpo.seed,
        use_cpu=on_cpu,
        bf16=plan.policy.precision == "bfloat16",
        gradient_checkpointing=not on_cpu,
        logging_steps=1,
        save_strategy="steps",
        save_steps=plan.checkpoint_every,
        save_total_limit=plan.checkpoints_kept,
        report_to=[],
        disable_tqdm=True,
        **vllm,
    )


class _quiet(warnings.catch_warnings):
    """Context that suppresses warnings from TRL and transformers about which users can do nothing."""

    def __enter__(self) -> None:
        super().__enter__()
        warnings.filterwarnings("ignore", message="You are using 'rollout_func'", category=UserWarning)
        warnings.filterwarnings("ignore", category=FutureWarning, module=r"(transformers|trl|peft|accelerate)\.")
