"""What the simulator draws for a request: reproducible, and in the shares that its settings name."""

from typing import Any

import pytest
from pydantic import ValidationError

from benchmarks.simulator.dice import prompt_key, throw
from benchmarks.simulator.settings import Settings


def test_draws_depend_on_seed_prompt_and_attempt_only() -> None:
    settings = Settings(answer_fault_rate=0.5)
    key, other = prompt_key("m", [("user", "a")]), prompt_key("m", [("user", "b")])
    assert throw(settings, key, 0) == throw(settings, key, 0)
    different = {throw(settings, key, 1), throw(settings, other, 0), throw(Settings(seed=1), key, 0)}
    assert throw(settings, key, 0) not in different
    assert throw(settings, key, 0).words == throw(settings, key, 1).words


def test_prompt_key_keeps_the_parts_of_a_prompt_apart() -> None:
    keys = {
        prompt_key("m", [("user", "ab")]),
        prompt_key("m", [("user", "a"), ("user", "b")]),
        prompt_key("m", [("system", "ab")]),
        prompt_key("mu", [("user", "ab")]),
    }
    assert len(keys) == 4


def test_shares_and_latency_come_out_as_set() -> None:
    settings = Settings(
        latency_mean=2.0,
        latency_spread=0.5,
        rate_limit_rate=0.1,
        server_error_rate=0.05,
        drop_rate=0.02,
        answer_fault_rate=0.2,
    )
    draws = [throw(settings, prompt_key("m", [("user", str(n))]), 0) for n in range(20_000)]
    share = {fate: sum(draw.fate == fate for draw in draws) / len(draws) for fate in ("rate_limited", "dropped")}
    assert share["rate_limited"] == pytest.approx(0.1, abs=0.01)
    assert share["dropped"] == pytest.approx(0.02, abs=0.005)
    assert sum(bool(draw.faults) for draw in draws) / len(draws) == pytest.approx(0.2, abs=0.015)
    latencies = [draw.latency for draw in draws]
    mean = sum(latencies) / len(latencies)
    assert mean == pytest.approx(2.0, rel=0.02)
    assert (sum((one - mean) ** 2 for one in latencies) / len(latencies)) ** 0.5 == pytest.approx(1.0, rel=0.05)


def test_fault_order_holds_each_kind_once_and_follows_the_weights() -> None:
    settings = Settings(answer_fault_rate=1.0, answer_faults={"empty": 3.0, "refusal": 1.0})
    orders = [throw(settings, prompt_key("m", [("user", str(n))]), 0).faults for n in range(4_000)]
    assert {tuple(sorted(order)) for order in orders} == {("empty", "refusal")}
    assert sum(order[0] == "empty" for order in orders) / len(orders) == pytest.approx(0.75, abs=0.03)


@pytest.mark.parametrize(
    "knobs",
    [
        {"rate_limit_rate": 0.6, "drop_rate": 0.6},
        {"answer_faults": {"empty": 0}},
        {"answer_faults": {"sneezing": 1}},
        {"latency_mean": -1},
        {"unheard_of": 1},
    ],
)
def test_settings_that_contradict_themselves_are_refused(knobs: dict[str, Any]) -> None:
    with pytest.raises(ValidationError):
        Settings.model_validate(knobs)
