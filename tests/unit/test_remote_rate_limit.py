"""Turns among processes: whatever the delays, the source never sees two requests closer than its limit."""

import heapq
import random
from collections import Counter
from dataclasses import dataclass, field
from itertools import count, pairwise
from typing import Literal

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.remote.rate_limit import RateBucket, RateLimits, TurnDeferred, TurnEvent, TurnGranted, TurnRequest

UNHURRIED = settings(deadline=None, max_examples=25)

ONE = RateLimits(spacing=3.0, transit=1.0, connections=1, daily_budget=None, send_within=6.0, answer_within=61.0)
MANY = RateLimits(spacing=1.0, transit=1.0, connections=4, daily_budget=None, send_within=6.0, answer_within=31.0)
NOON = 20_000 * 86_400.0 + 43_200.0


def ask(
    bucket: RateBucket, now: float, who: str = "a", limits: RateLimits = MANY, price: int = 1
) -> TurnGranted | TurnDeferred:
    return bucket.request(TurnRequest(who, f"{who}{now}", price), now, limits)


def grant(bucket: RateBucket, now: float, who: str = "a", limits: RateLimits = MANY, price: int = 1) -> str:
    verdict = ask(bucket, now, who, limits, price)
    assert isinstance(verdict, TurnGranted)
    return verdict.ticket


def later(bucket: RateBucket, now: float, who: str = "a", limits: RateLimits = MANY, price: int = 1) -> TurnDeferred:
    verdict = ask(bucket, now, who, limits, price)
    assert isinstance(verdict, TurnDeferred)
    return verdict


def test_next_turn_waits_until_the_granted_one_is_used() -> None:
    bucket = RateBucket()
    ticket = grant(bucket, NOON)

    later(bucket, NOON + 5, "b")
    bucket.apply(TurnEvent("unused", ticket, NOON + 5), NOON + 5, MANY)

    grant(bucket, NOON + 5, "b")


def test_spacing_counts_from_the_answer_when_it_is_quick() -> None:
    bucket = RateBucket()
    ticket = grant(bucket, NOON)
    bucket.apply(TurnEvent("sent", ticket, NOON + 0.1), NOON + 0.1, MANY)
    later(bucket, NOON + 0.2)

    bucket.apply(TurnEvent("answered", ticket, NOON + 0.3), NOON + 0.3, MANY)

    assert later(bucket, NOON + 1.2).opening == pytest.approx(0.1)
    grant(bucket, NOON + 1.31)


def test_spacing_counts_from_the_longest_transit_when_the_answer_is_long_in_coming() -> None:
    bucket = RateBucket()
    bucket.apply(TurnEvent("sent", grant(bucket, NOON), NOON), NOON, MANY)

    later(bucket, NOON + 1.9)
    grant(bucket, NOON + 2.0)


@pytest.mark.parametrize("limits", [ONE, MANY])
def test_those_who_wait_look_again_as_soon_as_a_quick_answer_would_let_them(limits: RateLimits) -> None:
    """Else they would sleep through it, for as long as a request may be on its way."""
    limits = limits._replace(transit=30.0)
    bucket = RateBucket()
    ticket = grant(bucket, NOON, limits=limits)
    bucket.apply(TurnEvent("sent", ticket, NOON), NOON, limits)

    told = later(bucket, NOON + 0.1, "b", limits)
    assert (told.seconds, told.opening) == pytest.approx((limits.spacing, limits.spacing))

    bucket.apply(TurnEvent("answered", ticket, NOON + 0.2), NOON + 0.2, limits)
    grant(bucket, NOON + 0.2 + limits.spacing, "b", limits)


def test_one_connection_is_free_only_after_the_answer() -> None:
    bucket = RateBucket()
    ticket = grant(bucket, NOON, limits=ONE)
    bucket.apply(TurnEvent("sent", ticket, NOON), NOON, ONE)
    later(bucket, NOON + 30, limits=ONE)

    bucket.apply(TurnEvent("answered", ticket, NOON + 30), NOON + 30, ONE)

    assert later(bucket, NOON + 30, limits=ONE).opening == pytest.approx(3.0)
    grant(bucket, NOON + 33, limits=ONE)


