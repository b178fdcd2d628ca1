"""The Ray that the service starts is private: its folder is closed to other users, and its ports to other machines."""

import subprocess
import sys
from pathlib import Path

import psutil
import pytest

from tests.cluster.processes import list_child_processes

pytestmark = pytest.mark.slow

_CLUSTER = """
import sys
from cluster.ray_cluster import enter_private_environment, start_service_cluster
from cluster.serving.settings import ServingSettings

with enter_private_environment() as folder, start_service_cluster(folder, ServingSettings()):
    import ray

    ray.get(ray.remote(lambda: 1).remote())
    print(folder, flush=True)
    sys.stdin.read()
"""


def test_ray_folder_is_private_and_ports_listen_only_on_loopback() -> None:
    # A process of its own, as Ray reads its environment once.
    with subprocess.Popen(
        [sys.executable, "-c", _CLUSTER], stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
    ) as cluster:
        assert cluster.stdout is not None
        folder = Path(cluster.stdout.readline().strip())
        assert (folder / "session_latest").exists()
        assert folder.parent.stat().st_mode & 0o077 == 0
        listening = [
            connection.laddr.ip
            for process in (psutil.Process(cluster.pid), *list_child_processes(cluster.pid))
            for connection in process.net_connections("inet")
            if connection.status == psutil.CONN_LISTEN
        ]
        assert len(listening) > 3
        assert set(listening) <= {"127.0.0.1", "::1", "::ffff:127.0.0.1"}
