"""Injected tokens are context and never targets, down to the gradients that TRL computes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import InputError
from tests.tiny_policy import make_tiny_policy
from workers.policy_training.trajectories import (
    TrajectorySegment,
    TrajectoryTokens,
    build_rollout_batch,
    join_segments,
)

WORDS = tuple(f"w{number}" for number in range(12))
PROMPT, FIRST_GENERATED, INSERTED, SECOND_GENERATED = (3, 4), (5, 6), (7, 8, 9), (10, 11)
TRAJECTORY = (
    TrajectorySegment(PROMPT, False),
    TrajectorySegment(FIRST_GENERATED, True),
    TrajectorySegment(INSERTED, False),
    TrajectorySegment(SECOND_GENERATED, True),
)


def test_policy_tokens_are_targets_and_injected_tokens_are_masked() -> None:
    tokens = join_segments(TRAJECTORY)
    assert tokens.prompt == PROMPT
    assert tokens.completion == (*FIRST_GENERATED, *INSERTED, *SECOND_GENERATED)
    assert tokens.mask == (1, 1, 0, 0, 0, 1, 1)


@given(
    st.lists(
        st.builds(TrajectorySegment, st.lists(st.integers(0, 9), max_size=4).map(tuple), st.booleans()), max_size=6
    )
)
def test_completion_mask_selects_exactly_the_generated_tokens(segments: list[TrajectorySegment]) -> None:
    generated_tokens = [token for segment in segments if segment.generated for token in segment.ids]
    if not generated_tokens:
        with pytest.raises(InputError):
            join_segments(segments)
        return
    tokens = join_segments(segments)
    assert [token for token, is_own in zip(tokens.completion, tokens.mask, strict=True) if is_own] == generated_tokens
    assert tokens.mask[0] == tokens.mask[-1] == 1
    all_tokens = [token for segment in segments for token in segment.ids]
    assert [*tokens.prompt, *tokens.completion] == all_tokens[: len(tokens.prompt) + len(tokens.completion)]


def test_log_probabilities_of_a_sampler_stay_with_their_tokens() -> None:
    walk = (
        TRAJECTORY[0],
        TRAJECTORY[1]._replace(logprobs=(-0.1, -0.2)),
        TRAJECTORY[2],
        TRAJECTORY[3]._replace(logprobs=(-0.3, None)),
    )
    tokens = join_segments(walk)
    assert tokens.logprobs == (-0.1, -0.2, None, None, None, -0.3, None)
    unknown = join_segments(TRAJECTORY)
    assert build_rollout_batch([unknown])["logprobs"] is None
    assert build_rollout_batch([tokens, unknown])["logprobs"] == [list(tokens.logprobs), [None] * 7]


def compute_gradients(folder: Path, rows: Sequence[TrajectoryTokens], loss: str, divergence: float = 0.0) -> Any:
    """Return gradients where the first half of the trajectories is wrong."""
    from tests.unit.grpo_gradients import compute_log_probability_gradients

    rewards = [float(2 * number >= len(rows)) for number in range(len(rows))]
    return compute_log_probability_gradients(folder, make_tiny_policy(WORDS, seed=1), rows, rewards, loss, divergence)


@pytest.fixture
def trajectories(monkeypatch: pytest.MonkeyPatch) -> list[TrajectoryTokens]:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY", True)
    second_trajectory = (
        TrajectorySegment(PROMPT, False),
        TrajectorySegment((6, 5), True),
        TrajectorySegment((8, 9, 7), False),
        TrajectorySegment((11, 3), True),
    )
    return [join_segments(TRAJECTORY), join_segments(second_trajectory)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:You are using 'rollout_func'")
@pytest.mark.parametrize(("loss", "divergence"), [("dr_grpo", 0.0), ("dr_grpo", 0.1), ("grpo", 0.0)])
def test_injected_tokens_get_exactly_zero_gradient(
    tmp_path: Path, trajectories: list[TrajectoryTokens], loss: str, divergence: float
) -> None:
    gradients = compute_gradients(tmp_path, trajectories, loss, divergence)
    assert gradients.shape[:2] == (2, 7)
    masks = gradients.new_tensor([walk.mask for walk in trajectories])
    assert (gradients[masks == 0] == 0.0).all()
    assert (gradients[masks == 1].abs() > 0).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:You are using 'rollout_func'")
@pytest.mark.usefixtures("trajectories")
@pytest.mark.parametrize(("loss", "ratio"), [("dr_grpo", 1.0), ("grpo", 6 / 2)])
def test_long_answer_tokens_weigh_less_only_under_length_normalised_loss(
    tmp_path: Path, loss: str, ratio: float
) -> None:
    answers = [(5, 6), (5, 6, 7, 8, 9, 10), (6, 7), (6, 8)]
    tokens = [join_segments([TrajectorySegment(PROMPT, False), TrajectorySegment(answer, True)]) for answer in answers]
    gradients = compute_gradients(tmp_path, tokens, loss).abs().tolist()
    short, long, *_ = ([weight for weight in row if weight] for row in gradients)
    assert (len(short), len(long)) == (2, 6)
    assert [weight / long[0] for weight in long] == pytest.approx([1.0] * 6)
    assert [weight / long[0] for weight in short] == pytest.approx([ratio] * 2)
