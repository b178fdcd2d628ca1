"""How the references of an idea are checked."""

from pydantic import Field

from assayer.models import Frozen

__all__ = ["OwnReferenceOptions"]


class OwnReferenceOptions(Frozen):
    check: bool = True
    most: int = Field(default=200, ge=1)
    """Entries of one idea."""
    seconds: float = Field(default=60.0, gt=0)
    """For looking up all of an idea's references together, side by side with its evaluation. A language model's
    checks of passages come after it."""
    passages: int = Field(default=30, ge=0)
    """Passages of one idea that a language model holds against the abstracts of what they refer to."""
