"""Entry in a reference list."""

from assayer.models.base import Frozen


class CitedWork(Frozen):
    """Entry in a reference list, split into the fields that the parser recognised."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    arxiv: str = ""
    raw: str = ""
    """Entry as printed; empty if the parser did not keep it."""
    number: int | None = None
    """Number of the entry in its list; None if the list has no numbers or the parser did not keep it."""
