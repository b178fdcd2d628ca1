"""Whether a tiny policy learns from trajectories of SciCompanion's own loop, seed by seed.

    python -m benchmarks.policy_training.companion [--seeds 0,1,2] [--steps 40]

The loop, its checks and the graph are the real ones, over twenty invented papers; the policy has two layers and chooses
among whole answers, each as likely as the others at first. Told are means of the first five steps and of the last ten:
of the reward, of its two parts, and of rollouts that had one.
"""

import argparse
import json
import tempfile
import time
from collections.abc import Callable, Sequence
from pathlib import Path

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
    options = parser.parse_args()
    for seed in options.seeds:
        print(json.dumps(_measure(seed, options.steps)), flush=True)


def _measure(seed: int, steps: int) -> dict[str, object]:
    grpo = GrpoSettings(
        steps=steps, generations=8, questions=4, micro_batch=32, most_tokens=4, learning_rate=2e-3, seed=seed
    )
    with tempfile.TemporaryDirectory() as name:
        folder = Path(name)
        plan = tiny_training(folder, folder / "model", grpo, checkpoint_every=steps)
        fitted_policy(usual_contexts(plan, SystemClock()), seed).save(folder / "model")
        began, cpu = time.monotonic(), time.process_time()
        curve = train_companion(plan, tiny_literature(), SystemClock())
        took, used = time.monotonic() - began, time.process_time() - cpu
    figures: dict[str, Callable[[LearningPoint], float | None]] = {
        "reward": lambda point: point.reward,
        "accuracy": lambda point: point.accuracy,
        "structure": lambda point: point.structure,
        "rewarded": lambda point: point.judged,
    }
    told = {name: [_mean(curve.points[:_FIRST], of), _mean(curve.points[-_LAST:], of)] for name, of in figures.items()}
    return {"seed": seed, "steps": steps, **told, "seconds": round(took, 1), "cpu_seconds": round(used, 1)}


def _mean(points: Sequence[LearningPoint], figure: Callable[[LearningPoint], float | None]) -> float | None:
    values = [value for point in points if (value := figure(point)) is not None]
    return round(sum(values) / len(values), 3) if values else None


if __name__ == "__main__":
    main()
