"""Choose the days that a harvest requests, so that a folder has no gaps between its days."""

import datetime as dt
from collections.abc import Sequence
from typing import NamedTuple

from assayer.errors import InputError

_DAY = dt.timedelta(days=1)


class DaySpan(NamedTuple):
    first: dt.date
    last: dt.date

    def covers(self, span: "DaySpan") -> bool:
        return self.first <= span.first and span.last <= self.last


class HarvestedDays(NamedTuple):
    since: dt.date | None
    """First day of the gapless range that ends at `until`. None before the first completed run, and in folders that
    earlier versions created."""
    until: dt.date | None
    """Last day that is in the folder; None before the first completed run."""
    begun: DaySpan | None
    """Days that an unfinished run requested; some of them may be in the folder."""

    def list_spans_to_request(self, since: dt.date | None, last: dt.date) -> list[DaySpan]:
        """Return the spans of days to request; empty if there are no new days.

        An unfinished run's days come first, unless it was the first run or the other days include them. Then come the
        days from `since` to `last`. If `since` is None, they start at the last harvested day. That day is requested
        again, as arXiv advises, because day boundaries differ and records may have been added since. Raises InputError
        if this would leave a gap."""
        first = since or self.until
        if first is None:
            if self.begun is None:
                raise InputError("Nothing has been harvested yet.", "Pass the first day with --from.")
            first = self.begun.first
        spans = [DaySpan(first, last)] if first < last or (since and first == last) else []
        if self.until is None:
            return spans
        if since and spans:
            _refuse_gaps(spans[0], self.since or self.until, self.until)
        unfinished_spans = [self.begun] if self.begun and not any(span.covers(self.begun) for span in spans) else []
        return [*unfinished_spans, *spans]

    def add_harvested_spans(self, spans: Sequence[DaySpan]) -> "HarvestedDays":
        """Return the state after these days have been harvested."""
        firsts = [span.first for span in spans]
        lasts = [span.last for span in spans]
        since = self.since or self.until
        return HarvestedDays(
            min([*firsts, *([since] if since else [])], default=None),
            max([*lasts, *([self.until] if self.until else [])], default=None),
            None,
        )


def _refuse_gaps(span: DaySpan, begins: dt.date, until: dt.date) -> None:
    if span.first > until + _DAY:
        raise InputError(f"The days between {until} and {span.first} would be missing.", "Omit --from.")
    if span.last < begins - _DAY:
        raise InputError(
            f"The days between {span.last} and {begins}, the first day of this folder, would be missing.",
            f"Pass --until {begins - _DAY} or a later day, or omit it.",
        )
