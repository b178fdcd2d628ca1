"""Load models with FlagEmbedding, without its log output, and raise errors where it would hide failures or initialise
layers randomly.

FlagEmbedding is used only to load a model, its heads and its tokenizer. Its `encode` and `compute_score` are not used:
they pad a text depending on the other texts in its batch, which changes the last bits of the result, retry with smaller
batches after any exception, and start processes (docs/adr/0015). Importing this module imports neither FlagEmbedding
nor torch."""

import logging
import sys
import warnings
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from importlib.util import find_spec
from pathlib import Path
from types import ModuleType
from typing import Any

from assayer.errors import ConfigurationError
from workers.torch_runtime import get_first_line, import_torch

INSTALL_BGE = "Install it with: pip install 'assayer-research[bge]'"
_REMOVED_MODULE = "transformers.modeling_attn_mask_utils"
_UNNEEDED_FILES = ("*.msgpack", "*.h5", "*.ot", "onnx/*", "openvino/*", "imgs/*")
"""Files in a model's repository that are not downloaded, because they hold the same weights for other libraries (2.3 GB
for bge-m3)."""


def require_flag_embedding(work: str) -> None:
    """Raise ConfigurationError, which names the `work` that needs it, if FlagEmbedding is not installed. Imports
    nothing."""
    if find_spec("FlagEmbedding") is None:
        raise ConfigurationError(f"{work} needs FlagEmbedding, which is not installed.", INSTALL_BGE)


def import_flag_embedding(work: str, threads: int | None) -> tuple[Any, Any]:
    """Import and return torch and FlagEmbedding. Raises ConfigurationError, which names the `work`, if they cannot be
    imported."""
    require_flag_embedding(work)
    torch, _ = import_torch(work, "transformers", threads=threads)
    try:
        with _provide_removed_module(), warnings.catch_warnings():
            warnings.simplefilter("ignore")  # from imports of its training code
            import FlagEmbedding
    except (ImportError, RuntimeError) as error:
        raise ConfigurationError(
            f"FlagEmbedding cannot be imported: {get_first_line(error)}",
            "It is not compatible with the installed transformers. " + INSTALL_BGE,
        ) from error
    return torch, FlagEmbedding


@contextmanager
def _provide_removed_module() -> Iterator[None]:
    """Provide a placeholder for a module that FlagEmbedding 1.4.2 imports but transformers 5.24 has removed. Only
    layer-wise rerankers use it, and they do not work with transformers 5 anyway, but without it FlagEmbedding cannot be
    imported."""
    if _REMOVED_MODULE in sys.modules or find_spec(_REMOVED_MODULE) is not None:
        yield
        return
    module = ModuleType(_REMOVED_MODULE)
    for name in (
        "AttentionMaskConverter",
        "_prepare_4d_attention_mask",
        "_prepare_4d_causal_attention_mask",
        "_prepare_4d_causal_attention_mask_for_sdpa",
    ):
        setattr(module, name, _raise_removed)
    sys.modules[_REMOVED_MODULE] = module
    try:
        yield
    finally:
        del sys.modules[_REMOVED_MODULE]


def _raise_removed(*_: object, **__: object) -> None:
    raise NotImplementedError(f"{_REMOVED_MODULE} is not part of the installed transformers.")


def load_model(name: str, setting: str, create: Callable[[], Any]) -> Any:
    """Call `create`, which loads the model `name`, without log output, and return its result. Raises
    ConfigurationError, which names the `setting` to check, if the model cannot be loaded."""
    log = logging.getLogger("FlagEmbedding")
    level = log.level
    log.setLevel(logging.WARNING)
    try:
        with warnings.catch_warnings():
            warnings.simplefilter("ignore", FutureWarning)  # it passes arguments that transformers renamed
            return create()
    except (OSError, ValueError, RuntimeError, KeyError, AttributeError, ImportError) as error:
        raise ConfigurationError(
            f"The model {name!r} could not be loaded with FlagEmbedding: {get_first_line(error)}",
            f"Check {setting}. If HF_HUB_OFFLINE is set, the model must already be downloaded.",
        ) from error
    finally:
        log.setLevel(level)


def find_model_folder(name: str, setting: str) -> Path:
    """Return the model's folder: `name` itself if it is a folder, otherwise the local copy of that repository, after
    downloading missing files. Raises ConfigurationError, which names the `setting` to check, if there is none."""
    folder = Path(name).expanduser()
    if folder.is_dir():
        return folder
    if name.startswith(("/", ".", "~")):
        raise ConfigurationError(f"The model folder {name} does not exist.", f"Correct {setting}.")

    def fetch_folder() -> str:
        from huggingface_hub import snapshot_download

        return str(snapshot_download(name, ignore_patterns=list(_UNNEEDED_FILES)))

    return Path(load_model(name, setting, fetch_folder))
