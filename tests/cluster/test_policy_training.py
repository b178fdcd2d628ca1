"""A training on Ray goes on when its process is killed, and says why when it cannot."""

import json
import threading
from collections.abc import Iterator
from contextlib import contextmanager
from http.server import BaseHTTPRequestHandler, ThreadingHTTPServer
from pathlib import Path

import psutil
import pytest

from assayer.errors import ComponentUnavailable
from cluster.policy_training import train_on_ray
from cluster.ray_cluster import enter_private_environment, start_training_cluster
from tests.toy_training import make_toy_training
from workers.policy_training.configuration import GrpoSettings, RewardService, TrainingMachine

pytestmark = pytest.mark.slow

QUICK = GrpoSettings(steps=4, generations=4, questions=2, most_tokens=4, learning_rate=3e-3, micro_batch=8)


class JudgeOverHttp(ThreadingHTTPServer):
    """Rewards 1 for the right first word. At the third group it kills whoever asks, once."""

    deadly = True
    asked: list[int]
    items: list[dict[str, object]]

    @property
    def url(self) -> str:
        return f"http://127.0.0.1:{self.server_address[1]}"


class _Handler(BaseHTTPRequestHandler):
    server: JudgeOverHttp

    def do_POST(self) -> None:
        body = json.loads(self.rfile.read(int(self.headers["Content-Length"])))
        judge = self.server
        judge.asked.append(len(body["items"]))
        if judge.deadly and len(judge.asked) == 3:
            judge.deadly = False
            port = self.client_address[1]
            [client_pid] = {
                net_connection.pid
                for net_connection in psutil.net_connections("tcp")
                if net_connection.laddr and net_connection.laddr.port == port and net_connection.pid
            }
            psutil.Process(client_pid).kill()
            return
        right = [int(item["idea"].split()[:1] == [item["abstract"]]) for item in body["items"]]
        rewards = ({"value": value, "reason": "", "judge": "first"} for value in right)
        judge.items = [{"item": number, "reward": reward} for number, reward in enumerate(rewards)]
        links = dict.fromkeys(("rewards", "items", "events"), "/")
        self._answer({"id": "rw_1", "item_count": len(judge.items), "judge": "first", "links": links})

    def do_GET(self) -> None:
        if "/items" in self.path:
            self._answer({"items": [], "last": 0, "state": "succeeded"})
            return
        unknown = dict.fromkeys(("problem", "cost_usd", "started_at", "finished_at", "result"))
        job = {"id": "rw_1", "state": "succeeded", "title": "", "priority": "interactive", "attempt": 1}
        links = dict.fromkeys(("rewards", "items", "events"), "/")
        job |= {**unknown, "created_at": "2026-11-21T12:00:00Z", "links": links}
        self._answer(job | {"item_count": len(self.server.items), "items": self.server.items})

    def _answer(self, body: object) -> None:
        content = json.dumps(body).encode()
        self.send_response(200)
        self.send_header("Content-Type", "application/json")
        self.send_header("Content-Length", str(len(content)))
        self.end_headers()
        self.wfile.write(content)

    def log_message(self, format: str, *arguments: object) -> None:
        """Log nothing."""


@contextmanager
def _judge() -> Iterator[JudgeOverHttp]:
    with JudgeOverHttp(("127.0.0.1", 0), _Handler) as judge:
        judge.asked = []
        thread = threading.Thread(target=judge.serve_forever)
        thread.start()
        try:
            yield judge
        finally:
            judge.shutdown()
            thread.join()


def test_killed_training_resumes_from_its_checkpoint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("ASSAYER_API_KEY", "ak_0123_a-secret")
    with _judge() as judge, enter_private_environment() as folder, start_training_cluster(folder, 1, 0):
        rewards = RewardService(url=judge.url)
        curve = train_on_ray(make_toy_training(tmp_path, QUICK, rewards=rewards, checkpoint_every=1))
        assert [point.step for point in curve.points] == [1, 2, 3, 4]
        assert judge.asked == [8] * 5  # the third group twice
        judge.deadly, judge.asked = True, []
        once = TrainingMachine(restarts=0)
        with pytest.raises(ComponentUnavailable, match="died 1 times"):
            train_on_ray(make_toy_training(tmp_path / "again", QUICK, rewards=rewards, machine=once))
