"""The configurations that are handed out can be read, and say what has not been tried."""

from pathlib import Path

import pytest

from workers.policy_training import read_policy_training

FILES = sorted((Path(__file__).parents[2] / "deploy" / "policy-training").glob("*.toml"))


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_training_configurations_are_valid_and_state_they_are_untested(file: Path) -> None:
    plan = read_policy_training(file)
    assert (plan.grpo.loss, plan.grpo.scale_rewards) == ("dr_grpo", "none")
    assert plan.folder.is_relative_to(file.parent)
    head = [line for line in file.read_text("utf-8").splitlines()[:8] if line.startswith("#")]
    assert any("Untested" in line for line in head)
