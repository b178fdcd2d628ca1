"""The breaker: opens after failures in a row, lets one request find out, closes on the first success."""

from hypothesis import given
from hypothesis import strategies as st

from workers.remote.breaker import Breaker, Permit


def permit(breaker: Breaker, now: float) -> Permit:
    given = breaker.admit(now)
    assert given is not None
    return given


def fail(breaker: Breaker, now: float, times: int) -> None:
    for _ in range(times):
        permit(breaker, now).failed(now)


def test_failures_in_a_row_open_it() -> None:
    breaker = Breaker(threshold=3, pause=30)

    fail(breaker, 0.0, 3)

    assert breaker.admit(29.9) is None
    assert breaker.remaining(10.0) == 20.0


def test_success_between_failures_keeps_it_closed() -> None:
    breaker = Breaker(threshold=3, pause=30)

    fail(breaker, 0.0, 2)
    permit(breaker, 0.0).succeeded()
    fail(breaker, 0.0, 2)

    assert breaker.state(0.0) == "closed"


def test_open_for_long_enough_lets_one_request_through() -> None:
    breaker = Breaker(threshold=1, pause=30)
    fail(breaker, 0.0, 1)

    probe = breaker.admit(30.0)

    assert probe is not None
    assert breaker.admit(31.0) is None


def test_probe_that_fails_opens_it_again() -> None:
    breaker = Breaker(threshold=1, pause=30)
    fail(breaker, 0.0, 1)

    permit(breaker, 30.0).failed(35.0)

    assert breaker.admit(64.9) is None
    assert breaker.admit(65.0) is not None


def test_probe_that_succeeds_closes_it() -> None:
    breaker = Breaker(threshold=1, pause=30)
    fail(breaker, 0.0, 1)

    permit(breaker, 30.0).succeeded()

    assert breaker.state(30.0) == "closed"
    assert breaker.failures == 0


def test_probe_that_is_dropped_makes_room_for_another() -> None:
    breaker = Breaker(threshold=1, pause=30)
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
    breaker = Breaker(threshold, pause)
    out: list[Permit] = []
    probes: list[Permit] = []
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
