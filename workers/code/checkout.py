"""Interface to the files of a repository at one commit.

Files are never written to disk under their own names: a symbolic link is a file whose content is a path, and is not
followed."""

import re
from collections.abc import Mapping, Sequence
from typing import NamedTuple, Protocol

from assayer.errors import InputError

_REGULAR = frozenset({"100644", "100755", "100664"})
_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class Commit(NamedTuple):
    sha: str
    """Commit SHA, validated because it becomes a git argument and part of addresses."""
    date: str
    """Commit date as stated by the host, ISO 8601."""


class TreeEntry(NamedTuple):
    path: str
    mode: str
    """File mode in git's notation: `100644`, `120000` for a link, `160000` for a submodule."""
    sha: str
    size: int

    @property
    def is_file(self) -> bool:
        """Return whether the entry is a regular file whose path stays inside the repository."""
        parts = self.path.split("/")
        return self.mode in _REGULAR and is_sha(self.sha) and not {"", ".", ".."} & set(parts)


class Checkout(Protocol):
    async def entries(self) -> list[TreeEntry]:
        """Return all entries except folders, including links and submodules. Raises SourceError or FullTextError."""
        ...

    async def contents(self, entries: Sequence[TreeEntry]) -> Mapping[str, bytes]:
        """Return the contents of the entries by path. Raises SourceError or FullTextError."""
        ...


def is_sha(text: str) -> bool:
    return bool(_SHA.fullmatch(text))


def checked_repository_name(name: str) -> str:
    """Return the name if it has the form `owner/name`. Raises InputError otherwise, because it could lead to another
    address."""
    if not _NAME.fullmatch(name):
        raise InputError(f"{name[:80]!r} is not the name of a repository.", "Use the form `owner/name`.")
    return name
