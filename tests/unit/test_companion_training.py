"""SciCompanion's policy trained on its own loop: what is written of it, and what is refused beforehand."""

import json
import shutil
from pathlib import Path

import pytest

from assayer.errors import ComponentUnavailable, ConfigurationError, InputError
from tests.tiny_companion import collect_usual_contexts, fit_policy, make_tiny_backends, make_tiny_training
from tests.tiny_policy import compute_mean_reward
from tests.unit.twins import FixedClock
from workers.policy_training import CompanionTraining, read_policy_training, train_companion
from workers.policy_training.companion_groups import TrajectoryRecord
from workers.policy_training.companion_plan import LoopRollouts
from workers.policy_training.companion_training import compute_max_calls, read_companion_ideas
from workers.policy_training.configuration import GrpoSettings, TrainingPlan
from workers.policy_training.training import CURVE_FILES, find_last_checkpoint

DEPLOY_FOLDER = Path(__file__).parents[2] / "deploy" / "policy-training"
QUICK_TRAINING = GrpoSettings(steps=2, generations=2, questions=2, micro_batch=4, most_tokens=4, learning_rate=1e-3)
LEARNING_TRAINING = GrpoSettings(steps=20, generations=8, questions=1, micro_batch=8, most_tokens=4, learning_rate=3e-3)


