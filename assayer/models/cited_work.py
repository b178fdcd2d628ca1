"""Entry of a reference list."""

from assayer.models.base import Frozen


class CitedWork(Frozen):
    """Entry of a reference list, divided into the fields that its parser could recognise."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    arxiv: str = ""
    raw: str = ""
    """Entry as printed; empty if the parser did not keep it."""
    number: int | None = None
    """Number of the entry in its list; None if the list has no numbers or the parser did not keep it."""
