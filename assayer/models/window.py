"""A stretch of time by days of publication."""

import datetime as dt

from assayer.models.base import Frozen

__all__ = ["OPEN", "Window"]


class Window(Frozen):
    """Days of publication that count, both ends included; None leaves an end open."""

    after: dt.date | None = None
    before: dt.date | None = None

    @classmethod
    def until(cls, day: dt.date | None) -> "Window":
        """Everything up to a cutoff; everything without one."""
        return cls(before=day)

    @classmethod
    def later_than(cls, day: dt.date) -> "Window":
        """Everything after a cutoff."""
        return cls(after=day + dt.timedelta(days=1))

    def contains(self, day: dt.date) -> bool:
        return (self.after is None or self.after <= day) and (self.before is None or day <= self.before)

    def intersection(self, other: "Window") -> "Window":
        """The days in both; it contains none where they do not meet."""
        after = [day for day in (self.after, other.after) if day is not None]
        before = [day for day in (self.before, other.before) if day is not None]
        return Window(after=max(after, default=None), before=min(before, default=None))


OPEN = Window()
"""All of time."""
