"""A Ray that is slow to start is tried once more, and leaves nothing behind when it fails."""

import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import psutil
import pytest
import ray

from assayer.errors import ConfigurationError
from cluster.ray_cluster import start_corpus_build_cluster

SLOW = "The current node timed out during startup. The GCS may be overloaded."


class SlowStart:
    """Stand-in for Ray's `init` that starts a process and fails a number of times."""

    def __init__(self, failures: int, message: str = SLOW) -> None:
        self._failures, self._message = failures, message
        self.started: list[subprocess.Popen[bytes]] = []

    def __call__(self, **_: object) -> None:
        self.started.append(subprocess.Popen([sys.executable, "-c", "import time; time.sleep(600)"]))
        if len(self.started) <= self._failures:
            raise RuntimeError(self._message)


@pytest.fixture
def slow(monkeypatch: pytest.MonkeyPatch, request: pytest.FixtureRequest) -> Iterator[SlowStart]:
    start = SlowStart(*request.param)
    monkeypatch.setattr(ray, "init", start)
    yield start
    for process in start.started:
        process.kill()
        process.wait()


@pytest.mark.parametrize("slow", [(1,)], indirect=True)
def test_slow_start_is_retried_once_and_first_process_is_killed(slow: SlowStart, tmp_path: Path) -> None:
    with start_corpus_build_cluster(tmp_path, cpus=1):
        assert [psutil.pid_exists(item.pid) for item in slow.started] == [False, True]


@pytest.mark.parametrize(("slow", "starts"), [((9,), 2), ((9, "no such folder"), 1)], indirect=["slow"])
def test_failed_start_is_reported_as_configuration_error(slow: SlowStart, starts: int, tmp_path: Path) -> None:
    with pytest.raises(ConfigurationError, match="Ray did not start"), start_corpus_build_cluster(tmp_path, cpus=1):
        pytest.fail("It has not started.")
    assert len(slow.started) == starts
