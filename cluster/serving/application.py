"""Ray Serve application: its pools of processes, and how they are connected."""

from typing import Any

from ray import serve
from ray.serve import Application, Deployment

from assayer.errors import ConfigurationError, CorpusError
from cluster.corpus_source import get_followed_bucket
from cluster.serving.embedder_and_reranker_pools import EmbedderReplica, RerankerReplica
from cluster.serving.evaluator_pool import EvaluatorReplica
from cluster.serving.index_pool import IndexReplica
from cluster.serving.ingress_pool import IngressReplica
from cluster.serving.literature_pools import DocumentsReplica, LiteratureReplica
from cluster.serving.queue_scaling import QueueScaling
from cluster.serving.replica import ReplicaConfig
from cluster.serving.settings import PoolSettings, ServingSettings
from cluster.serving.shard_router import configure_shard_routing
from cluster.serving.shared_shards import ShardSharing
from cluster.settings import Settings
from index.corpus_parts import describe_corpus

NAME = "assayer"
EVALUATOR_POOLS = {"evaluator", "batch_evaluator"}
_RETRY_SECONDS = 5
"""`Retry-After` value, in seconds, for requests that Serve itself rejects."""
_RETURN_JOBS_SECONDS = 15.0
"""Seconds that an evaluator has, after a drain, to return the jobs that it could not finish."""
_ROUTING_SECONDS = 1.0
"""Seconds between two checks of which shards a process has open."""
_TARGET_UTILISATION = 0.6
"""Target share of slots in use per process, above which a pool grows. It is below 1 because jobs wait in the database,
so demand shows only in the slots in use."""


def build(args: ReplicaConfig) -> Application:
    """Build the application for `serve deploy` and KubeRay: `import_path: assayer.serving:build`. Raises
    ConfigurationError if the settings are invalid."""
    settings, config = _check_and_complete(args)
    serving = settings.serving
    pools = _build_pools(settings, config)
    evaluator = _build_evaluators("evaluator", settings, config).bind(config, **pools)
    ingress = serving.ingress if serving.ingress.wanted else serving.ingress.model_copy(update={"replicas": 1})
    front = serve.ingress()(IngressReplica)
    return _build_deployment("ingress", front, ingress, serving).bind(
        config,
        evaluator,
        pools.get("index", ()),
        pools.get("embedder"),
        _build_batch_evaluator(settings, config, pools),
    )


def build_without_api(args: ReplicaConfig) -> Application:
    """Build the application without an ingress, for a process that answers API requests itself. Raises
    ConfigurationError if the settings are invalid."""
    settings, config = _check_and_complete(args)
    pools = _build_pools(settings, config)
    batch = _build_batch_evaluator(settings, config, pools)
    return _build_evaluators("evaluator", settings, config).bind(config, **pools, batch_evaluator=batch)


def _check_and_complete(args: ReplicaConfig) -> tuple[Settings, ReplicaConfig]:
    settings = args.load_settings()
    _check_search_gpus(settings)
    return settings, ReplicaConfig(profile=args.profile, serving=settings.serving)


def _build_batch_evaluator(
    settings: Settings, config: ReplicaConfig, pools: dict[str, Application | list[Application]]
) -> Application | None:
    if not settings.serving.batch_evaluator.wanted:
        return None
    return _build_evaluators("batch_evaluator", settings, config).bind(config, **pools, batch_only=True)


def _check_search_gpus(settings: Settings) -> None:
    """Raise ConfigurationError if a pool that searches on GPUs requests none, because its processes would see no
    GPU."""
    serving = settings.serving
    if settings.corpus.device == "cpu":
        return
    search_pools = (
        {"index": serving.index}
        if serving.index.replicas
        else {name: getattr(serving, name) for name in EVALUATOR_POOLS}
    )
    for name, pool in search_pools.items():
        if pool.wanted and not pool.gpus:
            raise ConfigurationError(
                f"The corpus is searched on GPUs (ASSAYER_CORPUS__DEVICE=cuda), but the {name} pool, which does the "
                "searching, requests no GPU.",
                f"Set ASSAYER_SERVING__{name.upper()}__GPUS=0.5 (or `gpus: 0.5` for this pool in the Serve file), or "
                "set ASSAYER_CORPUS__DEVICE=cpu.",
            )


