"""Range of publication dates, called a window."""

import datetime as dt

from assayer.models.base import Frozen


class Window(Frozen):
    """Window of publication dates, both ends inclusive; None leaves an end open."""

    after: dt.date | None = None
    before: dt.date | None = None

    @classmethod
    def until(cls, day: dt.date | None) -> "Window":
        """Return the window up to and including a cutoff, or an unlimited window if the cutoff is None."""
        return cls(before=day)

    @classmethod
    def later_than(cls, day: dt.date) -> "Window":
        """Return the window that starts on the day after a cutoff."""
        return cls(after=day + dt.timedelta(days=1))

    def contains(self, day: dt.date) -> bool:
        return (self.after is None or self.after <= day) and (self.before is None or day <= self.before)

    def intersection(self, other: "Window") -> "Window":
        """Return the window of dates that both windows contain; it contains none if they do not overlap."""
        after = [day for day in (self.after, other.after) if day is not None]
        before = [day for day in (self.before, other.before) if day is not None]
        return Window(after=max(after, default=None), before=min(before, default=None))


OPEN = Window()
"""Window without limits."""
