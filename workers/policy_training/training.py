"""Train a policy with GRPO, or resume its training, with a judge's rewards or with rollouts that provide their own."""

import json
from collections.abc import Callable, Mapping, Sequence
from importlib.util import find_spec
from pathlib import Path
from typing import Any

from assayer.errors import ConfigurationError, InputError
from assayer.models.learning_curve import LearningCurve, LearningPoint
from assayer.reports.learning_curve_page import render_learning_curve_csv, render_learning_curve_html
from assayer_client.trainers import TrlReward
from workers.policy_training.configuration import PolicyTraining, TrainingPlan
from workers.policy_training.plan_reading import parse_plan
from workers.policy_training.training_rows import read_training_rows
from workers.policy_training.trajectories import RolloutGroups
from workers.policy_training.watched_reward import watch_reward

_PLAN_FILE = "training.json"
CURVE_FILES = ("learning-curve.html", "learning-curve.csv")
_LIBRARIES = ("torch", "transformers", "trl", "peft", "datasets")


def train_policy(
    plan: PolicyTraining, reward: TrlReward, progress: Callable[[LearningPoint], None] = lambda _: None
) -> LearningCurve:
    """Train a policy with rewards from a judge. Raises InputError if the questions cannot be read, and all errors of
    `run_training` and the reward function."""
    rows = read_training_rows(plan.data)
    return run_training(plan, rows, watch_reward(reward, plan.rewards.most_steps_unjudged), progress)


def run_training(
    plan: TrainingPlan,
    rows: Sequence[Mapping[str, object]],
    reward: Callable[..., Any],
    progress: Callable[[LearningPoint], None],
    groups: RolloutGroups | None = None,
) -> LearningCurve:
    """Train a policy, resuming from the last complete checkpoint in the plan's folder.

    After every step, the learning curve is written as CSV and as an HTML page. The final policy is written to
    `policy/`. Raises InputError if the folder contains a different training, ConfigurationError if the extra `rl` is
    not installed, and all errors of the reward function."""
    for library in _LIBRARIES:
        if find_spec(library) is None:
            raise ConfigurationError(
                f"Training a policy needs {library}, which is not installed.",
                "Install it with: pip install 'assayer-research[rl]'",
            )
    _write_plan(plan)
    from workers.policy_training.grpo_run import GrpoRun

    def report_points(learning_points: list[LearningPoint]) -> None:
        _write_curve(plan, learning_points)
        if learning_points:
            progress(learning_points[-1])

    run = GrpoRun(plan, rows, reward, report_points, groups)
    points = run.train(find_last_checkpoint(plan.folder))
    run.save(plan.folder / "policy")
    return _write_curve(plan, points)


def find_last_checkpoint(folder: Path) -> Path | None:
    """Return the newest complete checkpoint; None if there is none. The trainer writes its state last, so an incomplete
    checkpoint has no valid `trainer_state.json`."""
    for checkpoint in sorted(folder.glob("checkpoint-*"), key=_parse_step, reverse=True):
        try:
            state = json.loads((checkpoint / "trainer_state.json").read_text("utf-8"))
        except (OSError, ValueError):
            continue
        if state.get("global_step") == _parse_step(checkpoint):
            return checkpoint
    return None


def _parse_step(checkpoint: Path) -> int:
    number = checkpoint.name.rpartition("-")[2]
    return int(number) if number.isdecimal() else -1


def _write_plan(plan: TrainingPlan) -> None:
    """Write the plan to the folder. Raises InputError if the folder contains a different training."""
    file = plan.folder / _PLAN_FILE
    try:
        earlier: TrainingPlan = parse_plan(json.loads(file.read_bytes()))
    except FileNotFoundError:
        earlier = plan
    except (OSError, ValueError) as error:
        raise InputError(
            f"{file} cannot be read, so the settings of the checkpoints in its folder are unknown: {error}"
        ) from None
    if not plan.can_resume_from(earlier):
        raise InputError(
            f"{plan.folder} contains checkpoints of a training run with different settings.", "Choose another folder."
        )
    plan.folder.mkdir(parents=True, exist_ok=True)
    _write(file, plan.model_dump_json(indent=1) + "\n")


def _write_curve(plan: TrainingPlan, points: list[LearningPoint]) -> LearningCurve:
    curve = LearningCurve(
        title=plan.title,
        steps=plan.grpo.steps,
        loss=f"{plan.grpo.loss}, rewards scaled by {plan.grpo.scale_rewards}",
        judge=plan.rewarded_by,
        points=tuple(points),
    )
    page, table = CURVE_FILES
    _write(plan.folder / page, render_learning_curve_html(curve))
    _write(plan.folder / table, render_learning_curve_csv(curve))
    return curve


def _write(file: Path, text: str) -> None:
    """Write the file atomically."""
    partial = file.with_name(file.name + ".partial")
    partial.write_text(text, "utf-8")
    partial.replace(file)
