"""The fair queue: askers go round, everybody's own seats stay in order, and `ahead` tells the truth."""

from collections import Counter
from dataclasses import dataclass

from hypothesis import given
from hypothesis import strategies as st

from workers.remote.line import Line


@dataclass(frozen=True)
class Seat:
    asker: str
    number: int


def everybody(line: Line[Seat]) -> list[Seat]:
    served = []
    while (seat := line.serve()) is not None:
        served.append(seat)
    return served


ASKERS = st.lists(st.sampled_from("abcde"), max_size=60)


@given(ASKERS)
def test_serve_goes_round_and_keeps_each_askers_order(askers: list[str]) -> None:
    line: Line[Seat] = Line()
    seats = [Seat(asker, number) for number, asker in enumerate(askers)]
    for seat in seats:
        line.join(seat)

    served = everybody(line)

    assert sorted(served, key=lambda seat: seat.number) == seats
    turns: Counter[str] = Counter()
    left = Counter(askers)
    for seat in served:
        # Nobody is served again while somebody who waits has had fewer turns.
        assert all(turns[other] >= turns[seat.asker] for other in left if left[other])
        turns[seat.asker] += 1
        left[seat.asker] -= 1
    for asker in set(askers):
        own = [seat.number for seat in served if seat.asker == asker]
        assert own == sorted(own)


@given(ASKERS, st.sampled_from("abcdef"))
def test_ahead_is_the_number_of_seats_served_before_a_new_one(askers: list[str], newcomer: str) -> None:
    line: Line[Seat] = Line()
    for number, asker in enumerate(askers):
        line.join(Seat(asker, number))
    ahead = line.ahead(newcomer)
    new = Seat(newcomer, len(askers))
    line.join(new)

    place = everybody(line).index(new)

    # Within a round the order is that of arrival: the same askers may stand before or after.
    assert place <= ahead <= place + len(set(askers))


@given(ASKERS, st.data())
def test_leave_takes_out_that_seat_alone(askers: list[str], data: st.DataObject) -> None:
    line: Line[Seat] = Line()
    seats = [Seat(asker, number) for number, asker in enumerate(askers)]
    for seat in seats:
        line.join(seat)
    gone = set(data.draw(st.lists(st.sampled_from(seats)))) if seats else set()

    for seat in [*gone, *gone, Seat("stranger", 0)]:
        line.leave(seat)

    assert len(line) == len(seats) - len(gone)
    assert set(line) == set(seats) - gone
    assert all((seat in line) == (seat not in gone) for seat in seats)
    assert len(everybody(line)) == len(seats) - len(gone)
    assert line.ahead("anybody") == 0


def test_join_first_goes_before_the_askers_own_seats_and_nobody_elses() -> None:
    line: Line[Seat] = Line()
    for seat in (Seat("a", 1), Seat("b", 2), Seat("b", 3)):
        line.join(seat)

    line.join(Seat("b", 4), first=True)

    assert [seat.number for seat in everybody(line)] == [1, 4, 2, 3]
