"""What is found beyond papers: pages of the web, and repositories of code."""

import datetime as dt
from typing import Literal

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


class WebPage(Frozen):
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


class Repository(Frozen):
    """What a host of code says of a repository."""

    name: str
    """`owner/name`."""
    url: str
    """Its page, from the host's own record."""
    description: str
    stars: int | None = None
    language: str = ""
    topics: tuple[str, ...] = ()
    created: dt.date | None = None
    """None: undated."""
    pushed: dt.date | None = None
    """Last change of any branch; None: undated."""


class Dataset(Frozen):
    """What a catalogue says of a data set."""

    key: str
    """With its scheme: `kaggle:owner/name`, `doi:10.5061/…`."""
    title: str
    url: str
    description: str
    creators: tuple[str, ...] = ()
    publisher: str = ""
    """The repository or person that keeps it."""
    licence: str = ""
    downloads: int | None = None
    published: dt.date | None = None
    """Since when it is as it is found; None: undated."""


class Definition(Frozen):
    """A function or class of a Python file."""

    path: str
    line: int
    kind: Literal["function", "class"]
    name: str
    """Dotted inside its file: `Model.forward`."""
    doc: str
    """First paragraph of its docstring; may be empty."""
    calls: tuple[str, ...] = ()
    """Names that it calls, as they are written, each once."""


class SourceFile(Frozen):
    """A file that was read."""

    path: str
    text: str


class Codebase(Frozen):
    """One state of a repository, read and not run; all texts sanitised."""

    name: str
    """`owner/name`."""
    commit: str
    """40 hex digits."""
    committed: dt.date | None = None
    tree: tuple[str, ...]
    """Paths of files, sorted; the first so many when there are more."""
    files: int
    """How many there are in all."""
    readme: str
    """Empty when there is none that may be read."""
    sources: tuple[SourceFile, ...] = ()
    """Files that were asked for."""
    definitions: tuple[Definition, ...] = ()
    left_out: tuple[str, ...] = ()
    """Paths that were not read: links, files over the limit, files that are no text."""
    flags: tuple[TextFlag, ...] = ()