def test_holder_that_dies_blocks_the_others_for_its_lease_only() -> None:
    bucket = RateBucket()
    grant(bucket, NOON, limits=ONE)

    later(bucket, NOON + 12, "b", ONE)
    assert later(bucket, NOON + 12.1, "b", ONE).opening < 4
    grant(bucket, NOON + 17, "b", ONE)


def test_request_that_is_never_answered_frees_its_connection() -> None:
    bucket = RateBucket()
    bucket.apply(TurnEvent("sent", grant(bucket, NOON, limits=ONE), NOON), NOON, ONE)

    later(bucket, NOON + 61, "b", ONE)
    grant(bucket, NOON + 64.1, "b", ONE)


def test_pushed_back_holds_everybody() -> None:
    bucket = RateBucket()
    bucket.apply(TurnEvent("pushed_back", "", NOON + 20), NOON, MANY)
    bucket.apply(TurnEvent("pushed_back", "", NOON + 10), NOON, MANY)

    told = later(bucket, NOON + 12, "b")

    assert told.reason == "pushed_back"
    assert told.opening == pytest.approx(8.0)
    grant(bucket, NOON + 20, "b")


def test_daily_budget_is_spent_and_comes_back_at_midnight_utc() -> None:
    limits = MANY._replace(daily_budget=12)
    bucket = RateBucket()
    bucket.apply(TurnEvent("unused", grant(bucket, NOON, limits=limits, price=10), NOON), NOON, limits)
    bucket.apply(TurnEvent("sent", grant(bucket, NOON, limits=limits, price=10), NOON), NOON, limits)

    told = later(bucket, NOON + 100, limits=limits, price=10)

    assert told.reason == "budget"
    assert told.opening == pytest.approx(43_100.0)
    grant(bucket, NOON + 43_200, limits=limits, price=10)


def test_same_ticket_asked_again_is_the_same_turn() -> None:
    bucket = RateBucket()
    want = TurnRequest("a", "t", 1)
    limits = MANY._replace(daily_budget=1)

    assert bucket.request(want, NOON, limits) == bucket.request(want, NOON + 1, limits) == TurnGranted("t")


def test_process_that_waits_longest_is_next_and_one_that_is_gone_is_skipped() -> None:
    bucket = RateBucket()
    bucket.apply(TurnEvent("sent", grant(bucket, NOON), NOON), NOON, MANY)
    for who in ("b", "c", "d"):
        later(bucket, NOON, who)
    bucket.apply(TurnEvent("left", "b", NOON), NOON, MANY)

    later(bucket, NOON + 2.0, "d")
    grant(bucket, NOON + 2.0, "c")


def test_clock_that_goes_back_grants_nothing_early() -> None:
    bucket = RateBucket()
    bucket.apply(TurnEvent("sent", grant(bucket, NOON), NOON), NOON, MANY)

    later(bucket, NOON - 3_600)

    later(bucket, NOON + 1.9)


@given(st.integers(0, 2**32), st.sampled_from([ONE, MANY]))
def test_bucket_survives_being_written_down(seed: int, limits: RateLimits) -> None:
    dice, bucket, now = random.Random(seed), RateBucket(), NOON  # noqa: S311 - no secrets
    for number in range(20):
        now += dice.random()
        if dice.random() < 0.5:
            bucket.request(TurnRequest(dice.choice("abc"), str(number), 1), now, limits)
        else:
            kinds: list[Literal["sent", "answered", "unused", "left"]] = ["sent", "answered", "unused", "left"]
            bucket.apply(TurnEvent(dice.choice(kinds), str(dice.randrange(number + 1)), now), now, limits)
        assert RateBucket.from_json(bucket.to_json()) == bucket


