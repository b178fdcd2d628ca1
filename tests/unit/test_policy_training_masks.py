"""Injected tokens are context and never targets, down to the gradients that TRL computes."""

from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from assayer.errors import InputError
from tests.tiny_policy import tiny_policy
from workers.policy_training.trajectories import (
    TrajectorySegment,
    TrajectoryTokens,
    build_rollout_batch,
    join_segments,
)

WORDS = tuple(f"w{number}" for number in range(12))
PROMPT, WRITTEN, FOUND, MORE = (3, 4), (5, 6), (7, 8, 9), (10, 11)
WALK = (
    TrajectorySegment(PROMPT, False),
    TrajectorySegment(WRITTEN, True),
    TrajectorySegment(FOUND, False),
    TrajectorySegment(MORE, True),
)


def test_policy_tokens_are_targets_and_injected_tokens_are_masked() -> None:
    tokens = join_segments(WALK)
    assert tokens.prompt == PROMPT
    assert tokens.completion == (*WRITTEN, *FOUND, *MORE)
    assert tokens.mask == (1, 1, 0, 0, 0, 1, 1)


@given(
    st.lists(
        st.builds(TrajectorySegment, st.lists(st.integers(0, 9), max_size=4).map(tuple), st.booleans()), max_size=6
    )
)
def test_completion_mask_selects_exactly_the_generated_tokens(segments: list[TrajectorySegment]) -> None:
    written = [token for segment in segments if segment.generated for token in segment.ids]
    if not written:
        with pytest.raises(InputError):
            join_segments(segments)
        return
    tokens = join_segments(segments)
    assert [token for token, own in zip(tokens.completion, tokens.mask, strict=True) if own] == written
    assert tokens.mask[0] == tokens.mask[-1] == 1
    everything = [token for segment in segments for token in segment.ids]
    assert [*tokens.prompt, *tokens.completion] == everything[: len(tokens.prompt) + len(tokens.completion)]


def test_log_probabilities_of_a_sampler_stay_with_their_tokens() -> None:
    walk = (WALK[0], WALK[1]._replace(logprobs=(-0.1, -0.2)), WALK[2], WALK[3]._replace(logprobs=(-0.3, None)))
    tokens = join_segments(walk)
    assert tokens.logprobs == (-0.1, -0.2, None, None, None, -0.3, None)
    unknown = join_segments(WALK)
    assert build_rollout_batch([unknown])["logprobs"] is None
    assert build_rollout_batch([tokens, unknown])["logprobs"] == [list(tokens.logprobs), [None] * 7]


def _gradients(folder: Path, rows: Sequence[TrajectoryTokens], loss: str, divergence: float = 0.0) -> Any:
    """Return gradients where the first half of the trajectories is wrong."""
    from tests.unit.grpo_gradients import log_probability_gradients

    rewards = [float(2 * number >= len(rows)) for number in range(len(rows))]
    return log_probability_gradients(folder, tiny_policy(WORDS, seed=1), rows, rewards, loss, divergence)


@pytest.fixture
def walks(monkeypatch: pytest.MonkeyPatch) -> list[TrajectoryTokens]:
    monkeypatch.setattr("huggingface_hub.constants.HF_HUB_DISABLE_TELEMETRY", True)
    other = (
        TrajectorySegment(PROMPT, False),
        TrajectorySegment((6, 5), True),
        TrajectorySegment((8, 9, 7), False),
        TrajectorySegment((11, 3), True),
    )
    return [join_segments(WALK), join_segments(other)]


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:You are using 'rollout_func'")
@pytest.mark.parametrize(("loss", "divergence"), [("dr_grpo", 0.0), ("dr_grpo", 0.1), ("grpo", 0.0)])
def test_injected_tokens_get_exactly_zero_gradient(
    tmp_path: Path, walks: list[TrajectoryTokens], loss: str, divergence: float
) -> None:
    gradients = _gradients(tmp_path, walks, loss, divergence)
    assert gradients.shape[:2] == (2, 7)
    masks = gradients.new_tensor([walk.mask for walk in walks])
    assert (gradients[masks == 0] == 0.0).all()
    assert (gradients[masks == 1].abs() > 0).all()


@pytest.mark.slow
@pytest.mark.filterwarnings("ignore::FutureWarning", "ignore:You are using 'rollout_func'")
@pytest.mark.usefixtures("walks")
@pytest.mark.parametrize(("loss", "ratio"), [("dr_grpo", 1.0), ("grpo", 6 / 2)])
def test_long_answer_tokens_weigh_less_only_under_length_normalised_loss(
    tmp_path: Path, loss: str, ratio: float
) -> None:
    answers = [(5, 6), (5, 6, 7, 8, 9, 10), (6, 7), (6, 8)]
    tokens = [join_segments([TrajectorySegment(PROMPT, False), TrajectorySegment(answer, True)]) for answer in answers]
    rows = _gradients(tmp_path, tokens, loss).abs().tolist()
    short, long, *_ = ([weight for weight in row if weight] for row in rows)
    assert (len(short), len(long)) == (2, 6)
    assert [weight / long[0] for weight in long] == pytest.approx([1.0] * 6)
    assert [weight / long[0] for weight in short] == pytest.approx([ratio] * 2)
