"""One state of a repository as a list of files and their contents, wherever it comes from.

Nothing is ever checked out: a link is a file whose content is a path, and it is not followed.
"""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from assayer.errors import InputError

__all__ = ["Checkout", "Commit", "TreeEntry", "checked_repository_name", "is_sha"]

_REGULAR = frozenset({"100644", "100755", "100664"})
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class Commit(NamedTuple):
    sha: str
    """Checked to be one: it becomes an argument of git and part of addresses."""
    date: str
    """As the host says it, ISO 8601."""


class TreeEntry(NamedTuple):
    path: str
    mode: str
    """As git has it: `100644`, `120000` for a link, `160000` for a submodule."""
    sha: str
    size: int

    @property
    def is_file(self) -> bool:
        """A regular file whose path stays inside the repository."""
        parts = self.path.split("/")
        return self.mode in _REGULAR and is_sha(self.sha) and not {"", ".", ".."} & set(parts)


class Checkout(Protocol):
    async def entries(self) -> list[TreeEntry]:
        """All that is not a folder, links and submodules included. Raises SourceError or FullTextError."""
        ...

    async def contents(self, entries: Sequence[TreeEntry]) -> Mapping[str, bytes]:
        """By path. Raises SourceError or FullTextError."""
        ...


def is_sha(text: str) -> bool:
    return bool(_SHA.fullmatch(text))


def checked_repository_name(name: str) -> str:
    """`owner/name`, and nothing that could mean another place. Raises InputError."""
    if not _NAME.fullmatch(name):
        raise InputError(f"{name[:80]!r} is not the name of a repository.", "It is written `owner/name`.")
    return name
