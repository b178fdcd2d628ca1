"""Heavy libraries, imported where they are first needed."""

import os
from typing import Any

__all__ = ["load_faiss"]


def load_faiss() -> Any:
    """Untyped: the types that come with it do not know its Python half."""
    # Threads that spin while they wait make everything several times slower once a core is busy otherwise.
    os.environ.setdefault("OMP_WAIT_POLICY", "PASSIVE")
    import faiss

    return faiss
