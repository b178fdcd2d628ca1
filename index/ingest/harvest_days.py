"""Choice of the days that a harvest requests, so that a folder never has gaps between its days."""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

from assayer.errors import InputError

_DAY = dt.timedelta(days=1)


class DaySpan(NamedTuple):
    first: dt.date
    last: dt.date

    def covers(self, other: "DaySpan") -> bool:
        return self.first <= other.first and other.last <= self.last


class HarvestedDays(NamedTuple):
    since: dt.date | None
    """First day from which all later days are present. None before the first completed run, and in folders created by
    earlier versions."""
    until: dt.date | None
    """Last day that is present; None before the first completed run."""
    begun: DaySpan | None
    """Days requested by a run that has not finished; some of them are already in the folder."""

    def to_ask(self, since: dt.date | None, last: dt.date) -> list[DaySpan]:
        """Return the day spans to request; empty if there is no new day.

        The span of an unfinished run comes first if the folder already held data before that run. Then follow the days
        from `since`, or else from the last harvested day. That day is requested again, as arXiv advises: its day
        boundaries differ from ours, and records may have been added after the last request. Raises InputError if days
        in between would be left out."""
        first = since or self.until
        if first is None:
            if self.begun is None:
                raise InputError("Nothing was harvested yet.", "Give the first day with --from.")
            first = self.begun.first
        spans = [DaySpan(first, last)] if first < last or (since and first == last) else []
        if self.until is None:
            return spans
        if since and spans:
            _refuse_gaps(spans[0], self.since or self.until, self.until)
        owed = [self.begun] if self.begun and not any(span.covers(self.begun) for span in spans) else []
        return [*owed, *spans]

    def after(self, asked: Sequence[DaySpan]) -> "HarvestedDays":
        """Return the state after all of these days have been harvested."""
        firsts = [span.first for span in asked]
        lasts = [span.last for span in asked]
        since = self.since or self.until
        return HarvestedDays(
            min([*firsts, *([since] if since else [])], default=None),
            max([*lasts, *([self.until] if self.until else [])], default=None),
            None,
        )


def _refuse_gaps(span: DaySpan, begins: dt.date, until: dt.date) -> None:
    if span.first > until + _DAY:
        raise InputError(f"The days between {until} and {span.first} would be missing.", "Leave out --from.")
    if span.last < begins - _DAY:
        raise InputError(
            f"The days between {span.last} and {begins}, where this folder begins, would be missing.",
            f"Give --until {begins - _DAY} or a later day, or leave it out.",
        )
