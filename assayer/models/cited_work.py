"""An entry of a list of references."""

from assayer.models.base import Frozen

__all__ = ["CitedWork"]


class CitedWork(Frozen):
    """An entry of a list of references, as far as its parser could take it apart."""

    title: str = ""
    authors: tuple[str, ...] = ()
    year: int | None = None
    doi: str = ""
    arxiv: str = ""
    raw: str = ""
    """The entry as it is printed; empty when the parser did not keep it."""
    number: int | None = None
    """That the list gives it; None where it gives none, or the parser did not keep it."""