@dataclass
class World:
    """Processes that ask, a source that hears them after a while, and every delay that a busy machine may add."""

    limits: RateLimits
    dice: random.Random
    processes: int
    lateness: float
    """Longest time that anything takes beyond what it should."""
    bucket: RateBucket = field(default_factory=RateBucket)
    now: float = NOON
    arrivals: list[float] = field(default_factory=list)
    ends: list[float] = field(default_factory=list)
    served: Counter[int] = field(default_factory=Counter)
    _events: list[tuple[float, int, str, int, str]] = field(default_factory=list)
    _numbers: "count[int]" = field(default_factory=count)

    def run(self, seconds: float) -> None:
        for process in range(self.processes):
            self._at(self._late(), "ask", process, f"{process}.0")
        while self.now < NOON + seconds:
            self.now, _, what, process, ticket = heapq.heappop(self._events)
            getattr(self, f"_{what}")(process, ticket)
            self.bucket = RateBucket.from_json(self.bucket.to_json())

    def _late(self, most: float | None = None) -> float:
        return self.dice.random() ** 3 * (self.lateness if most is None else most)

    def _at(self, delay: float, what: str, process: int, ticket: str) -> None:
        heapq.heappush(self._events, (self.now + delay, next(self._numbers), what, process, ticket))

    def _ask(self, process: int, ticket: str) -> None:
        verdict = self.bucket.request(TurnRequest(str(process), ticket, 1), self.now, self.limits)
        if isinstance(verdict, TurnDeferred):
            assert verdict.seconds > 0
            self._at(verdict.seconds + self._late(), "ask", process, ticket)
            return
        sending = self._late(1.5 * self.limits.send_within)
        if sending < self.limits.send_within:
            self._at(sending, "send", process, ticket)
        else:  # too late to be used
            self._at(sending, "unused", process, ticket)

    def _send(self, process: int, ticket: str) -> None:
        self.served[process] += 1
        transit = self._late(self.limits.transit)
        answered = transit + self._late(10.0)
        self.arrivals.append(self.now + transit)
        self.ends.append(self.now + answered)
        self._at(self._late(self.limits.send_within), "sent", process, ticket)
        self._at(answered + self._late(), "answered", process, ticket)

    def _sent(self, process: int, ticket: str) -> None:
        self.bucket.apply(TurnEvent("sent", ticket, self.now), self.now, self.limits)
        self._at(self._late(), "ask", process, f"{process}.{next(self._numbers)}")

    def _unused(self, process: int, ticket: str) -> None:
        self.bucket.apply(TurnEvent("unused", ticket, self.now), self.now, self.limits)
        self._at(self._late(), "ask", process, f"{process}.{next(self._numbers)}")

    def _answered(self, process: int, ticket: str) -> None:
        # News of one process arrive in order, and once more when it could not know that they did.
        self.bucket.apply(TurnEvent("sent", ticket, self.now), self.now, self.limits)
        self.bucket.apply(TurnEvent("answered", ticket, self.now), self.now, self.limits)
        if self.dice.random() < 0.2:
            self._at(self._late(5.0), "heard_again", process, f"{ticket} {self.now}")

    def _heard_again(self, process: int, told: str) -> None:
        ticket, at = told.split()
        for kind in ("sent", "answered"):
            self.bucket.apply(TurnEvent(kind, ticket, float(at)), self.now, self.limits)


@UNHURRIED
@given(
    st.integers(0, 2**32),
    st.sampled_from([1, 4, 8]),
    st.sampled_from([0.0, 0.1, 2.0]),
    st.sampled_from([ONE, MANY, MANY._replace(spacing=0.1, transit=0.3), MANY._replace(daily_budget=20)]),
)
def test_whatever_is_late_the_source_sees_its_limits_kept(
    seed: int, processes: int, lateness: float, limits: RateLimits
) -> None:
    world = World(limits, random.Random(seed), processes, lateness)  # noqa: S311 - no secrets

    world.run(300.0)

    assert all(later - sooner >= limits.spacing - 1e-6 for sooner, later in pairwise(sorted(world.arrivals)))
    open_at = [sum(a <= at < end for a, end in zip(world.arrivals, world.ends, strict=True)) for at in world.arrivals]
    assert max(open_at) <= limits.connections
    assert len(world.arrivals) <= (limits.daily_budget or len(world.arrivals))
    assert len(world.arrivals) >= 5


@UNHURRIED
@given(st.integers(0, 2**32), st.sampled_from([2, 4, 8]), st.sampled_from([ONE, MANY]))
def test_processes_that_are_on_time_get_the_same_number_of_turns(seed: int, processes: int, limits: RateLimits) -> None:
    world = World(limits, random.Random(seed), processes, lateness=0.1)  # noqa: S311 - no secrets

    world.run(1_000.0)

    shares = [world.served[process] for process in range(processes)]
    assert min(shares) >= 1
    assert max(shares) <= 2 * min(shares) + 3
