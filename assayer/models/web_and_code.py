"""Search results other than papers: web pages, code repositories and data sets."""

import datetime as dt
from typing import Literal

from assayer.models.base import Frozen
from assayer_client.reports import TextFlag


class WebResult(Frozen):
    """Page as listed by a search engine."""

    title: str
    url: str
    """URL of the page. It is not checked: only the guarded downloader may open it."""
    snippet: str
    published: dt.date | None = None
    """Publication date, or the last day of the month or year if no exact day is known; None if undated."""


class WebPage(Frozen):
    """Article extracted from a web page, sanitised."""

    url: str
    """URL after redirects."""
    title: str
    site: str
    text: str
    published: dt.date | None = None
    """Publication date stated by the page itself; None if undated."""
    flags: tuple[TextFlag, ...] = ()
    """Hidden text in the page, and text that looks like instructions to its reader."""


class Repository(Frozen):
    """Repository as described by its host."""

    name: str
    """Name of the repository: `owner/name`."""
    url: str
    """URL of the repository page, from the host's own record."""
    description: str
    stars: int | None = None
    language: str = ""
    topics: tuple[str, ...] = ()
    created: dt.date | None = None
    """Creation date; None if undated."""
    pushed: dt.date | None = None
    """Date of the last change on any branch; None if undated."""


class Dataset(Frozen):
    """Data set as described by a catalogue."""

    key: str
    """Key with its scheme: `kaggle:owner/name`, `doi:10.5061/…`."""
    title: str
    url: str
    description: str
    creators: tuple[str, ...] = ()
    publisher: str = ""
    """Repository or person that maintains the data set."""
    licence: str = ""
    downloads: int | None = None
    published: dt.date | None = None
    """Date of the data set's current version; None if undated."""


class Definition(Frozen):
    """Function or class in a Python file."""

    path: str
    line: int
    kind: Literal["function", "class"]
    name: str
    """Dotted name within the file: `Model.forward`."""
    doc: str
    """First paragraph of the docstring; may be empty."""
    calls: tuple[str, ...] = ()
    """Names that the definition calls, as written, each once."""


class SourceFile(Frozen):
    """File that was read."""

    path: str
    text: str


class Codebase(Frozen):
    """Snapshot of a repository. It was read, not executed. All texts are sanitised."""

    name: str
    """Name of the repository: `owner/name`."""
    commit: str
    """Commit hash of 40 hex digits."""
    committed: dt.date | None = None
    tree: tuple[str, ...]
    """Sorted file paths, truncated if there are too many."""
    files: int
    """Total number of files."""
    readme: str
    """Text of the README; empty if there is none that may be read."""
    sources: tuple[SourceFile, ...] = ()
    """Files that were requested."""
    definitions: tuple[Definition, ...] = ()
    left_out: tuple[str, ...] = ()
    """Paths that were not read: links, files over the size limit, and files that are not text."""
    flags: tuple[TextFlag, ...] = ()