def _build_evaluators(name: str, settings: Settings, config: ReplicaConfig) -> Deployment:
    """Return the deployment of an evaluator pool, which scales with the queue. The batch pool counts only batch jobs.
    The other pool counts interactive jobs and, if there is no batch pool, also batch jobs."""
    serving = settings.serving
    batch_only = name == "batch_evaluator"
    policy = {
        "policy_function": QueueScaling,
        "policy_kwargs": {
            "profile": config.profile,
            "patience_seconds": serving.grow_seconds,
            "takes_interactive": not batch_only,
            "takes_batch": batch_only or not serving.batch_evaluator.wanted,
        },
    }
    return _build_deployment(
        name,
        EvaluatorReplica,
        serving.batch_evaluator if batch_only else serving.evaluator,
        serving,
        growth={
            "policy": policy,
            "upscale_delay_s": serving.grow_seconds,
            "downscale_delay_s": serving.shrink_seconds,
            **({"target_ongoing_requests": float(serving.batch_evaluator.ongoing)} if batch_only else {}),
        },
        stop_seconds=_RETURN_JOBS_SECONDS,
    )


def _build_pools(settings: Settings, config: ReplicaConfig) -> dict[str, Application | list[Application]]:
    """Return the pools, keyed by the evaluators' parameter names. Components that are not configured have no pool."""
    serving = settings.serving
    pools: dict[str, Application | list[Application]] = {}
    if serving.embedder.replicas:
        pools["embedder"] = _build_deployment("embedder", EmbedderReplica, serving.embedder, serving).bind(config)
    if serving.reranker.replicas and settings.reranker.model is not None:
        pools["reranker"] = _build_deployment("reranker", RerankerReplica, serving.reranker, serving).bind(config)
    if serving.index.replicas:
        pools["index"] = _build_index_pool(settings, config)
    if serving.literature.replicas and any(source.on for source in settings.sources.values()):
        pools["literature"] = _build_deployment("literature", LiteratureReplica, serving.literature, serving).bind(
            config
        )
    if serving.full_texts.replicas and settings.full_texts.fetch:
        pools["full_texts"] = _build_deployment("full_texts", DocumentsReplica, serving.full_texts, serving).bind(
            config
        )
    return pools


def _build_index_pool(settings: Settings, config: ReplicaConfig) -> list[Application]:
    """Return the index deployment of each corpus shard, or of the whole corpus if it is unsharded or missing. With
    `index_copies`, all shards share one deployment."""
    serving = settings.serving
    shards = serving.index_shards if serving.index_shards is not None else _get_shard_count(settings)
    if serving.index_copies is not None:
        routing = configure_shard_routing(serving.index_copies, _ROUTING_SECONDS)
        pool = _build_deployment("index", IndexReplica, serving.index, serving).options(request_router_config=routing)
        sharing = ShardSharing(max(1, shards), serving.index_copies, serving.index.replicas)
        return [pool.bind(config, 0, sharing)] * sharing.shards
    names = [f"index-{number}" for number in range(shards)] or ["index"]
    return [
        _build_deployment(name, IndexReplica, serving.index, serving).bind(config, number)
        for number, name in enumerate(names)
    ]


def _get_shard_count(settings: Settings) -> int:
    try:
        bucket = get_followed_bucket(settings)
        if bucket is not None:
            return bucket.read_inventory(bucket.fetch_latest().current.version).shard_count
        return describe_corpus(settings.corpus_path).shard_count
    except CorpusError:  # reported by each search; methods that need no corpus still work
        return 0


def _build_deployment(
    name: str,
    kind: type[Any],
    pool: PoolSettings,
    serving: ServingSettings,
    growth: dict[str, Any] | None = None,
    stop_seconds: float = 0.0,
) -> Deployment:
    """Return a pool's deployment. `growth` overrides autoscaling options; `stop_seconds` is how long a process needs to
    stop after its drain."""
    if pool.most is None:
        size: dict[str, Any] = {"num_replicas": pool.replicas}
    else:
        size = {
            "autoscaling_config": {
                "min_replicas": pool.replicas,
                "max_replicas": pool.most,
                "target_ongoing_requests": max(1.0, _TARGET_UTILISATION * pool.ongoing),
                **(growth or {}),
            }
        }
    labels = {} if pool.gpus else {"label_selector": dict(serving.node_labels)}
    return serve.deployment(
        name=name,
        ray_actor_options={"num_cpus": pool.cpus, "num_gpus": pool.gpus, **labels},
        max_ongoing_requests=pool.ongoing,
        max_queued_requests=pool.queued,
        backpressure_config={"status_code": 503, "retry_after_s": _RETRY_SECONDS},
        health_check_period_s=serving.health_seconds,
        health_check_timeout_s=serving.health_seconds,
        graceful_shutdown_timeout_s=serving.drain_seconds + stop_seconds,
        graceful_shutdown_wait_loop_s=0.5,
        logging_config={"enable_access_log": False},
        **size,
    )(kind)
