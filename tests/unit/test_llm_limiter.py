"""The adaptive limit: ramps up fast, backs off when the endpoint is in trouble, is not fooled by long answers."""

import random
from collections.abc import Callable

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.llm.adaptive_admission import AdaptiveLimit

NO_DEADLINE = settings(deadline=None)  # the machine may be busy

EVENTS = st.lists(
    st.tuples(
        st.sampled_from(["answered", "turned_away"]),
        st.integers(0, 3),  # epochs ago
        st.floats(0, 5),  # time passed
        st.floats(0.001, 500),  # latency, or Retry-After
        st.integers(0, 600),  # in flight
        st.sampled_from(["short", "long"]),
    ),
    max_size=300,
)


@NO_DEADLINE
@given(st.integers(1, 64), st.integers(64, 512), EVENTS)
def test_limit_stays_within_its_bounds_and_pauses_never_shrink(
    start: int, maximum: int, events: list[tuple[str, int, float, float, int, str]]
) -> None:
    limit = AdaptiveLimit(start, maximum)
    now = 0.0
    for event, ago, passed, seconds, in_flight, kind in events:
        now += passed
        epoch = max(0, limit.epoch - ago)
        before, paused, value = limit.epoch, limit.paused_until, limit.value
        if event == "answered":
            limit.record_response(epoch, now, kind, seconds, in_flight)
        else:
            limit.record_turned_away(epoch, now, seconds, in_flight)
        assert limit.value <= 2 * value + start
        assert 1 <= limit.value <= maximum
        assert limit.paused_until >= paused
        assert (limit.epoch != before) == (limit.value != value)


@NO_DEADLINE
@given(EVENTS)
def test_unreached_limit_never_grows(events: list[tuple[str, int, float, float, int, str]]) -> None:
    limit = AdaptiveLimit(32, 512)
    for _, _, _, seconds, _, kind in events:
        limit.record_response(limit.epoch, 0.0, kind, seconds, 31)
        assert limit.value <= 32


def make_generator(seed: int) -> random.Random:
    return random.Random(seed)  # noqa: S311 - simulated latencies, not cryptography


class Endpoint:
    """Calls in flight at a simulated endpoint; always as many as the limit allows."""

    def __init__(self, limit: AdaptiveLimit, latency: Callable[[int, int], float]) -> None:
        self.limit = limit
        self.latency = latency
        self.now = 0.0
        self.calls: list[tuple[float, int, float, int]] = []
        """End, epoch, duration, tokens."""
        self.random = make_generator(1)

    def run(self, until: float, away: Callable[[int], bool] = lambda in_flight: False) -> None:
        while self.now < until:
            while len(self.calls) < self.limit.value:
                tokens = self.random.choice([50, 200, 800, 3_200])
                seconds = self.latency(len(self.calls) + 1, tokens)
                self.calls.append((self.now + seconds, self.limit.epoch, seconds, tokens))
            self.calls.sort()
            self.now, epoch, seconds, tokens = self.calls.pop(0)
            in_flight = len(self.calls) + 1
            if away(in_flight):
                self.limit.record_turned_away(epoch, self.now, None, in_flight)
            else:
                self.limit.record_response(epoch, self.now, tokens.bit_length(), seconds, in_flight)


_SCATTER = make_generator(2)


@pytest.mark.parametrize(
    ("latency", "until"),
    [
        (lambda in_flight, tokens: 2.0, 10.0),
        (lambda in_flight, tokens: 0.2 + tokens / 100, 120.0),
        (lambda in_flight, tokens: 2.0 * _SCATTER.lognormvariate(0, 0.5), 120.0),
    ],
    ids=["healthy: within five latencies", "long answers", "scattered latencies"],
)
def test_limit_reaches_maximum_when_load_does_not_slow_endpoint(
    latency: Callable[[int, int], float], until: float
) -> None:
    endpoint = Endpoint(AdaptiveLimit(32, 512), latency)
    endpoint.run(until=until)
    assert endpoint.limit.value == 512


def test_a_few_random_rejections_do_not_keep_the_limit_down() -> None:
    dice = make_generator(3)
    endpoint = Endpoint(AdaptiveLimit(32, 512), lambda in_flight, tokens: 2.0)
    endpoint.run(until=200.0, away=lambda in_flight: dice.random() < 0.03)
    assert endpoint.limit.value > 256


def test_limit_stays_near_capacity_of_endpoint_that_slows_with_load() -> None:
    endpoint = Endpoint(AdaptiveLimit(16, 512), lambda in_flight, tokens: 2.0 * max(1.0, in_flight / 100))
    endpoint.run(until=300.0)
    assert 50 < endpoint.limit.value < 300


def test_endpoint_with_a_hard_cap_is_used_near_its_cap() -> None:
    endpoint = Endpoint(AdaptiveLimit(32, 512), lambda in_flight, tokens: 2.0)
    values = []
    for step in range(30, 200):
        endpoint.run(until=float(step), away=lambda in_flight: in_flight > 100)
        values.append(endpoint.limit.value)
    assert 50 <= sum(values) / len(values) <= 150
    assert max(values) < 200


def test_burst_of_rejections_reduces_the_limit_once() -> None:
    limit = AdaptiveLimit(128, 512)
    for _ in range(128):
        limit.record_turned_away(0, 1.0, 5.0, 128)
    assert limit.value == 64
    assert limit.paused_until == 6.0


def test_repeated_rejections_reduce_the_limit_to_a_single_request() -> None:
    limit = AdaptiveLimit(32, 512)
    for _ in range(100):
        limit.record_turned_away(limit.epoch, 1.0, None, limit.value)
    assert limit.value == 1


def test_single_rejection_does_not_pause_requests() -> None:
    limit = AdaptiveLimit(32, 512)
    limit.record_turned_away(0, 1.0, 60.0, 32)
    assert limit.value == 32
    assert limit.paused_until == 0.0


def test_back_off_starts_from_the_number_of_requests_in_flight_not_from_the_limit() -> None:
    limit = AdaptiveLimit(512, 512)
    for _ in range(60):
        limit.record_turned_away(0, 1.0, None, 40)
    assert limit.value == pytest.approx(20)
