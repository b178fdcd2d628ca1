"""Implementation of `assayer policy train`: train a policy in this process or in a Ray task.

The training process reads ASSAYER_API_KEY and the embedder settings from its own environment. On a cluster, that is its
node's environment."""

import json
from collections.abc import Callable, Iterator
from contextlib import closing, contextmanager

from assayer.backends import Backends
from assayer.errors import AssayerError, ComponentUnavailable
from assayer.models.learning_curve import LearningCurve, LearningPoint
from assayer_client.errors import ClientError
from assayer_client.trainers import ServiceRewards, trl_reward
from cluster.clock import SystemClock
from workers.policy_training import (
    AnyTraining,
    CompanionTraining,
    PolicyTraining,
    parse_plan,
    train_companion,
    train_policy,
)


def train_here(plan: AnyTraining, progress: Callable[[LearningPoint], None] = lambda _: None) -> LearningCurve:
    """Train in this process. Raises the errors of `train_policy` and `train_companion`, CorpusError if the companion's
    corpus cannot be read, and ComponentUnavailable if the service that gives rewards fails."""
    if isinstance(plan, CompanionTraining):
        with _open_literature(plan) as backends:
            return train_companion(plan, backends, SystemClock(), progress)
    return _train_with_judge(plan, progress)


def _train_with_judge(plan: PolicyTraining, progress: Callable[[LearningPoint], None]) -> LearningCurve:
    try:
        source = ServiceRewards(plan.rewards.url, seconds=plan.rewards.seconds)
        return train_policy(plan, trl_reward(source, judge=plan.rewards.judge), progress)
    except ClientError as error:
        raise ComponentUnavailable(f"The service returned no rewards: {error.message}", error.hint) from None


@contextmanager
def _open_literature(plan: CompanionTraining) -> Iterator[Backends]:
    """Open the plan's corpus without a language model, because the policy in training takes the model's place."""
    from assayer.llm import NoLlm
    from cluster.settings_loading import load_settings
    from index import Corpus
    from index.corpus import CorpusFullTexts
    from index.versions.verification_cache import VerificationCache
    from workers.embedding.embedder import create_local_embedder

    settings = load_settings()
    with closing(create_local_embedder(settings.embedder)) as embedder:
        corpus = Corpus.open(plan.corpus, embedder, proofs=VerificationCache(settings.verified_path))
        with closing(corpus):
            yield Backends(NoLlm(), corpus, CorpusFullTexts(corpus), embedder)


def train_on_ray(plan: AnyTraining) -> LearningCurve:
    """Train in one task on a running Ray cluster, with the plan's CPUs and GPUs. If the process dies, it is restarted
    from the last complete checkpoint. Every node must have access to the plan's folder. Raises the errors of
    `train_here`, and ComponentUnavailable after the last restart."""
    import ray
    from ray.exceptions import RayTaskError, WorkerCrashedError

    machine = plan.machine
    task = ray.remote(num_cpus=machine.cpus, num_gpus=machine.gpus, max_retries=machine.restarts)(_train_policy)
    try:
        return LearningCurve.model_validate_json(ray.get(task.remote(plan.model_dump_json())))
    except RayTaskError as error:
        if isinstance(error.cause, AssayerError):
            raise error.cause from None
        raise
    except WorkerCrashedError:
        raise ComponentUnavailable(
            f"The training process died {machine.restarts + 1} times.",
            "Run the same command again to resume from the last checkpoint, and check that there is enough memory.",
        ) from None


def _train_policy(plan: str) -> str:
    return train_here(parse_plan(json.loads(plan))).model_dump_json()
