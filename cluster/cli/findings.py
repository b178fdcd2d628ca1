"""What `assayer doctor` says of one thing."""

from typing import Literal, NamedTuple

__all__ = ["Finding"]


class Finding(NamedTuple):
    what: str
    state: Literal["ok", "absent", "broken"]
    text: str
