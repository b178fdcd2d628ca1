"""The environment of a Ray that nobody else has a part in. It imports no Ray, which reads it when it is imported."""

import os
import secrets
import tempfile
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path

__all__ = ["private_environment"]

_OTHERS = ("RAY_ADDRESS", "RAY_AUTH_TOKEN", "RAY_NAMESPACE")
"""They would lead to somebody else's cluster."""


@contextmanager
def private_environment() -> Iterator[Path]:
    """The folder of the cluster, deleted afterwards. All its processes ask each other for a token that lies there."""
    # Not the usual place for such folders: sockets need a short path. This one is private too.
    place = tempfile.TemporaryDirectory(prefix="assayer-ray-", dir="/tmp", ignore_cleanup_errors=True)
    with place as name:
        folder = Path(name)
        token = folder / "token"
        token.touch(mode=0o600)
        token.write_text(_token(), "ascii")
        with _environment(
            {
                "RAY_TMPDIR": name,
                "RAY_AUTH_MODE": "token",
                "RAY_AUTH_TOKEN_PATH": str(token),
                "RAY_USAGE_STATS_ENABLED": "0",
                # Ray's default is 15: behind every ordinary process of the machine, the database included.
                "RAY_worker_niceness": "0",
            }
        ):
            yield folder


@cache
def _token() -> str:
    """Ray reads it once in a process, so all the clusters that a process begins have the same."""
    return secrets.token_hex(32)


@contextmanager
def _environment(variables: Mapping[str, str]) -> Iterator[None]:
    before = {name: os.environ.pop(name, None) for name in (*variables, *_OTHERS)}
    os.environ.update(variables)
    try:
        yield
    finally:
        for name, value in before.items():
            os.environ.pop(name, None)
            if value is not None:
                os.environ[name] = value
