"""Serve files: a key that Serve does not know would be overlooked in silence, so it is refused here."""

import inspect
from collections.abc import Iterator
from pathlib import Path
from typing import Any, get_args

import pytest
import ray
import yaml
from pydantic import BaseModel, ValidationError
from ray.llm._internal.serve.core.configs.llm_config import LLMConfig
from ray.llm._internal.serve.routing_policies.prefix_aware.prefix_aware_router import PrefixCacheAffinityRouter
from ray.serve.config import AutoscalingConfig, RequestRouterConfig
from ray.serve.schema import DeploymentSchema, ServeDeploySchema

ROOT = Path(__file__).parents[2]
FILES = sorted([*(ROOT / "deploy" / "serve").glob("*-cluster.yaml"), ROOT / "deploy" / "llm" / "judge.yaml"])


def _read(file: Path) -> dict[str, Any]:
    document: dict[str, Any] = yaml.safe_load(file.read_text("utf-8"))
    return document


def find_unknown_keys(model: type[BaseModel], values: Any, place: str = "") -> Iterator[str]:
    """Yield the keys of a document, nested ones included, that its model has no field for."""
    for key, value in values.items():
        field = model.model_fields.get(key)
        if field is None:
            yield f"{place}{key}"
            continue
        inner = [item for item in (field.annotation, *get_args(field.annotation)) if isinstance(item, type)]
        for kind in inner:
            if issubclass(kind, BaseModel):
                for item in value if isinstance(value, list) else [value]:
                    yield from find_unknown_keys(kind, item, f"{place}{key}.")


def get_judge_model() -> dict[str, Any]:
    (application,) = _read(ROOT / "deploy" / "llm" / "judge.yaml")["applications"]
    (llm_config,) = application["args"]["llm_configs"]
    return dict(llm_config)


@pytest.mark.parametrize("file", FILES, ids=lambda file: file.stem)
def test_serve_files_use_only_known_keys(file: Path) -> None:
    values = _read(file)
    ServeDeploySchema.model_validate(values)
    assert not list(find_unknown_keys(ServeDeploySchema, values))


@pytest.mark.parametrize("place", [(), ("http_options",), ("applications", 0)])
def test_a_key_that_serve_does_not_know_is_found(place: tuple[Any, ...]) -> None:
    values = judge_config = _read(FILES[0])
    for key in place:
        judge_config = judge_config[key]
    judge_config["proxy_locations"] = 1
    assert [key.rpartition(".")[2] for key in find_unknown_keys(ServeDeploySchema, values)] == ["proxy_locations"]


def test_model_config_matches_the_ray_schemas() -> None:
    """Ray's own schema of a model, and those of its deployment, which it hands on unread."""
    values = get_judge_model()
    deployment = values["deployment_config"]
    routing = deployment["request_router_config"]
    module, _, name = routing["request_router_class"].partition(":")
    source = Path(ray.__file__).parents[1].joinpath(*module.split(".")).with_suffix(".py")
    assert f"class {name}(_{name})" in source.read_text("utf-8")
    # Its public name can be imported only where vLLM is installed.
    routing["request_router_class"] = f"{PrefixCacheAffinityRouter.__module__}:{name}"
    LLMConfig.model_validate(values)
    known = inspect.signature(PrefixCacheAffinityRouter.initialize_state).parameters
    assert routing["request_router_kwargs"].keys() <= known.keys()
    assert not list(find_unknown_keys(DeploymentSchema, deployment))
    assert not list(find_unknown_keys(AutoscalingConfig, deployment["autoscaling_config"]))
    assert not list(find_unknown_keys(RequestRouterConfig, routing))


@pytest.mark.parametrize(
    "mistake",
    [
        {"modell": {}},
        {"accelerator_type": "H1000"},
        {"deployment_config": {"autoscaling_config": {"min_replicas": 5, "max_replicas": 2}}},
    ],
)
def test_invalid_model_config_is_rejected(mistake: dict[str, Any]) -> None:
    right = get_judge_model()
    del right["deployment_config"]["request_router_config"]
    LLMConfig.model_validate(right)
    with pytest.raises(ValidationError):
        LLMConfig.model_validate(right | mistake)
