"""Names of repositories and commits, which are validated because they become parts of URLs."""

import re
from typing import NamedTuple

from assayer.errors import InputError

_NAME = re.compile(r"[A-Za-z0-9](?:[A-Za-z0-9-]{0,38})/(?!\.{1,2}$)[A-Za-z0-9._-]{1,100}")
_SHA = re.compile(r"[0-9a-f]{40}(?:[0-9a-f]{24})?")


class Commit(NamedTuple):
    sha: str
    date: str
    """Commit date as stated by the host, in ISO 8601."""


def is_sha(text: str) -> bool:
    return bool(_SHA.fullmatch(text))


def validate_repository_name(name: str) -> str:
    """Return the name if it has the form `owner/name`. Raises InputError otherwise, because the name could lead to
    another URL."""
    if not _NAME.fullmatch(name):
        raise InputError(f"{name[:80]!r} is not a repository name.", "Use the form `owner/name`.")
    return name
