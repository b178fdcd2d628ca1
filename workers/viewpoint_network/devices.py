"""Where torch runs. Importing this module does not import it."""

import os
from importlib.util import find_spec

from assayer.errors import ConfigurationError
from workers.viewpoint_network.settings import Device

__all__ = ["chosen_device", "quiet_torch"]


def quiet_torch(threads: int) -> None:
    """Imports torch so that it takes `threads` threads. Raises ConfigurationError without the extra `gnn`."""
    for library in ("torch", "torch_geometric", "safetensors"):
        if find_spec(library) is None:
            raise ConfigurationError(
                f"GraphEval's network needs {library}, which is not installed.",
                "Install it with: pip install 'assayer[gnn]'",
            )
    # Threads that spin while they wait make everything twenty times slower once a core is busy otherwise.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import torch

    torch.set_num_threads(threads)


def chosen_device(device: Device) -> str:
    """`auto` is a GPU where there is one."""
    if device != "auto":
        return device
    import torch

    return "cuda" if torch.cuda.is_available() else "cpu"