@pytest.fixture(scope="module")
def model(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Policy that nearly always answers in the required form, and chooses among answers at random."""
    folder = tmp_path_factory.mktemp("fitted")
    contexts = collect_usual_contexts(make_tiny_training(folder, "none", QUICK_TRAINING), FixedClock())
    return fit_policy(contexts, seed=0).save(folder / "model")


@pytest.mark.slow
def test_policy_learns_from_trajectories_of_the_loop(tmp_path: Path, model: Path) -> None:
    plan = make_tiny_training(tmp_path, model, LEARNING_TRAINING)
    plan.data.file.write_text("".join(plan.data.file.read_text().splitlines(keepends=True)[:1]))
    curve = train_companion(plan, make_tiny_backends(), FixedClock())
    assert compute_mean_reward(curve.points[-5:]) - compute_mean_reward(curve.points[:3]) > 0.1
    page = (plan.folder / CURVE_FILES[0]).read_text("utf-8")
    assert "Components of the reward, unweighted" in page
    assert curve.judge == "known scores, and the structure of the final graph"


def test_reward_components_are_recorded_and_every_trajectory_is_logged(tmp_path: Path, model: Path) -> None:
    plan = make_tiny_training(tmp_path, model, QUICK_TRAINING, checkpoint_every=1)
    curve = train_companion(plan, make_tiny_backends(), FixedClock())
    for point in curve.points:
        assert point.reward is not None
        assert point.accuracy is not None
        assert point.structure is not None
        assert point.scored == point.judged
        assert point.reward == pytest.approx(point.accuracy + 0.25 * point.structure, abs=1e-5)
    lines = (plan.folder / "trajectories.jsonl").read_text("utf-8").splitlines()
    records = [TrajectoryRecord.model_validate_json(line) for line in lines]
    assert [record.step for record in records] == [1] * 4 + [2] * 4
    assert {record.calls for record in records} <= {1, 2, 3}
    assert find_last_checkpoint(plan.folder) == plan.folder / "checkpoint-2"
    repeated_result = train_companion(plan, make_tiny_backends(), FixedClock())
    assert [point.step for point in repeated_result.points] == [1, 2]


@pytest.mark.slow
def test_training_stops_after_too_many_unrewarded_steps(tmp_path: Path, model: Path) -> None:
    too_long = LoopRollouts(most_prompt_tokens=1, most_steps_unrewarded=2)
    plan = make_tiny_training(tmp_path, model, QUICK_TRAINING, rollouts=too_long)
    with pytest.raises(ComponentUnavailable, match="No rollout had a reward in 2 steps"):
        train_companion(plan, make_tiny_backends(), FixedClock())
    first = json.loads((plan.folder / "trajectories.jsonl").read_text("utf-8").splitlines()[0])
    assert first["reward"]["reason"].startswith("a prompt has ")


def test_policy_without_a_chat_template_is_refused(tmp_path: Path, model: Path) -> None:
    copied_model = Path(shutil.copytree(model, tmp_path / "copied"))
    (copied_model / "chat_template.jinja").unlink()
    plan = make_tiny_training(tmp_path, copied_model, QUICK_TRAINING)
    with pytest.raises(ConfigurationError, match="no chat template"):
        train_companion(plan, make_tiny_backends(), FixedClock())


def test_fewer_ideas_than_a_step_needs_are_rejected(tmp_path: Path) -> None:
    plan = make_tiny_training(tmp_path, "none", GrpoSettings(steps=1, questions=5))
    with pytest.raises(InputError, match="has 4 ideas, but each step needs 5"):
        train_companion(plan, make_tiny_backends(), FixedClock())


CONFIGURATION = """
method = "scicompanion"
folder = "out"
corpus = "corpus"
[policy]
model = "policy"
[data]
file = "ideas.jsonl"
"""


def _read(tmp_path: Path, text: str) -> TrainingPlan:
    file = tmp_path / "training.toml"
    file.write_text(text)
    return read_policy_training(file)


def test_configuration_file_selects_training_method(tmp_path: Path) -> None:
    plan = _read(tmp_path, CONFIGURATION + "[loop]\ndimensions = 'venue.toml'\n")
    assert isinstance(plan, CompanionTraining)
    assert (plan.corpus, plan.data.file) == (tmp_path / "corpus", tmp_path / "ideas.jsonl")
    assert plan.loop.dimensions == tmp_path / "venue.toml"


@pytest.mark.parametrize(
    ("text", "message"),
    [
        (CONFIGURATION.replace("scicompanion", "scholareval"), "Cannot train unknown method 'scholareval'"),
        (CONFIGURATION.replace('corpus = "corpus"', ""), "corpus: Field required"),
        (CONFIGURATION + "[rewards]\njudge = 'x'\n", "rewards: Extra inputs"),
        (CONFIGURATION + "[reward]\nscore = -1\n", "reward.score: Input should be greater"),
        (CONFIGURATION + "[reward]\nscore = 0\nstructure = 0\n", "must not both be 0"),
        (CONFIGURATION + "[rollouts]\nrepairs = 9\n", "rollouts.repairs: Input should be less"),
    ],
)
def test_invalid_configuration_field_is_named(tmp_path: Path, text: str, message: str) -> None:
    with pytest.raises(InputError) as raised:
        _read(tmp_path, text)
    assert message in str(raised.value)


def test_deployed_scicompanion_configuration_matches_the_paper() -> None:
    plan = read_policy_training(DEPLOY_FOLDER / "scicompanion.toml")
    assert isinstance(plan, CompanionTraining)
    assert plan.policy.lora is not None
    assert (plan.policy.lora.rank, plan.policy.lora.alpha, plan.policy.precision) == (128, 256, "bfloat16")
    grpo = plan.grpo
    assert (grpo.learning_rate, grpo.generations, grpo.steps) == (1e-5, 8, 300)
    assert (grpo.schedule, grpo.warm_up, grpo.most_tokens, grpo.temperature) == ("cosine", 30, 2_048, 1.0)
    assert (grpo.weight_decay, grpo.squares_kept, grpo.longest_gradient) == (0.1, 0.99, 0.2)
    assert (plan.loop.steps, plan.rollouts.most_prompt_tokens) == (3, 12_000)
    assert plan.compute_max_calls(judged=1) == 5


def test_only_dimensions_with_a_known_score_are_judged(tmp_path: Path) -> None:
    plan = make_tiny_training(tmp_path, "none", QUICK_TRAINING)
    assert compute_max_calls(plan, read_companion_ideas(plan)) == 3
