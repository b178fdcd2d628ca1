"""Setup for every test."""

import atexit
import gc
import os
import re
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, settings

from tests.loopback import loopback_only
from tests.run_folder import close_run_folder, open_run_folder, run_folder_of, share_run_folder

# The same examples on every machine and every run: a rare one is found while developing (--hypothesis-profile=default
# draws a hundred anew), not by whoever comes to land something else. So forty do, as they are always the same.
# Nor is anything said about how long an example takes: machines are shared.
settings.register_profile(
    "repeatable", max_examples=40, derandomize=True, deadline=None, suppress_health_check=[HealthCheck.too_slow]
)
settings.load_profile("repeatable")


def pytest_configure(config: pytest.Config) -> None:
    open_run_folder(config)


_WHOLLY_SLOW = re.compile(r"^pytestmark = \[?\s*pytest\.mark\.slow\b", re.MULTILINE)


def pytest_ignore_collect(collection_path: Path, config: pytest.Config) -> bool | None:
    """Leave out files that are slow as a whole before they are imported: pytest would import them and deselect all."""
    if config.option.markexpr != "not slow" or not collection_path.match("test_*.py"):
        return None
    return True if _WHOLLY_SLOW.search(collection_path.read_text("utf-8")) else None


@pytest.hookimpl(optionalhook=True)
def pytest_configure_node(node: Any) -> None:
    share_run_folder(node.config, node.workerinput)


def pytest_collection_finish() -> None:
    """Exclude the collected tests from garbage collection, as they exist until the end."""
    gc.collect()
    gc.freeze()


_EXIT_STATUS = pytest.StashKey[int]()


@pytest.hookimpl(trylast=True)
def pytest_sessionfinish(session: pytest.Session, exitstatus: int) -> None:
    session.config.stash[_EXIT_STATUS] = int(exitstatus)


@pytest.hookimpl(trylast=True)
def pytest_unconfigure(config: pytest.Config) -> None:
    """End the process after all results are reported. The destructors of Ray's, torch's and gRPC's C++ parts, all in
    one process, jump into freed memory now and then when the interpreter goes; that would make a green run a failed
    one."""
    close_run_folder(config)
    if hasattr(config, "workerinput") or _EXIT_STATUS not in config.stash:
        return
    atexit._run_exitfuncs()
    sys.stdout.flush()
    sys.stderr.flush()
    os._exit(config.stash[_EXIT_STATUS])


@pytest.fixture(scope="session")
def run_folder(request: pytest.FixtureRequest) -> Path:
    """Shared by the workers of this run, and gone after it."""
    return run_folder_of(request.config)


@pytest.fixture(autouse=True)
def nothing_leaves_loopback() -> Iterator[None]:
    """Fail a test that connects outside the loopback interface; the connection is refused before a socket opens."""
    with loopback_only() as outbound:
        yield
    assert outbound.attempts == []
