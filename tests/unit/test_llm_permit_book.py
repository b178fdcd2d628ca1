"""Permits shared by processes: never more than the limit in all, whatever dies, and nobody is starved."""

import math
import random

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from workers.llm.limiter import CallCounts
from workers.llm.permit_book import PermitBook, PermitGrant, PermitReport, PermitRules, fair_shares
from workers.llm.permitted_slots import PermittedSlots

RULES = PermitRules(start=32, most=32, tokens_per_minute=None, lease_seconds=10.0)
LATER = 1_000_000.0


class Process:
    """Holds what it was granted, and asks for so many calls in flight."""

    def __init__(self, name: str, wanted: int = 0, urgent: int = 0) -> None:
        self.name, self.wanted, self.urgent = name, wanted, urgent
        self.permits = self.in_flight = self.number = self.epoch = 0
        self.tokens = 0.0

    def come(
        self,
        book: PermitBook,
        now: float,
        rules: PermitRules = RULES,
        counts: CallCounts | None = None,
        tokens_wanted: float = 0.0,
        leaving: bool = False,
    ) -> PermitGrant:
        self.number += 1
        report = PermitReport(
            holder=self.name,
            number=self.number,
            kept=self.in_flight,
            wanted=self.wanted,
            urgent=self.urgent,
            demand=self.wanted + self.urgent,
            epoch=self.epoch,
            counts=counts or CallCounts(),
            tokens_left=self.tokens if rules.tokens_per_minute else 0.0,
            tokens_wanted=tokens_wanted,
            leaving=leaving,
        )
        grant = book.exchange(report, LATER + now, rules)
        self.permits, self.epoch, self.tokens = grant.permits, grant.epoch, grant.tokens
        return grant

    def begin_all(self) -> None:
        self.in_flight = max(self.in_flight, min(self.permits, self.wanted + self.urgent))

    def end_some(self) -> None:
        self.in_flight = min(self.in_flight, self.permits)


def test_one_process_that_asks_alone_has_nearly_all_of_it_and_all_when_it_wants_all() -> None:
    book, alone = PermitBook(), Process("alone", wanted=3)
    assert alone.come(book, 0.0).permits == 3 + 29 // 2
    alone.wanted = 100
    assert alone.come(book, 0.5).permits == 32


def test_process_that_comes_later_gets_its_half_as_soon_as_the_first_has_given_it_back() -> None:
    book, first, second = PermitBook(), Process("first", wanted=100), Process("second", wanted=100)
    first.come(book, 0.0)
    first.begin_all()
    assert second.come(book, 0.1).permits == 0
    assert first.come(book, 0.5).permits == 16
    assert second.come(book, 0.6).permits == 0, "the calls of the first are still in flight"
    first.end_some()
    first.come(book, 0.7)
    assert second.come(book, 0.8).permits == 16


def test_urgent_calls_of_one_process_come_before_all_others_of_another() -> None:
    book, batch, asked = PermitBook(), Process("batch", wanted=1_000), Process("asked", urgent=20)
    batch.come(book, 0.0)
    asked.come(book, 0.1)
    assert batch.come(book, 0.5).permits == 12
    assert asked.come(book, 0.6).permits == 20


def test_permits_of_a_process_that_died_come_back_when_its_lease_has_run_out() -> None:
    book, dead, alive = PermitBook(), Process("dead", wanted=100), Process("alive", wanted=100)
    dead.come(book, 0.0)
    for beat in range(1, 20):
        assert alive.come(book, beat * 0.5).permits == 0
    assert alive.come(book, 10.1).permits == 32


def test_successor_goes_on_with_what_is_out_and_with_what_the_endpoint_was_found_to_take() -> None:
    book, old, new = PermitBook(), Process("old", wanted=100), Process("new", wanted=100)
    rules = RULES._replace(most=512)
    old.come(book, 0.0, rules)
    old.begin_all()
    old.come(book, 0.5, rules, CallCounts(calls=32))
    assert book.limit.value == 64
    restored = PermitBook.from_json(book.to_json())
    assert restored == book
    assert new.come(restored, 0.6, rules).permits == 64 - old.permits


def test_silence_of_everybody_says_nobody_is_dead() -> None:
    book, first, second = PermitBook(), Process("first", wanted=100), Process("second", wanted=100)
    first.come(book, 0.0)
    assert second.come(book, 60.0).permits == 0, "the meeting place was away for a minute, and the first may live"
    for beat in range(1, 20):
        assert second.come(book, 60 + beat * 0.5).permits == 0
    assert second.come(book, 70.1).permits == 32


