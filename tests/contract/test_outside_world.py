"""The frame that all simulated services stand in, through a twin of one of them."""

import http.client
import json
from pathlib import Path
from typing import NamedTuple
from urllib.parse import urlsplit

import pytest

from simulator.outside.process import OutsideWorld

SEARCH = "/s2/graph/v1/paper/search?query=graph&limit=1"
SERVICE = "semantic_scholar"


class Response(NamedTuple):
    status: int
    headers: dict[str, str]
    body: bytes


def ask(world: OutsideWorld, path: str = SEARCH, key: str = "") -> Response:
    address = urlsplit(world.base_url)
    connection = http.client.HTTPConnection(address.hostname or "", address.port, timeout=20)
    try:
        connection.request("GET", path, headers={"x-api-key": key} if key else {})
        response = connection.getresponse()
        return Response(
            response.status, {name.lower(): value for name, value in response.getheaders()}, response.read()
        )
    finally:
        connection.close()


def test_request_over_rate_limit_gets_429_with_retry_after(world: OutsideWorld) -> None:
    world.configure(SERVICE, per_second=0.01)
    first, second = ask(world), ask(world)
    assert (first.status, second.status) == (200, 429)
    assert 90 <= int(second.headers["retry-after"]) <= 100
    assert json.loads(second.body)["code"] == "429"
    stats = world.read_stats(SERVICE)
    assert (stats.requests, stats.over_limit, stats.by_status) == (2, 1, {"200": 1, "429": 1})
    assert stats.least_spacing is not None
    assert stats.least_spacing == pytest.approx(stats.arrivals[1] - stats.arrivals[0], abs=1e-4)


def test_rate_limits_apply_per_api_key(world: OutsideWorld) -> None:
    world.configure(SERVICE, per_second=0.01)
    assert [ask(world, key=key).status for key in ("a", "b", "a")] == [200, 200, 429]


def test_reset_restores_the_daily_budget(world: OutsideWorld) -> None:
    world.configure(SERVICE, per_day=2)
    assert [ask(world).status for _ in range(3)] == [200, 200, 429]
    world.reset()
    assert world.read_stats(SERVICE).requests == 0
    assert ask(world).status == 200


def test_request_over_connection_limit_is_rejected(world: OutsideWorld) -> None:
    world.configure(SERVICE, concurrent=1, latency_mean=60, latency_spread=0)
    address = urlsplit(world.base_url)
    waiting = http.client.HTTPConnection(address.hostname or "", address.port, timeout=20)
    waiting.request("GET", SEARCH)
    while not world.read_stats(SERVICE).in_flight:
        continue
    assert ask(world).status == 429
    waiting.close()
    while world.read_stats(SERVICE).in_flight:
        continue
    stats = world.read_stats(SERVICE)
    assert (stats.over_limit, stats.peak_concurrency, stats.abandoned) == (1, 2, 1)


def list_outcomes(world: OutsideWorld, request_count: int) -> list[str]:
    outcomes = []
    for number in range(request_count):
        try:
            answer = ask(world, f"{SEARCH}&offset={number % 5}")
        except (http.client.HTTPException, ConnectionError):
            outcomes.append("dropped")
            continue
        try:
            json.loads(answer.body)
            outcomes.append(str(answer.status))
        except ValueError:
            outcomes.append("malformed")
    return outcomes


def test_injected_faults_match_their_rates_and_repeat_after_reset(world: OutsideWorld) -> None:
    world.configure(SERVICE, rate_limit_rate=0.1, server_error_rate=0.1, drop_rate=0.1, malformed_rate=0.1)
    first = list_outcomes(world, 200)
    stats = world.read_stats(SERVICE)
    world.reset()
    assert list_outcomes(world, 200) == first
    for kind, outcome in (("rate_limited", "429"), ("dropped", "dropped"), ("malformed", "malformed")):
        assert stats.injected[kind] == first.count(outcome)
        assert 5 <= stats.injected[kind] <= 40
    assert stats.injected["server_error"] == sum(item.startswith("5") for item in first)
    assert stats.over_limit == 0


def test_outage_affects_only_its_own_service(world: OutsideWorld) -> None:
    world.configure(SERVICE, down=True)
    assert ask(world).status == 503
    assert ask(world, "/arxiv/api/query?search_query=all:graph").status == 200


def test_invalid_settings_and_unknown_services_are_rejected(world: OutsideWorld) -> None:
    with pytest.raises(ValueError, match="drop_rate"):
        world.configure(SERVICE, drop_rate=2)
    with pytest.raises(ValueError, match="together"):
        world.configure(SERVICE, drop_rate=0.9, malformed_rate=0.9)
    with pytest.raises(ValueError, match="Unknown service 'x'"):
        world.read_stats("x")
    assert world.read_knobs(SERVICE)["drop_rate"] == 0


def test_real_rate_limits_are_the_defaults() -> None:
    with OutsideWorld(knobs={"arxiv": {"latency_mean": 0.0}}) as world:
        assert world.read_knobs(SERVICE)["per_second"] == 1.0
        assert (world.read_knobs("arxiv")["per_second"], world.read_knobs("arxiv")["concurrent"]) == (
            pytest.approx(1 / 3),
            1,
        )


def test_unreadable_papers_file_aborts_start_with_reason(tmp_path: Path) -> None:
    (tmp_path / "papers.jsonl").write_text('{"id": 1}')
    with pytest.raises(RuntimeError, match="line 1"), OutsideWorld(tmp_path / "papers.jsonl"):
        pass
