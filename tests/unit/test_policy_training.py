"""GRPO on a tiny random model: it learns, it goes on after a death, and its curve says what happened."""

import csv
import json
import os
import signal
import subprocess
import sys
from collections.abc import Sequence
from pathlib import Path

import pytest

from assayer.errors import ComponentUnavailable, ConfigurationError, InputError
from assayer.models.learning_curve import LearningPoint
from assayer_client.trainers import RewardQuery, trl_reward
from tests.tiny_policy import compute_mean_reward
from tests.toy_training import ToyJudge, make_toy_training
from workers.policy_training import PolicyTraining, read_policy_training, train_policy
from workers.policy_training.configuration import GrpoSettings, LoraSettings, PolicyModel, RewardService
from workers.policy_training.training import CURVE_FILES, find_last_checkpoint

QUICK_TRAINING = GrpoSettings(steps=6, generations=4, questions=2, most_tokens=4, learning_rate=3e-3, micro_batch=8)
LEARNING_TRAINING = GrpoSettings(
    steps=60, generations=8, questions=4, most_tokens=3, learning_rate=1e-2, micro_batch=32
)


class NeverJudges:
    async def rewards(self, items: Sequence[RewardQuery], judge: str | None = None) -> list[float | None]:
        return [None] * len(items)


@pytest.mark.slow
def test_policy_learns_a_solvable_task(tmp_path: Path) -> None:
    curve = train_policy(make_toy_training(tmp_path, LEARNING_TRAINING), trl_reward(ToyJudge()))
    assert [point.step for point in curve.points] == list(range(1, 61))
    assert compute_mean_reward(curve.points[-15:]) - compute_mean_reward(curve.points[:5]) > 0.3
    folder = tmp_path / "training"
    assert (folder / "policy" / "model.safetensors").is_file()
    page, table = ((folder / name).read_text("utf-8") for name in CURVE_FILES)
    assert "Colours" in page
    assert page.count("<polyline") >= 4
    table_rows = list(csv.DictReader(table.splitlines()))
    assert len(table_rows) == 60
    assert float(table_rows[-1]["reward"]) == curve.points[-1].reward


@pytest.mark.slow
def test_training_resumes_after_a_kill_without_repeating_a_point(tmp_path: Path) -> None:
    plan = make_toy_training(tmp_path, QUICK_TRAINING, checkpoint_every=2)
    program = f"""
import os, signal
from pathlib import Path
from assayer_client.trainers import trl_reward
from tests.toy_training import ToyJudge
from workers.policy_training import PolicyTraining, train_policy

def die(point):
    if point.step == 5:
        os.kill(os.getpid(), signal.SIGKILL)

plan = PolicyTraining.model_validate_json(Path({str(tmp_path / "plan.json")!r}).read_bytes())
train_policy(plan, trl_reward(ToyJudge()), die)
"""
    (tmp_path / "plan.json").write_text(plan.model_dump_json())
    paths = os.pathsep.join(path for path in sys.path if path)
    process = subprocess.run(
        [sys.executable, "-c", program], env={**os.environ, "PYTHONPATH": paths}, check=False, capture_output=True
    )
    assert process.returncode == -signal.SIGKILL
    assert find_last_checkpoint(plan.folder) == plan.folder / "checkpoint-4"
    newest = plan.folder / "checkpoint-6"  # begun, and cut off in the middle of its last file
    newest.mkdir()
    (newest / "trainer_state.json").write_text('{"global_step": 6, "log_hi')
    steps: list[int] = []
    curve = train_policy(plan, trl_reward(ToyJudge()), lambda point: steps.append(point.step))
    assert steps[:2] == [5, 6]
    assert [point.step for point in curve.points] == [1, 2, 3, 4, 5, 6]


@pytest.mark.slow
def test_checkpoints_of_other_settings_are_not_resumed(tmp_path: Path) -> None:
    plan = make_toy_training(tmp_path, QUICK_TRAINING)
    train_policy(plan, trl_reward(ToyJudge()))
    other_plan = plan.model_copy(update={"grpo": QUICK_TRAINING.model_copy(update={"learning_rate": 1.0})})
    with pytest.raises(InputError, match="different settings"):
        train_policy(other_plan, trl_reward(ToyJudge()))


