"""A BERT as small as can be with adapters in the format of AdapterHub, laid out as SPECTER2's repositories are."""

import json
from pathlib import Path
from typing import Any

HIDDEN, LAYERS, BOTTLENECK = 32, 2, 4
_WORDS = ("[PAD]", "[UNK]", "[CLS]", "[SEP]", "[MASK]", "bees", "pollinate", "orchards", "compilers", "fuse", "loops")
_CONFIG: dict[str, Any] = {
    "adapter_residual_before_ln": False,
    "cross_adapter": False,
    "dropout": 0.0,
    "inv_adapter": None,
    "is_parallel": False,
    "leave_out": [],
    "ln_after": False,
    "ln_before": False,
    "mh_adapter": False,
    "non_linearity": "relu",
    "original_ln_after": True,
    "original_ln_before": True,
    "output_adapter": True,
    "phm_layer": False,
    "reduction_factor": HIDDEN / BOTTLENECK,
    "residual_before_ln": True,
    "scaling": 1.0,
    "use_gating": False,
}


def build_small_bert() -> Any:
    """Return a small BERT, with the same weights on every machine and in every release of torch."""
    import torch
    from transformers import BertConfig, BertModel

    config: Any = BertConfig(
        vocab_size=len(_WORDS),
        hidden_size=HIDDEN,
        num_hidden_layers=LAYERS,
        num_attention_heads=4,
        intermediate_size=2 * HIDDEN,
        max_position_embeddings=64,
    )
    model: Any = BertModel(config)
    with torch.no_grad():
        for number, (name, weight) in enumerate(sorted(model.named_parameters())):
            weight.copy_(_build_weights(number, weight.shape) + (name.endswith("LayerNorm.weight")))
    return model.eval()


def save_adapter(folder: Path, seed: int, **otherwise: object) -> Path:
    import torch

    folder.mkdir(parents=True)
    config = {
        "config": _CONFIG | otherwise,
        "hidden_size": HIDDEN,
        "model_class": "BertAdapterModel",
        "model_name": "",
        "model_type": "bert",
        "name": "[QRY]",
        "version": "adapters.1.3.0",
    }
    (folder / "adapter_config.json").write_text(json.dumps(config), "utf-8")
    shapes = {
        "adapter_down.0.weight": (BOTTLENECK, HIDDEN),
        "adapter_down.0.bias": (BOTTLENECK,),
        "adapter_up.weight": (HIDDEN, BOTTLENECK),
        "adapter_up.bias": (HIDDEN,),
    }
    weights = {
        f"bert.encoder.layer.{layer}.output.adapters.[QRY].{name}": _build_weights(seed + 10 * layer + number, shape)
        for layer in range(LAYERS)
        for number, (name, shape) in enumerate(shapes.items())
    }
    torch.save(weights, folder / "pytorch_adapter.bin")
    return folder


def create_adapted_model(folder: Path) -> Path:
    """Create and return the folder `specter2`, next to the base model and the adapter for queries."""
    base = folder / "specter2_base"
    build_small_bert().save_pretrained(base)
    (base / "vocab.txt").write_text("\n".join(_WORDS), "utf-8")
    tokenizer = {"tokenizer_class": "BertTokenizer", "model_max_length": 64}
    (base / "tokenizer_config.json").write_text(json.dumps(tokenizer), "utf-8")
    save_adapter(folder / "specter2_adhoc_query", seed=100)
    return save_adapter(folder / "specter2", seed=200)


def _build_weights(seed: int, shape: tuple[int, ...]) -> Any:
    import torch

    count = torch.Size(shape).numel()
    return (0.4 * torch.sin(torch.arange(1, count + 1, dtype=torch.float64) * (1.7 + seed))).float().reshape(shape)
