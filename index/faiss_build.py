"""Import FAISS on first use, and detect which FAISS packages are installed.

The packages for the CPU and for GPUs provide the same module. If both are installed, the order of installation decides
which one is imported, and uninstalling either one leaves an empty module."""

import logging
import os
from contextlib import suppress
from functools import cache
from importlib.metadata import PackageNotFoundError, version
from typing import Any

from assayer.errors import ConfigurationError

_LOG = logging.getLogger(__name__)
_PACKAGES = ("faiss-cpu", "faiss-gpu", "faiss-gpu-cuvs", "faiss-gpu-cu11", "faiss-gpu-cu12", "faiss-cuda")
_INSTALL = "pip install 'assayer-research[local]', or 'assayer-research[gpu]' for GPUs."


@cache
def load_faiss() -> Any:
    """Import FAISS, typed as Any because its bundled types do not cover its Python part. Raises ConfigurationError if
    it is missing or incomplete."""
    # Busy-waiting threads make searches several times slower if another process uses one of the cores.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    installed_packages = list_faiss_packages()
    try:
        import faiss
    except ImportError as error:
        problem = "which is not installed" if not installed_packages else f"which cannot be imported: {error}"
        raise ConfigurationError(f"Large corpora need FAISS, {problem}.", f"Run: {_INSTALL}") from None
    if not hasattr(faiss, "IndexFlatIP"):
        raise ConfigurationError(
            "FAISS is incomplete: one of two packages that provide it was uninstalled.",
            f"Run: pip uninstall {' '.join(installed_packages)}; then {_INSTALL}",
        )
    if len(installed_packages) > 1:
        _LOG.warning(
            "%s are both installed and provide the same module: remove one of them", " and ".join(installed_packages)
        )
    return faiss


def list_faiss_packages() -> list[str]:
    """Return the installed packages that provide the `faiss` module."""
    packages = []
    for name in _PACKAGES:
        with suppress(PackageNotFoundError):
            version(name)
            packages.append(name)
    return packages
