"""Load adapters in AdapterHub's format, as used by SPECTER2: a bottleneck after each layer (Pfeiffer et al.,
AdapterFusion, EACL 2021). AdapterHub's own library is not used, because it requires an old version of transformers.
Imports torch."""

import json
import re
from collections import defaultdict
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import torch
from transformers.activations import ACT2FN
from transformers.utils.hub import cached_file

from assayer.errors import ConfigurationError

_SUPPORTED_CONFIG: Mapping[str, object] = {
    "output_adapter": True,
    "original_ln_before": True,
    "original_ln_after": True,
    "residual_before_ln": True,
    "mh_adapter": False,
    "adapter_residual_before_ln": False,
    "cross_adapter": False,
    "ln_before": False,
    "ln_after": False,
    "is_parallel": False,
    "phm_layer": False,
    "use_gating": False,
    "inv_adapter": None,
    "leave_out": [],
    "scaling": 1.0,
}
"""Configuration values that this implementation supports. A missing value counts as the one listed here."""

_WEIGHT_NAME = re.compile(r"(?:.+\.)?layer\.(\d+)\.output\.adapters\..+\.adapter_((?:down\.0|up)\.(?:weight|bias))")

Weights = dict[str, torch.Tensor]


class BottleneckAdapter(torch.nn.Module):  # type: ignore[misc]  # mypy does not read the types of torch
    """Bottleneck adapter that replaces a layer's last normalisation and also applies it."""

    def __init__(self, norm: torch.nn.Module, down: torch.nn.Module, activation: torch.nn.Module, up: torch.nn.Module):
        super().__init__()
        self.norm, self.down, self.activation, self.up = norm, down, activation, up

    def forward(self, states: torch.Tensor) -> torch.Tensor:
        adapted: torch.Tensor = self.norm(states + self.up(self.activation(self.down(self.norm(states)))))
        return adapted


def apply_adapter(model: Any, adapter: str) -> None:
    """Insert an adapter into a BERT model. `adapter` is a folder, or a name on the hub. Raises ConfigurationError if
    the adapter is of an unsupported kind or was made for another model, and OSError if it does not exist."""
    adapter_config = json.loads(Path(str(cached_file(adapter, "adapter_config.json"))).read_bytes())
    config = adapter_config.get("config")
    if not isinstance(config, dict) or any(config.get(key, usual) != usual for key, usual in _SUPPORTED_CONFIG.items()):
        raise _build_unreadable_error(adapter, "it is not a sequential bottleneck adapter without extensions")
    if config.get("non_linearity") not in ACT2FN:
        raise _build_unreadable_error(adapter, f"its activation {config.get('non_linearity')!r} is not supported")
    weights = torch.load(str(cached_file(adapter, "pytorch_adapter.bin")), map_location="cpu", weights_only=True)
    weights_by_layer = _group_by_layer(adapter, weights)
    layers = list(model.encoder.layer)
    if adapter_config.get("hidden_size") != model.config.hidden_size or sorted(weights_by_layer) != list(
        range(len(layers))
    ):
        raise _build_unreadable_error(adapter, f"it does not fit this model of {len(layers)} layers")
    for number, layer in enumerate(layers):
        norm = layer.output.LayerNorm
        down, up = _build_linear(weights_by_layer[number], "down.0"), _build_linear(weights_by_layer[number], "up")
        bottleneck = BottleneckAdapter(norm, down, ACT2FN[config["non_linearity"]], up)
        layer.output.LayerNorm = bottleneck.to(norm.weight.device, norm.weight.dtype).eval()


def _group_by_layer(adapter: str, weights: Weights) -> dict[int, Weights]:
    weights_by_layer: dict[int, Weights] = defaultdict(dict)
    for name, tensor in weights.items():
        match = _WEIGHT_NAME.fullmatch(name)
        if match is None:
            raise _build_unreadable_error(adapter, f"it has unexpected weights, {name}")
        weights_by_layer[int(match[1])][match[2]] = tensor
    if any(len(layer_weights) < 4 for layer_weights in weights_by_layer.values()):
        raise _build_unreadable_error(adapter, "weights are missing")
    return weights_by_layer


def _build_linear(weights: Weights, part: str) -> torch.nn.Linear:
    weight = weights[f"{part}.weight"]
    linear = torch.nn.Linear(weight.shape[1], weight.shape[0])
    linear.load_state_dict({"weight": weight, "bias": weights[f"{part}.bias"]})
    return linear


def _build_unreadable_error(adapter: str, reason: str) -> ConfigurationError:
    return ConfigurationError(
        f"The adapter {adapter!r} cannot be used: {reason}.", "Use the adapters that were published with the model."
    )
