"""Which responses are retried and when, and the circuit breaker."""

import datetime as dt
from email.utils import format_datetime

import pytest
from hypothesis import given
from hypothesis import strategies as st
from multidict import CIMultiDict

from workers.remote.retry_policy import BreakerPermit, CircuitBreaker, ResponseKind, classify_response, retry_after

NOW = dt.datetime(2026, 11, 20, 12, 0, tzinfo=dt.UTC)


@pytest.mark.parametrize(
    ("status", "headers", "expected"),
    [
        (200, {}, "answer"),
        (404, {}, "answer"),
        (410, {}, "answer"),
        (301, {}, "redirect"),
        (308, {}, "redirect"),
        (429, {}, "rate_limited"),
        (403, {"Retry-After": "60"}, "rate_limited"),
        (403, {"X-RateLimit-Remaining": "0"}, "rate_limited"),
        (403, {"X-RateLimit-Remaining": "17"}, "refused"),
        (403, {}, "refused"),
        (401, {}, "refused"),
        (400, {}, "refused"),
        (202, {}, "refused"),
        (304, {}, "refused"),
        (408, {}, "transient"),
        (500, {}, "transient"),
        (503, {"Retry-After": "5"}, "transient"),
    ],
)
def test_status_means(status: int, headers: dict[str, str], expected: ResponseKind) -> None:
    assert classify_response(status, CIMultiDict(headers)) == expected


@pytest.mark.parametrize(
    ("headers", "seconds"),
    [
        ({"Retry-After": "12"}, 12.0),
        ({"Retry-After": "0.5"}, 0.5),
        ({"Retry-After": "-3"}, 0.0),
        ({"Retry-After": format_datetime(NOW + dt.timedelta(seconds=90))}, 90.0),
        ({"Retry-After": "Fri, 20 Nov 2026 12:01:30 GMT"}, 90.0),
        ({"Retry-After": "Fri, 20 Nov 2026 11:00:00 GMT"}, 0.0),
        ({"Retry-After": "soon"}, None),
        ({"Retry-After": "nan"}, None),
        ({"Retry-After": "Fri, 20 Nov 2026 12:01:30 +99999999999999999"}, None),
        ({}, None),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": str(int(NOW.timestamp()) + 40)}, 40.0),
        ({"X-RateLimit-Remaining": "0", "X-RateLimit-Reset": "40"}, 40.0),
        ({"X-RateLimit-Remaining": "5", "X-RateLimit-Reset": "40"}, None),
    ],
)
def test_retry_after_is_read(headers: dict[str, str], seconds: float | None) -> None:
    assert retry_after(CIMultiDict(headers), NOW) == seconds


@given(st.text())
def test_retry_after_of_anything_is_none_or_not_negative(said: str) -> None:
    seconds = retry_after({"retry-after": said}, NOW)
    assert seconds is None or seconds >= 0


def permit(breaker: CircuitBreaker, now: float) -> BreakerPermit:
    given = breaker.admit(now)
    assert given is not None
    return given


def fail(breaker: CircuitBreaker, now: float, times: int) -> None:
    for _ in range(times):
        permit(breaker, now).failed(now)


def test_failures_in_a_row_open_it() -> None:
    breaker = CircuitBreaker(threshold=3, pause=30)

    fail(breaker, 0.0, 3)

    assert breaker.admit(29.9) is None
    assert breaker.remaining(10.0) == 20.0


def test_success_between_failures_keeps_it_closed() -> None:
    breaker = CircuitBreaker(threshold=3, pause=30)

    fail(breaker, 0.0, 2)
    permit(breaker, 0.0).succeeded()
    fail(breaker, 0.0, 2)

    assert breaker.state(0.0) == "closed"


def test_open_for_long_enough_lets_one_request_through() -> None:
    breaker = CircuitBreaker(threshold=1, pause=30)
    fail(breaker, 0.0, 1)

    probe = breaker.admit(30.0)

    assert probe is not None
    assert breaker.admit(31.0) is None


def test_probe_that_fails_opens_it_again() -> None:
    breaker = CircuitBreaker(threshold=1, pause=30)
    fail(breaker, 0.0, 1)

    permit(breaker, 30.0).failed(35.0)

    assert breaker.admit(64.9) is None
    assert breaker.admit(65.0) is not None


def test_probe_that_succeeds_closes_it() -> None:
    breaker = CircuitBreaker(threshold=1, pause=30)
    fail(breaker, 0.0, 1)

    permit(breaker, 30.0).succeeded()

    assert breaker.state(30.0) == "closed"
    assert breaker.failures == 0


def test_probe_that_is_dropped_makes_room_for_another() -> None:
    breaker = CircuitBreaker(threshold=1, pause=30)
    fail(breaker, 0.0, 1)

    permit(breaker, 30.0).dropped()

    assert breaker.admit(30.0) is not None


EVENTS = st.lists(
    st.tuples(st.sampled_from(["admit", "succeeded", "failed", "dropped"]), st.floats(0, 20), st.integers(0, 9)),
    max_size=200,
)


@given(st.integers(1, 5), st.floats(0.1, 30), EVENTS)
def test_whatever_happens_it_never_lets_two_probes_out_and_never_stays_shut(
    threshold: int, pause: float, events: list[tuple[str, float, int]]
) -> None:
    breaker = CircuitBreaker(threshold, pause)
    out: list[BreakerPermit] = []
    probes: list[BreakerPermit] = []
    now = 0.0
    for what, passed, which in events:
        now += passed
        if what == "admit":
            state = breaker.state(now)
            given = breaker.admit(now)
            assert (given is None) == (state == "open" or (state == "half_open" and bool(probes)))
            if given is not None:
                out.append(given)
                probes += [given] if state == "half_open" else []
        elif out:
            chosen = out.pop(which % len(out))
            probes = [probe for probe in probes if probe is not chosen]
            if what == "failed":
                chosen.failed(now)
            elif what == "succeeded":
                chosen.succeeded()
                assert breaker.state(now) == "closed"
            else:
                chosen.dropped()
        assert len(probes) <= 1
    for one in out:
        one.dropped()
    assert breaker.admit(now + pause) is not None
