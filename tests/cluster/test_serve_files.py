"""The Serve configs that operators deploy: each is valid, and builds the pools that it names."""

import datetime as dt
from importlib import import_module
from pathlib import Path
from typing import Any

import pytest
import yaml
from pydantic import ValidationError
from ray.serve._private.build_app import BuiltApplication, build_app
from ray.serve.schema import ServeDeploySchema

from assayer.errors import ConfigurationError
from cluster.database import open_database
from cluster.serving.application import NAME, build, build_without_api
from cluster.serving.replica import ReplicaConfig
from cluster.serving.settings import PoolSettings, ServingSettings
from index import build_shards
from index.object_storage.publishing import CorpusPublisher
from index.versions.verification_cache import VerificationCache
from tests.corpus_papers import RECORDS, write_jsonl
from workers.embedding.hashing_embedder import HashingEmbedder

FOLDER = Path(__file__).resolve().parents[2] / "deploy" / "serve"
FILES = (
    "laptop",
    "small-cluster",
    "cpu-cluster",
    "gpu-cluster",
    "gpu-search-cluster",
    "closed-cluster",
    "bucket-cluster",
)
SERVICE = {"ingress", "evaluator"}


@pytest.fixture(autouse=True)
def configured_environment(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAYER_LLM__BASE_URL", "http://127.0.0.1:9/v1")
    monkeypatch.setenv("ASSAYER_LLM__MODEL", "m")
    monkeypatch.setenv("ASSAYER_DATABASE__URL", "postgresql://127.0.0.1:9/assayer")
    monkeypatch.setenv("ASSAYER_RERANKER__MODEL", "a-reranker")


def _read_arguments(file: str) -> dict[str, Any]:
    config = ServeDeploySchema.model_validate(yaml.safe_load((FOLDER / f"{file}.yaml").read_text("utf-8")))
    (application,) = config.applications
    module, name = application.import_path.split(":")
    assert getattr(import_module(module), name) is build
    assert application.name == NAME
    return dict(application.args)


def _build_application(config: ReplicaConfig) -> BuiltApplication:
    return build_app(build(config), name=NAME)


def test_every_serve_config_is_covered_by_tests() -> None:
    assert {file.stem for file in FOLDER.glob("*.yaml")} - {"kustomization"} == set(FILES)


@pytest.mark.parametrize("name", FILES)
def test_config_builds_the_pools_that_it_names(name: str) -> None:
    config = ReplicaConfig.model_validate(_read_arguments(name))
    assert config.serving is not None
    deployments = {item.name: item for item in _build_application(config).deployments}
    pools = {pool for pool in ServingSettings.model_fields if hasattr(getattr(config.serving, pool), "replicas")}
    wanted_pools = {pool for pool in pools if getattr(config.serving, pool).wanted}
    unset = set() if config.load_settings().full_texts.fetch else {"full_texts"}
    assert SERVICE <= deployments.keys() == wanted_pools - unset
    for pool, deployment in deployments.items():
        pool_settings = getattr(config.serving, pool)
        assert (deployment.ray_actor_options or {})["num_gpus"] == pool_settings.gpus
        sizes = deployment._deployment_config.autoscaling_config
        assert (sizes.max_replicas if sizes else None) == pool_settings.most


@pytest.mark.parametrize("name", FILES)
def test_evaluator_pool_scales_up_when_batch_slots_are_full(name: str) -> None:
    config = ReplicaConfig.model_validate(_read_arguments(name))
    assert config.serving is not None
    pool = config.serving.evaluator
    (batch_deployment,) = (
        deployment for deployment in _build_application(config).deployments if deployment.name == "evaluator"
    )
    sizes = batch_deployment._deployment_config.autoscaling_config
    assert (sizes is None) == (pool.most is None)
    if sizes is not None and pool.most is not None:
        for running in range(pool.replicas, pool.most):
            busy = running * pool.ongoing - config.load_settings().work.interactive_places
            assert busy / sizes.get_target_ongoing_requests() > running


def test_laptop_config_equals_the_default_plus_ingress() -> None:
    serving, own = ReplicaConfig.model_validate(_read_arguments("laptop")).serving, ServingSettings()
    assert serving is not None
    assert serving == own.model_copy(update={"ingress": own.ingress.model_copy(update={"replicas": 1})})


def test_build_without_api_creates_only_evaluator_pools() -> None:
    growing = PoolSettings(replicas=0, most=2)
    for serving, names in (
        (ServingSettings(), {"evaluator"}),
        (ServingSettings(batch_evaluator=growing), {"evaluator", "batch_evaluator"}),
    ):
        application = build_app(build_without_api(ReplicaConfig(serving=serving)), name=NAME)
        assert {deployment.name for deployment in application.deployments} == names


def test_default_deployment_includes_an_ingress() -> None:
    assert {
        deployment.name for deployment in _build_application(ReplicaConfig(serving=ServingSettings())).deployments
    } == SERVICE


def test_models_without_configuration_get_no_pool(monkeypatch: pytest.MonkeyPatch) -> None:
    for name in ("ASSAYER_LLM__BASE_URL", "ASSAYER_LLM__MODEL", "ASSAYER_RERANKER__MODEL"):
        monkeypatch.delenv(name)
    pool_settings = PoolSettings()
    config = ReplicaConfig(serving=ServingSettings(embedder=pool_settings, index=pool_settings, reranker=pool_settings))
    assert {deployment.name for deployment in _build_application(config).deployments} == SERVICE | {"embedder", "index"}


@pytest.mark.parametrize(("shards", "pools"), [(0, {"index"}), (3, {"index-0", "index-1", "index-2"})])
def test_each_shard_of_the_corpus_gets_a_pool(shards: int, pools: set[str]) -> None:
    config = ReplicaConfig(serving=ServingSettings(index=PoolSettings(), index_shards=shards))
    assert {
        deployment.name for deployment in _build_application(config).deployments if deployment.name.startswith("index")
    } == pools


async def test_shard_count_is_read_from_the_local_corpus(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    source = write_jsonl(tmp_path / "papers.jsonl", RECORDS)
    await build_shards([source], 2, tmp_path / "corpus", HashingEmbedder())
    monkeypatch.setenv("ASSAYER_CORPUS__PATH", str(tmp_path / "corpus"))
    names = {
        deployment.name
        for deployment in _build_application(ReplicaConfig(serving=ServingSettings(index=PoolSettings()))).deployments
    }
    assert {"index-0", "index-1"} < names
    assert "index" not in names


async def test_shard_count_is_read_from_the_bucket_when_configured(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    source, address = write_jsonl(tmp_path / "papers.jsonl", RECORDS), (tmp_path / "bucket").as_uri()
    await build_shards([source], 3, tmp_path / "corpus", HashingEmbedder())
    publisher = CorpusPublisher(address, lambda: dt.datetime.now(dt.UTC))
    publisher.publish(tmp_path / "corpus", VerificationCache())
    monkeypatch.setenv("ASSAYER_CORPUS__PATH", str(tmp_path / "copy"))
    monkeypatch.setenv("ASSAYER_CORPUS__SOURCE", address)
    names = {
        deployment.name
        for deployment in _build_application(ReplicaConfig(serving=ServingSettings(index=PoolSettings()))).deployments
    }
    assert {"index-0", "index-1", "index-2"} < names


def test_single_pool_serves_all_shards_when_copies_are_set() -> None:
    serving = ServingSettings(index=PoolSettings(replicas=4), index_shards=16, index_copies=2)
    (pool,) = (
        deployment
        for deployment in _build_application(ReplicaConfig(serving=serving)).deployments
        if deployment.name.startswith("index")
    )
    assert pool.name == "index"
    assert pool._deployment_config.request_router_config.request_router_kwargs == {"copies": 2}


async def test_process_of_a_cluster_without_a_database_server_is_refused(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("ASSAYER_DATABASE__URL")
    config = ReplicaConfig.model_validate(_read_arguments("cpu-cluster"))
    build(config)  # the nodes that build the application need no database
    with pytest.raises(ConfigurationError, match="must share one database"):
        async with open_database(config.load_settings()):
            pass


@pytest.mark.parametrize("name", FILES)
def test_pools_without_gpus_run_on_the_labelled_nodes(name: str) -> None:
    config = ReplicaConfig.model_validate(_read_arguments(name))
    assert config.serving is not None
    assert (config.serving.node_labels == {"assayer/part": "pools"}) == any(
        getattr(pool, "gpus", 0) for _, pool in config.serving
    )
    for deployment in _build_application(config).deployments:
        labels = (deployment.ray_actor_options or {}).get("label_selector") or {}
        on_gpu = getattr(config.serving, deployment.name.partition("-")[0]).gpus
        assert labels == ({} if on_gpu else config.serving.node_labels), deployment.name


@pytest.mark.parametrize(
    ("serving", "omitted_key"),
    [
        ({}, "the evaluator pool"),
        ({"index": {"replicas": 1}}, "the index pool"),
        ({"index": {"gpus": 0.5}}, None),
        ({"evaluator": {"gpus": 0.25}}, None),
        ({"evaluator": {"gpus": 0.25}, "batch_evaluator": {"replicas": 0, "most": 2}}, "the batch_evaluator pool"),
    ],
)
def test_gpu_search_requires_gpus_in_the_searching_pool(
    serving: dict[str, Any], omitted_key: str | None, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setenv("ASSAYER_CORPUS__DEVICE", "cuda")
    config = ReplicaConfig.model_validate({"serving": serving})
    if omitted_key is None:
        assert _build_application(config).deployments
        return
    with pytest.raises(ConfigurationError, match=omitted_key) as raised:
        build(config)
    assert "__GPUS=0.5" in raised.value.hint


@pytest.mark.parametrize(
    ("serving", "message"),
    [
        ({"evaluator": {"replicas": 0}}, "evaluator: at least 1 process"),
        ({"dispatcher": {"replicas": 1}}, "dispatcher"),
        ({"llm": {"replicas": 1}}, "llm"),
        ({"index": {"replicas": 4, "most": 2}}, "at most 2"),
        ({"index": {"replicas": 0, "most": 2}}, "index: at least 1 process must always run"),
        ({"indexx": {"replicas": 1}}, "indexx"),
        ({"index": {"replicas": 1}, "index_copies": 2}, "1 processes cannot hold 2 copies of each shard"),
    ],
)
def test_unusable_pools_are_refused_by_name(serving: dict[str, Any], message: str) -> None:
    with pytest.raises(ValidationError, match=message):
        ReplicaConfig.model_validate({"serving": serving})
