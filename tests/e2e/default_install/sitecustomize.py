"""Put on PYTHONPATH, this hides from a process what only the extras besides `local` install."""

import sys
from collections.abc import Sequence
from importlib.machinery import ModuleSpec
from types import ModuleType

HIDDEN = {
    "duckdb",
    "fastapi",
    "grobid_client",
    "opentelemetry",
    "ray",
    "starlette",
    "torch_geometric",
    "trafilatura",
    "uvicorn",
}


class _Hide:
    def find_spec(
        self, name: str, path: Sequence[str] | None = None, target: ModuleType | None = None
    ) -> ModuleSpec | None:
        if name.partition(".")[0] in HIDDEN:
            raise ModuleNotFoundError(f"No module named {name!r}", name=name)
        return None


sys.meta_path.insert(0, _Hide())