@pytest.mark.slow
def test_only_adapters_are_trained_and_saved(tmp_path: Path) -> None:
    plan = make_toy_training(tmp_path, QUICK_TRAINING.model_copy(update={"steps": 1}))
    policy = PolicyModel(model=plan.policy.model, lora=LoraSettings(rank=2, alpha=4))
    train_policy(plan.model_copy(update={"policy": policy}), trl_reward(ToyJudge()))
    saved = plan.folder / "policy"
    assert json.loads((saved / "adapter_config.json").read_text())["r"] == 2
    assert not (saved / "model.safetensors").exists()


def test_training_stops_when_the_judge_repeatedly_returns_no_verdict(tmp_path: Path) -> None:
    plan = make_toy_training(tmp_path, QUICK_TRAINING, rewards=RewardService(most_steps_unjudged=3))
    points: list[LearningPoint] = []
    with pytest.raises(ComponentUnavailable, match="3 steps"):
        train_policy(plan, trl_reward(NeverJudges()), points.append)
    assert [(point.reward, point.judged) for point in points] == [(None, 0.0), (None, 0.0)]


def test_policy_that_cannot_be_loaded_is_named(tmp_path: Path) -> None:
    plan = make_toy_training(tmp_path, QUICK_TRAINING)
    empty = tmp_path / "empty"
    empty.mkdir()
    with pytest.raises(ConfigurationError, match="empty"):
        train_policy(plan.model_copy(update={"policy": PolicyModel(model=str(empty))}), trl_reward(ToyJudge()))


def write_configuration(tmp_path: Path, text: str) -> Path:
    file = tmp_path / "training.toml"
    file.write_text(text)
    return file


CONFIGURATION = """
folder = "out"
[policy]
model = "models/policy"
[policy.lora]
rank = 128
[data]
file = "questions.jsonl"
"""


def test_relative_paths_are_resolved_from_the_configuration_folder(tmp_path: Path) -> None:
    (tmp_path / "models" / "policy").mkdir(parents=True)
    read = read_policy_training(write_configuration(tmp_path, CONFIGURATION))
    assert read.folder == tmp_path / "out"
    assert read.data.file == tmp_path / "questions.jsonl"
    assert read.policy.model == str(tmp_path / "models" / "policy")
    assert (read.grpo.loss, read.grpo.scale_rewards) == ("dr_grpo", "none")


@pytest.mark.parametrize(
    ("text", "message"),
    [
        ("folder = ", "TOML"),
        ("folder = 'out'", "policy: Field required"),
        (CONFIGURATION + "[grpo]\nlearning_rte = 1\n", "grpo.learning_rte: Extra inputs"),
        (CONFIGURATION + "[grpo]\nmicro_batch = 5\n", "does not divide the 32 completions"),
        (CONFIGURATION + "prompt = 'Answer {it}'\n", "data.prompt: Value error, must contain {question}"),
        (CONFIGURATION + "prompt = 'Answer {question'\n", "write a literal brace as two braces"),
    ],
)
def test_invalid_configuration_field_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        read_policy_training(write_configuration(tmp_path, text))
    assert message in str(raised.value)


@pytest.mark.parametrize(
    ("lines", "message"),
    [
        ("", "no questions"),
        ('{"question": "Why?"}\n', "line 1: `abstract` is missing or empty"),
        ("[" * 9_999, "line 1"),
    ],
)
def test_invalid_question_line_is_named(tmp_path: Path, lines: str, message: str) -> None:
    plan: PolicyTraining = make_toy_training(tmp_path, QUICK_TRAINING)
    plan.data.file.write_text(lines)
    with pytest.raises(InputError) as raised:
        train_policy(plan, trl_reward(ToyJudge()))
    assert message in str(raised.value)