def test_process_that_leaves_gives_its_permits_to_the_others_at_once() -> None:
    book, first, second = PermitBook(), Process("first", wanted=100), Process("second", wanted=100)
    first.come(book, 0.0)
    first.come(book, 0.1, leaving=True)
    assert second.come(book, 0.2).permits == 32


def test_report_that_arrives_twice_counts_once() -> None:
    book, process = PermitBook(), Process("a", wanted=32)
    rules = RULES._replace(most=512)
    process.come(book, 0.0, rules)
    process.number -= 1
    process.come(book, 0.1, rules, CallCounts(calls=1_000))
    assert book.limit.value == 32


def test_trouble_that_two_processes_saw_a_part_of_halves_the_limit_once_and_all_pause() -> None:
    book, first, second = PermitBook(), Process("first", wanted=16), Process("second", wanted=16)
    first.come(book, 0.0)
    second.come(book, 0.0)
    away = CallCounts(calls=4, turned_away=2, retry_after=3.0)
    first.come(book, 0.5, counts=away)
    assert book.limit.value == 32
    grant = second.come(book, 0.6, counts=away)
    assert book.limit.value == 16
    assert grant.paused_for == pytest.approx(3.0)
    first.come(book, 0.7, counts=away)
    assert book.limit.value == 16


def test_smaller_maximum_of_a_new_generation_holds_for_both() -> None:
    book, old, new = PermitBook(), Process("old", wanted=100), Process("new", wanted=100)
    old.come(book, 0.0)
    new.come(book, 0.5, RULES._replace(most=8))
    assert old.come(book, 0.6, RULES).permits <= 8


def test_tokens_are_spent_at_the_rate_that_is_set_and_debts_are_paid() -> None:
    rules = RULES._replace(tokens_per_minute=60_000)
    book, processes = PermitBook(), [Process(name, wanted=10) for name in "ab"]
    spent = 0.0
    for beat in range(241):
        for process in processes:
            process.come(book, beat * 0.5, rules, tokens_wanted=10_000)
            if process.tokens > 0:
                spent += 1_700  # more than it was allowed: what a call takes is known when it has ended
                process.tokens -= 1_700
    assert 2 * 60_000 - 5_000 < spent < 2 * 60_000 + 5_000 + 2 * 1_700


def test_tokens_are_no_matter_where_no_budget_is_set() -> None:
    assert Process("a", wanted=1).come(PermitBook(), 0.0).tokens == math.inf


@settings(deadline=None)
@given(st.integers(0, 100), st.dictionaries(st.text(max_size=2), st.integers(0, 50), max_size=8))
def test_shares_are_fair_and_use_what_there_is(total: int, wanted: dict[str, int]) -> None:
    shares = fair_shares(total, wanted)
    assert sum(shares.values()) == min(total, sum(wanted.values()))
    for name, share in shares.items():
        assert 0 <= share <= wanted[name]
        if share < wanted[name]:
            assert all(other <= share + 1 for other in shares.values())


@settings(deadline=None, max_examples=60)
@given(st.integers(0, 2**32), st.integers(1, 12))
def test_no_more_calls_begin_than_the_limit_whoever_comes_goes_and_dies(seed: int, count: int) -> None:
    dice = random.Random(seed)  # noqa: S311 - a simulation
    book, now = PermitBook(), 0.0
    living = [Process(f"p{n}") for n in range(count)]
    ghosts: list[tuple[float, Process]] = []
    for step in range(300):
        now += dice.random() * 0.2
        process = dice.choice(living)
        process.wanted, process.urgent = dice.choice([0, 3, 40, 400]), dice.choice([0, 0, 5])
        process.come(book, now)
        process.begin_all()
        ghosts = [(died, ghost) for died, ghost in ghosts if now - died <= RULES.lease_seconds]
        assert sum(one.in_flight for one in [*living, *(ghost for _, ghost in ghosts)]) <= RULES.most
        if dice.random() < 0.7:
            process.in_flight = dice.randint(0, process.in_flight)
        if dice.random() < 0.02:
            living.remove(process)
            ghosts.append((now, process))
            living.append(Process(f"q{step}"))


@pytest.mark.parametrize(("read", "left"), [(0, 10_000.0), (2_500, 7_500.0)])
def test_tokens_that_an_endpoint_may_have_read_before_the_time_was_up_are_spent(read: int, left: float) -> None:
    slots = PermittedSlots("one", 10.0, budgeted=True, monotonic=lambda: 0.0, trouble=lambda: None)
    slots.report(0, 0, leaving=False)
    slots.take(PermitGrant(permits=1, epoch=0, paused_for=0.0, tokens=10_000.0), asked=0.0)
    call = slots.acquire()
    assert call is not None
    call.turned_away(None, read)
    assert slots.report(0, 0, leaving=False).tokens_left == left
