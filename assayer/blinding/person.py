"""Name of a person."""

from typing import NamedTuple


class Person(NamedTuple):
    given: str
    """First names or initials; empty if only the surname is known."""
    family: str

    @property
    def full(self) -> str:
        return f"{self.given} {self.family}".strip()
