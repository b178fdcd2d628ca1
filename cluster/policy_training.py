"""`assayer policy train`: a policy trained against the service's judge, in this process or as a task of Ray.

The process that trains reads ASSAYER_API_KEY from its own environment: on a cluster, from that of its nodes.
"""

from collections.abc import Callable

from assayer.errors import AssayerError, PartUnavailable
from assayer.models.learning_curve import LearningCurve, LearningPoint
from assayer_client.errors import ClientError
from assayer_client.trainers import ServiceRewards, trl_reward
from workers.policy_training import PolicyTraining, train_policy

__all__ = ["train_here", "train_on_ray"]


def train_here(plan: PolicyTraining, progress: Callable[[LearningPoint], None] = lambda _: None) -> LearningCurve:
    """Raises what `train_policy` raises, and PartUnavailable where the service cannot be asked."""
    try:
        source = ServiceRewards(plan.rewards.url, seconds=plan.rewards.seconds)
        return train_policy(plan, trl_reward(source, judge=plan.rewards.judge), progress)
    except ClientError as error:
        raise PartUnavailable(f"The judge gives no rewards: {error.message}", error.hint) from None


def train_on_ray(plan: PolicyTraining) -> LearningCurve:
    """On a Ray that runs: one task with the processors and GPUs that the plan names, begun anew when its process dies,
    from the last whole checkpoint. The plan's folder lies where every node of the cluster sees it. Raises as
    `train_here`, and PartUnavailable after the last restart."""
    import ray
    from ray.exceptions import RayTaskError, WorkerCrashedError

    machine = plan.machine
    task = ray.remote(num_cpus=machine.cpus, num_gpus=machine.gpus, max_retries=machine.restarts)(_trained)
    try:
        return LearningCurve.model_validate_json(ray.get(task.remote(plan.model_dump_json())))
    except RayTaskError as error:
        if isinstance(error.cause, AssayerError):
            raise error.cause from None
        raise
    except WorkerCrashedError:
        raise PartUnavailable(
            f"The training's process died {machine.restarts + 1} times.",
            "The same command goes on from the last checkpoint; is there enough memory?",
        ) from None


def _trained(plan: str) -> str:
    return train_here(PolicyTraining.model_validate_json(plan)).model_dump_json()
