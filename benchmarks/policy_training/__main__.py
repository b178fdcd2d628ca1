"""Whether a tiny random policy learns, seed by seed, and how long its wrong answers become.

    python -m benchmarks.policy_training [--seeds 0,1,2,3,4] [--steps 60] [--losses dr_grpo,grpo] [--out FILE]

The reward is the mean of the first five steps against that of the last fifteen; the length that of answers without a
reward, as far as there were any. `grpo` divides the loss by a completion's length and its group's spread; `dr_grpo` by
neither. Every figure is of training as it runs, with AdamW; nothing is chosen afterwards.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Sequence
from pathlib import Path
from typing import Any, Literal, get_args

from assayer.models.learning_curve import LearningPoint
from assayer_client.trainers import trl_reward
from benchmarks.policy_training.toy import ToyJudge, toy_training
from workers.policy_training import train_policy
from workers.policy_training.configuration import GrpoSettings

_FIRST, _LAST = 5, 15
Loss = Literal["dr_grpo", "grpo"]


def main() -> None:
    options = _options()
    rows = [_measure(seed, loss, options.steps) for seed in options.seeds for loss in options.losses]
    if options.out:
        options.out.write_text("".join(json.dumps(row) + "\n" for row in rows))


def _options() -> Any:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.policy_training")
    parser.add_argument("--seeds", type=lambda text: [int(one) for one in text.split(",")], default=[0, 1, 2, 3, 4])
    parser.add_argument("--losses", type=lambda text: text.split(","), default=list(get_args(Loss)))
    parser.add_argument("--steps", type=int, default=60)
    parser.add_argument("--out", type=Path)
    return parser.parse_args()


def _measure(seed: int, loss: Loss, steps: int) -> dict[str, Any]:
    grpo = GrpoSettings(
        loss=loss,
        scale_rewards="none" if loss == "dr_grpo" else "group",
        steps=steps,
        generations=8,
        questions=4,
        micro_batch=32,
        most_tokens=12,
        learning_rate=5e-3,
        seed=seed,
    )
    began, cpu = time.monotonic(), time.process_time()
    with tempfile.TemporaryDirectory() as name:
        curve = train_policy(toy_training(Path(name), grpo, checkpoint_every=steps), trl_reward(ToyJudge()))
    first, last = curve.points[:_FIRST], curve.points[-_LAST:]
    row = {
        "seed": seed,
        "loss": loss,
        "reward_first": _mean(first, "reward"),
        "reward_last": _mean(last, "reward"),
        "wrong_length_first": _mean(first, "length_unrewarded"),
        "wrong_length_last": _mean(last, "length_unrewarded"),
        "right_length_first": _mean(first, "length_rewarded"),
        "right_length_last": _mean(last, "length_rewarded"),
        "seconds": round(time.monotonic() - began, 1),
        "cpu_seconds": round(time.process_time() - cpu, 1),
    }
    print(json.dumps(row), flush=True)
    return row


def _mean(points: Sequence[LearningPoint], figure: str) -> float | None:
    """None where no step has it."""
    values = [value for point in points if (value := getattr(point, figure)) is not None]
    return round(sum(values) / len(values), 3) if values else None


if __name__ == "__main__":
    main()
