"""Pages of the web: what a search engine shows of them, and what they say."""

import datetime as dt

from assayer.models.base import Frozen
from assayer.models.idea import TextFlag


class WebResult(Frozen):
    """What a search engine shows of a page."""

    title: str
    url: str
    """Not yet checked: only the guarded downloader may follow it."""
    snippet: str
    published: dt.date | None = None
    """None: undated. The last day of the month or year when no more is known."""


class Page(Frozen):
    """The article in a page, sanitised."""

    url: str
    """After redirects."""
    title: str
    site: str
    text: str
    published: dt.date | None = None
    """As the page itself says; None: undated."""
    flags: tuple[TextFlag, ...] = ()
    """What was hidden in it, and what looks like orders to whoever reads it."""
