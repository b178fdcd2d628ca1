"""Whether a tiny policy learns from trajectories of SciCompanion's own loop, seed by seed.

    python -m benchmarks.policy_training.companion [--seeds 0,1,2] [--steps 40] [--rate 2e-3] [--divergence 0.1]
        [--unusable 0.0]

The loop, its checks and the graph are the real ones, over twenty invented papers; the policy has two layers and chooses
among whole answers, each as likely as the others at first. Told are means of the first five steps and of the last ten:
of the reward, of its two parts, and of rollouts that came to a score.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

from assayer.methods.scicompanion.trajectory_reward import RewardWeights
from assayer.models.learning_curve import LearningPoint
from benchmarks.policy_training.tiny_companion import fitted_policy, tiny_literature, tiny_training, usual_contexts
from cluster.clock import SystemClock
from workers.policy_training import train_companion
from workers.policy_training.configuration import GrpoSettings

_FIRST, _LAST = 5, 10


def main() -> None:
    parser = argparse.ArgumentParser(prog="python -m benchmarks.policy_training.companion")
    parser.add_argument("--seeds", type=lambda text: [int(one) for one in text.split(",")], default=[0, 1, 2])
    parser.add_argument("--steps", type=int, default=40)
    parser.add_argument("--rate", type=float, default=2e-3, help="Learning rate.")
    parser.add_argument("--divergence", type=float, default=0.0, help="Weight of the KL term.")
    parser.add_argument("--unusable", type=float, help="Reward where no usable score was written; none without it.")
    options = parser.parse_args()
    for seed in options.seeds:
        grpo = GrpoSettings(
            steps=options.steps,
            generations=8,
            questions=4,
            micro_batch=32,
            most_tokens=4,
            learning_rate=options.rate,
            divergence_weight=options.divergence,
            seed=seed,
        )
        print(json.dumps(_measure(grpo, RewardWeights(unusable=options.unusable))), flush=True)


def _measure(grpo: GrpoSettings, reward: RewardWeights) -> dict[str, object]:
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = tiny_training(folder, folder / "model", grpo, checkpoint_every=grpo.steps, reward=reward)
        fitted_policy(usual_contexts(plan, SystemClock()), grpo.seed).save(folder / "model")
        began, cpu = time.monotonic(), time.process_time()
        curve = train_companion(plan, tiny_literature(), SystemClock())
        took, used = time.monotonic() - began, time.process_time() - cpu
    figures: dict[str, Callable[[LearningPoint], float | None]] = {
        "reward": lambda point: point.reward,
        "accuracy": lambda point: point.accuracy,
        "structure": lambda point: point.structure,
        "scored": lambda point: point.scored,
    }
    told = {name: [_mean(curve.points[:_FIRST], of), _mean(curve.points[-_LAST:], of)] for name, of in figures.items()}
    return {
        **_asked(grpo, reward),
        **told,
        "seconds": round(took, 1),
        "cpu_seconds": round(used, 1),
    }


def _asked(grpo: GrpoSettings, reward: RewardWeights) -> dict[str, object]:
    return {
        **grpo.model_dump(include={"seed", "steps", "learning_rate", "divergence_weight"}),
        "unusable": reward.unusable,
    }


def _mean(points: Sequence[LearningPoint], figure: Callable[[LearningPoint], float | None]) -> float | None:
    values = [value for point in points if (value := figure(point)) is not None]
    return round(sum(values) / len(values), 3) if values else None


if __name__ == "__main__":
    main()
