"""Options for checking an idea's references."""

from pydantic import Field

from assayer.models import Frozen


class OwnReferenceOptions(Frozen):
    check: bool = True
    """Look up the proposal's own references."""
    most: int = Field(default=200, ge=1)
    """Maximum number of entries checked per idea."""
    seconds: float = Field(default=60.0, gt=0)
    """Maximum seconds for looking up all of an idea's references, which runs in parallel with its evaluation. The
    language model checks passages afterwards."""
    passages: int = Field(default=30, ge=0)
    """Maximum passages per idea that a language model checks against the abstracts of the cited works."""
